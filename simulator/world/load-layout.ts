/** Builds a `Layout` from a world file, and checks that the home makes sense. */
import type { Point } from '../../config/contracts/geometry.js';
import { distance, insidePolygon } from '../../config/contracts/geometry.js';
import type { Air } from '../types.js';
import {
  areaOf,
  type Bounds,
  boundsOf,
  boxCorners,
  clearanceAt,
  type Dock,
  dockAt,
  dockOutline,
  type Layout,
  openSpot,
  outlineEnds,
  ROBOT,
  type Room,
} from './layout.js';
import { SegmentField } from './segment-field.js';
import { definedOnly, outdoorAir, type WorldFile, WorldFileError } from './world-file.js';

/** How far a door's ends may be off the wall's centre line, m. */
const DOOR_TOLERANCE = 0.01;
/** Sides of the polygon that stands for something round. */
const ROUND_SIDES = 16;

const toPoint = ([x, y]: readonly [number, number]): Point => ({ x, y });

export function loadLayout(file: WorldFile): Layout {
  const walls = wallOutlines(file);
  const furniture = file.furniture.map((f) => ({ low: f.low, outline: furnitureOutline(f) }));
  const dock = file.dock === null ? null : dockAt(toPoint(file.dock.at), file.dock.facing);
  const tall = [...walls, ...furniture.filter((f) => !f.low).map((f) => f.outline)];
  const low = furniture.filter((f) => f.low).map((f) => f.outline);
  const seen = new SegmentField(tall.flatMap(outlineEnds));
  const bodies = dock === null ? [...tall, ...low] : [...tall, ...low, dockOutline(dock)];
  const solid = new SegmentField(bodies.flatMap(outlineEnds));
  const outlines = [...tall, ...low].map((outline) => ({ outline, box: boundsOf(outline) }));
  const isOccupied = (x: number, y: number) =>
    outlines.some(({ outline, box }) => inBox(x, y, box) && insidePolygon({ x, y }, outline));
  const rooms = buildRooms(file, { solid, isOccupied });
  const layout: Layout = {
    name: file.name,
    bounds: boundsOf(walls.flat()),
    rooms,
    openings: buildOpenings(file),
    seen,
    solid,
    isOccupied,
    cliffs: file.cliffs.map((c) => ({ id: c.id, keepout: c.keepout, polygon: c.polygon.map(toPoint) })),
    dock,
    ...startOf(file, dock),
    outdoor: outdoorAir(file),
    ventilation: file.ventilation,
    cadr: file.purifier.cadr_m3_per_h,
    maxRpm: file.purifier.max_rpm,
    sources: file.sources.map((s, i) => ({
      room: roomIndex(file, s.room, `sources.${i}.room`),
      startMs: s.start_s * 1000,
      forMs: s.for_s * 1000,
      everyMs: s.every_s === undefined ? null : s.every_s * 1000,
      emits: definedOnly<Air>(s.emits),
    })),
    residents: file.people.map((p) => ({
      at: toPoint(p.at),
      walk: (p.walk ?? []).map(toPoint),
      speed: p.speed,
    })),
    survey: null,
  };
  checkHome(file, layout);
  return layout;
}

function startOf(file: WorldFile, dock: Dock | null): Pick<Layout, 'start' | 'startDocked'> {
  if (file.start !== 'docked') {
    const [x, y, theta] = file.start;
    return { start: { x, y, theta }, startDocked: false };
  }
  if (dock === null)
    throw new WorldFileError('start', 'start: found "docked"; there is no dock, give a pose');
  return { start: dock.station, startDocked: true };
}

function buildRooms(file: WorldFile, free: Pick<Layout, 'solid' | 'isOccupied'>): Room[] {
  const outdoor = outdoorAir(file);
  return file.rooms.map((room) => {
    const polygon = room.polygon.map(toPoint);
    const [x, y, theta] = room.goal;
    return {
      id: room.id,
      name: room.name,
      aliases: room.aliases,
      polygon,
      goal: { x, y, theta },
      person: room.person === undefined ? openSpot(free, polygon) : toPoint(room.person),
      volume: areaOf(polygon) * file.ceiling,
      air: { ...outdoor, temperature: 23, humidity: 45, ...definedOnly<Air>(room.air) },
    };
  });
}

function buildOpenings(file: WorldFile): Layout['openings'] {
  return file.doors
    .map((door, i) => ({
      a: roomIndex(file, door.between[0], `doors.${i}.between.0`),
      b: roomIndex(file, door.between[1], `doors.${i}.between.1`),
      width: distance(toPoint(door.line[0]), toPoint(door.line[1])),
      open: door.open,
    }))
    .filter((door) => door.open)
    .map(({ a, b, width }) => ({ a, b, width }));
}

function roomIndex(file: WorldFile, id: string, field: string): number {
  const index = file.rooms.findIndex((r) => r.id === id);
  if (index >= 0) return index;
  const ids = file.rooms.map((r) => r.id).join(', ');
  throw new WorldFileError(field, `${field}: found "${id}"; it must be the id of a room: ${ids}`);
}

