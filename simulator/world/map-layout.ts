/** A `Layout` from a surveyed map: the borders of its occupied cells become the walls. */
import type { Point, Polygon, Pose } from '../../config/contracts/geometry.js';
import { compose, insidePolygon, relativeTo } from '../../config/contracts/geometry.js';
import {
  areaOf,
  boundsOf,
  type Dock,
  dockOutline,
  type Layout,
  type Opening,
  openSpot,
  outlineEnds,
  ROBOT,
  type Room,
  type SurveyedMap,
} from './layout.js';
import { CEILING, OUTDOOR } from './ordinary-home.js';
import type { AreasFile } from './ros-map.js';
import { SegmentField } from './segment-field.js';
import { WorldFileError } from './world-file.js';

const INDOOR = { ...OUTDOOR, co2: 620, voc: 0.4, hcho: 0.012, temperature: 23, humidity: 45 };
const OCCUPIED_FROM = 65;

/**
 * The world of a ROS map. Without areas the whole map is one room and there is no dock: the robot starts on the
 * spot farthest from all walls. Doors are found where cells of two rooms touch.
 */
export function mapLayout(map: SurveyedMap, areas: AreasFile | null, name: string): Layout {
  requireSize(map, name);
  if (areas !== null) requireNear(map, areas, name);
  const isOccupied = (x: number, y: number) => {
    const { column, row } = cellAt(map, x, y);
    return cell(map, column, row) >= OCCUPIED_FROM;
  };
  const walls = borderEnds(map);
  const seen = new SegmentField(walls);
  const dock = areas?.station == null ? null : dockOf(areas.station.pose);
  const solid = dock === null ? seen : new SegmentField([...walls, ...outlineEnds(dockOutline(dock))]);
  const rooms = roomsOf(map, areas, { solid, isOccupied });
  const start = dock?.station ?? { ...widestSpot(map), theta: 0 };
  return {
    name,
    bounds: boundsOf(mapCorners(map)),
    rooms,
    openings: openingsOf(map, rooms),
    seen,
    solid,
    isOccupied,
    cliffs: [],
    dock,
    start,
    startDocked: dock !== null,
    outdoor: OUTDOOR,
    ventilation: 0.25,
    cadr: 700,
    maxRpm: 2400,
    sources: [],
    residents: [],
    survey: map,
  };
}

/** A side of the map, and how far beside it something may lie, m. A wrong unit makes a world that no memory holds. */
const MAX_SIDE = 1_000;
const MAX_BESIDE = 10;

function requireSize(map: SurveyedMap, name: string): void {
  const [width, height] = [map.width * map.resolution, map.height * map.resolution];
  if (Math.max(width, height) <= MAX_SIDE) return;
  const found = `${width.toFixed(0)} × ${height.toFixed(0)} m`;
  throw new WorldFileError(
    'resolution',
    `${name}: resolution: the map covers ${found}; at most ${MAX_SIDE} × ${MAX_SIDE} m`,
  );
}

function requireNear(map: SurveyedMap, areas: AreasFile, name: string): void {
  const { minX, minY, maxX, maxY } = boundsOf(mapCorners(map));
  const check = (field: string, [x, y]: readonly [number, number, ...number[]]) => {
    const beside = Math.max(minX - x, x - maxX, minY - y, y - maxY);
    if (beside <= MAX_BESIDE) return;
    throw new WorldFileError(
      field,
      `${name}: areas.yaml: ${field}: [${x}, ${y}] lies far outside of the map`,
    );
  };
  areas.rooms.forEach((room, i) => {
    check(`rooms.${i}.goal`, room.goal);
    for (const vertex of room.polygon) check(`rooms.${i}.polygon`, vertex);
  });
  if (areas.station !== null) check('station.pose', areas.station.pose);
}