function furnitureOutline(f: WorldFile['furniture'][number]): Point[] {
  const centre = toPoint(f.at);
  if (f.size !== undefined) return boxCorners(centre, f.size[0], f.size[1], f.yaw);
  const radius = f.radius ?? 0;
  return Array.from({ length: ROUND_SIDES }, (_, i) => {
    const a = (2 * Math.PI * i) / ROUND_SIDES;
    return { x: centre.x + radius * Math.cos(a), y: centre.y + radius * Math.sin(a) };
  });
}

/** Each straight piece of wall as a box; open doors are cut out of it. */
function wallOutlines(file: WorldFile): Point[][] {
  const used = new Set<string>();
  const outlines: Point[][] = [];
  for (const wall of file.walls) {
    for (let i = 0; i + 1 < wall.line.length; i++) {
      const from = wall.line[i];
      const to = wall.line[i + 1];
      if (from === undefined || to === undefined) continue;
      outlines.push(...cutWall(file, toPoint(from), toPoint(to), used));
    }
  }
  file.doors.forEach((door, i) => {
    if (used.has(door.id)) return;
    throw new WorldFileError(
      `doors.${i}.line`,
      `doors.${i}.line: found ${JSON.stringify(door.line)}; both ends must lie on the centre line of one wall`,
    );
  });
  return outlines;
}

function cutWall(file: WorldFile, from: Point, to: Point, used: Set<string>): Point[][] {
  const length = distance(from, to);
  if (length === 0) return [];
  const u = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const gaps: [number, number][] = [];
  for (const door of file.doors) {
    const ends = door.line.map(toPoint);
    const along = ends.map((p) => (p.x - from.x) * u.x + (p.y - from.y) * u.y);
    const off = ends.map((p) => Math.abs((p.y - from.y) * u.x - (p.x - from.x) * u.y));
    const [low = 0, high = 0] = along.sort((a, b) => a - b);
    const onWall =
      off.every((d) => d <= DOOR_TOLERANCE) && low >= -DOOR_TOLERANCE && high <= length + DOOR_TOLERANCE;
    if (!onWall) continue;
    used.add(door.id);
    if (door.open) gaps.push([low, high]);
  }
  gaps.sort((a, b) => a[0] - b[0]);
  const half = file.wall_thickness / 2;
  const pieces: Point[][] = [];
  // Ends reach half a thickness further, so that corners are closed; door jambs do not.
  let start = -half;
  for (const [low, high] of [...gaps, [length + half, length + half] as const]) {
    if (low - start > 1e-6) pieces.push(wallBox(from, u, start, low, file.wall_thickness));
    start = Math.max(start, high);
  }
  return pieces;
}

function wallBox(from: Point, u: Point, start: number, end: number, thickness: number): Point[] {
  const middle = (start + end) / 2;
  const centre = { x: from.x + u.x * middle, y: from.y + u.y * middle };
  return boxCorners(centre, end - start, thickness, Math.atan2(u.y, u.x));
}

function checkHome(file: WorldFile, layout: Layout): void {
  unique(
    file.rooms.map((r) => r.id),
    'rooms',
    'id',
  );
  unique(
    file.rooms.flatMap((r) =>
      [...new Set([r.name, ...r.aliases])].map((n) => n.normalize('NFKC').toLowerCase()),
    ),
    'rooms',
    'name or alias',
  );
  layout.rooms.forEach((room, i) => {
    if (!insidePolygon(room.goal, room.polygon))
      fault(`rooms.${i}.goal`, 'the goal must lie inside its room');
    checkFree(layout, room.goal, ROBOT.radius + 0.05, `rooms.${i}.goal`);
  });
  checkFree(layout, layout.start, layout.startDocked ? 0 : ROBOT.radius, 'start');
  if (layout.dock !== null) checkDock(layout, layout.dock);
  layout.residents.forEach((p, i) => {
    checkFree(layout, p.at, 0.15, `people.${i}.at`);
  });
}

function checkDock(layout: Layout, dock: Dock): void {
  const { face } = dock;
  const back = { x: face.x - 0.11 * Math.cos(face.theta), y: face.y - 0.11 * Math.sin(face.theta) };
  if (!layout.isOccupied(back.x, back.y)) fault('dock.at', 'the back of the dock must touch a wall');
  for (const ahead of [0.3, 0.6, 0.9]) {
    const d = ROBOT.radius + ahead;
    const p = { x: face.x + d * Math.cos(face.theta), y: face.y + d * Math.sin(face.theta) };
    checkFree(layout, p, ROBOT.radius, 'dock.at');
  }
}

function checkFree(layout: Layout, p: Point, clearance: number, field: string): void {
  const free = !layout.isOccupied(p.x, p.y) && clearanceAt(layout, p.x, p.y, clearance + 0.01) >= clearance;
  if (!free) {
    const where = `[${p.x.toFixed(2)}, ${p.y.toFixed(2)}]`;
    fault(field, `${where} must be ${clearance.toFixed(2)} m away from walls and furniture`);
  }
}

function unique(values: readonly string[], field: string, what: string): void {
  const twice = values.find((v, i) => values.indexOf(v) !== i);
  if (twice !== undefined) fault(field, `the ${what} "${twice}" is used twice`);
}

function fault(field: string, message: string): never {
  throw new WorldFileError(field, `${field}: ${message}`);
}

function inBox(x: number, y: number, box: Bounds): boolean {
  return x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY;
}