function dockOf([x, y, theta]: readonly [number, number, number]): Dock {
  const station = { x, y, theta };
  const front = compose(station, { x: ROBOT.radius, y: 0, theta: Math.PI });
  return { face: front, station };
}

function roomsOf(
  map: SurveyedMap,
  areas: AreasFile | null,
  free: Pick<Layout, 'solid' | 'isOccupied'>,
): Room[] {
  const given = areas?.rooms ?? [];
  if (given.length > 0) {
    return given.map((room) => {
      const polygon = room.polygon.map(([x, y]) => ({ x, y }));
      const [x, y, theta] = room.goal;
      return {
        id: room.id,
        name: room.name,
        aliases: room.aliases,
        polygon,
        goal: { x, y, theta },
        person: openSpot(free, polygon),
        volume: Math.max(1, areaOf(polygon) * CEILING),
        air: { ...INDOOR },
      };
    });
  }
  const polygon = mapCorners(map);
  const spot = widestSpot(map);
  const freeCells = map.cells.reduce((n, c) => n + (c >= 0 && c < OCCUPIED_FROM ? 1 : 0), 0);
  const volume = Math.max(1, freeCells * map.resolution ** 2 * CEILING);
  const goal = { ...spot, theta: 0 };
  return [{ id: '1', name: 'map', aliases: [], polygon, goal, person: spot, volume, air: { ...INDOOR } }];
}

/** Edges between occupied cells and the rest, joined into long straight pieces, and the map's own border. */
function borderEnds(map: SurveyedMap): number[] {
  const ends: number[] = [];
  const solid = (column: number, row: number) => cell(map, column, row) >= OCCUPIED_FROM;
  const add = (c1: number, r1: number, c2: number, r2: number) => {
    const a = corner(map, c1, r1);
    const b = corner(map, c2, r2);
    ends.push(a.x, a.y, b.x, b.y);
  };
  for (let row = 0; row <= map.height; row++) {
    runs(
      map.width,
      (c) => solid(c, row - 1) !== solid(c, row),
      (from, to) => add(from, row, to, row),
    );
  }
  for (let column = 0; column <= map.width; column++) {
    runs(
      map.height,
      (r) => solid(column - 1, r) !== solid(column, r),
      (from, to) => add(column, from, column, to),
    );
  }
  return [...ends, ...outlineEnds(mapCorners(map))];
}

function runs(length: number, edge: (i: number) => boolean, emit: (from: number, to: number) => void): void {
  let start = -1;
  for (let i = 0; i <= length; i++) {
    const on = i < length && edge(i);
    if (on && start < 0) start = i;
    if (!on && start >= 0) {
      emit(start, i);
      start = -1;
    }
  }
}

/** How wide the passages between rooms are: each free cell belongs to the room nearest on foot. */
function openingsOf(map: SurveyedMap, rooms: readonly Room[]): Opening[] {
  if (rooms.length < 2) return [];
  const owner = ownersOf(map, rooms);
  const cellsBetween = new Map<string, number>();
  const touch = (i: number, j: number) => {
    const a = owner[i] ?? -1;
    const b = owner[j] ?? -1;
    if (a < 0 || b < 0 || a === b) return;
    const key = `${Math.min(a, b)},${Math.max(a, b)}`;
    cellsBetween.set(key, (cellsBetween.get(key) ?? 0) + 1);
  };
  for (let row = 0; row < map.height; row++) {
    for (let column = 0; column < map.width; column++) {
      const i = row * map.width + column;
      if (column + 1 < map.width) touch(i, i + 1);
      if (row + 1 < map.height) touch(i, i + map.width);
    }
  }
  return [...cellsBetween].map(([key, n]) => {
    const [a = 0, b = 0] = key.split(',').map(Number);
    return { a, b, width: n * map.resolution };
  });
}

/**
 * Room index of each free cell: the room whose polygon it lies in, and between polygons the room nearest on
 * foot; −1 where nobody comes.
 */
function ownersOf(map: SurveyedMap, rooms: readonly Room[]): Int16Array {
  const owner = new Int16Array(map.cells.length).fill(-1);
  const queue: number[] = [];
  rooms.forEach((room, index) => {
    eachCellIn(map, room.polygon, (i) => {
      if (owner[i] !== -1) return;
      owner[i] = index;
      queue.push(i);
    });
  });
  for (let head = 0; head < queue.length; head++) {
    const i = queue[head] ?? 0;
    const column = i % map.width;
    const row = (i - column) / map.width;
    for (const [dc, dr] of NEIGHBOURS) {
      if (!isFree(map, column + dc, row + dr)) continue;
      const j = (row + dr) * map.width + column + dc;
      if (owner[j] !== -1) continue;
      owner[j] = owner[i] ?? -1;
      queue.push(j);
    }
  }
  return owner;
}

/** Calls `visit` with the index of each free cell whose centre lies in the polygon. */
function eachCellIn(map: SurveyedMap, polygon: Polygon, visit: (index: number) => void): void {
  const local = polygon.map((p) => relativeTo(map.origin, { ...p, theta: 0 }));
  const box = boundsOf(local);
  const step = map.resolution;
  for (let row = Math.max(0, Math.floor(box.minY / step)); row * step <= box.maxY; row++) {
    if (row >= map.height) return;
    for (let column = Math.max(0, Math.floor(box.minX / step)); column * step <= box.maxX; column++) {
      const centre = { x: (column + 0.5) * step, y: (row + 0.5) * step };
      if (isFree(map, column, row) && insidePolygon(centre, local)) visit(row * map.width + column);
    }
  }
}

const NEIGHBOURS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;

/** The free cell farthest from everything else, by counting steps outwards from all that is not free. */
function widestSpot(map: SurveyedMap): Point {
  const steps = new Int32Array(map.cells.length).fill(-1);
  const queue: number[] = [];
  for (let i = 0; i < steps.length; i++) {
    const column = i % map.width;
    if (isFree(map, column, (i - column) / map.width)) continue;
    steps[i] = 0;
    queue.push(i);
  }
  let last = queue[0] ?? 0;
  for (let head = 0; head < queue.length; head++) {
    const i = queue[head] ?? 0;
    last = i;
    const column = i % map.width;
    const row = (i - column) / map.width;
    for (const [dc, dr] of NEIGHBOURS) {
      if (!isFree(map, column + dc, row + dr)) continue;
      const j = (row + dr) * map.width + column + dc;
      if (steps[j] !== -1) continue;
      steps[j] = (steps[i] ?? 0) + 1;
      queue.push(j);
    }
  }
  return compose(map.origin, {
    x: ((last % map.width) + 0.5) * map.resolution,
    y: (Math.floor(last / map.width) + 0.5) * map.resolution,
    theta: 0,
  });
}

function isFree(map: SurveyedMap, column: number, row: number): boolean {
  const value = cell(map, column, row);
  return value >= 0 && value < OCCUPIED_FROM;
}

function cell(map: SurveyedMap, column: number, row: number): number {
  if (column < 0 || row < 0 || column >= map.width || row >= map.height) return -1;
  return map.cells[row * map.width + column] ?? -1;
}

function cellAt(map: SurveyedMap, x: number, y: number): { column: number; row: number } {
  const local = relativeTo(map.origin, { x, y, theta: 0 });
  return { column: Math.floor(local.x / map.resolution), row: Math.floor(local.y / map.resolution) };
}

function corner(map: SurveyedMap, column: number, row: number): Pose {
  return compose(map.origin, { x: column * map.resolution, y: row * map.resolution, theta: 0 });
}

function mapCorners(map: SurveyedMap): Point[] {
  return [
    corner(map, 0, 0),
    corner(map, map.width, 0),
    corner(map, map.width, map.height),
    corner(map, 0, map.height),
  ];
}
