/**
 * A home as the simulation needs it: what a lidar sees and what a body runs into as line segments, rooms,
 * doors, steps down, and the dock. Static; people and obstacles come and go in the world.
 */
import type { Point, Polygon, Pose } from '../../config/contracts/geometry.js';
import { compose, insidePolygon, relativeTo } from '../../config/contracts/geometry.js';
import type { Air } from '../types.js';
import { SegmentField } from './segment-field.js';

/** The reference robot: a Create 2 class base. Metres, counts per revolution of a wheel, m/s. */
export const ROBOT = {
  radius: 0.17,
  wheelBase: 0.235,
  wheelDiameter: 0.072,
  countsPerRev: 508.8,
  maxWheelSpeed: 0.5,
} as const;

/** The home base: a box this wide on the wall, this deep; the robot's front touches it when docked. */
const DOCK_DEPTH = 0.06;
const DOCK_WIDTH = 0.2;

export interface Room {
  id: string;
  name: string;
  aliases: string[];
  polygon: Polygon;
  goal: Pose;
  /** Where a person who comes in stands. */
  person: Point;
  /** m³ */
  volume: number;
  air: Air;
}

/** An open passage between two rooms, by their index. */
export interface Opening {
  a: number;
  b: number;
  /** Metres. */
  width: number;
}

export interface Dock {
  /** Centre of the face the robot touches; `theta` points into the room. */
  face: Pose;
  /** Of `base_link` when docked: facing the wall. */
  station: Pose;
}

export interface AirSource {
  room: number;
  startMs: number;
  forMs: number;
  everyMs: number | null;
  /** Per minute, into the room's volume. */
  emits: Partial<Air>;
}

export interface Resident {
  at: Point;
  walk: Point[];
  speed: number;
}

export interface Bounds {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

export interface Layout {
  name: string;
  bounds: Bounds;
  rooms: Room[];
  openings: Opening[];
  /** What a lidar sees. */
  seen: SegmentField;
  /** What a body runs into: everything seen, low furniture and the dock. */
  solid: SegmentField;
  /** Whether a point lies inside a wall or a piece of furniture that a survey shows. */
  isOccupied(x: number, y: number): boolean;
  cliffs: { id: string; polygon: Polygon; keepout: boolean }[];
  dock: Dock | null;
  start: Pose;
  startDocked: boolean;
  outdoor: Air;
  /** Air changes per hour with the outdoors. */
  ventilation: number;
  /** m³/h at full speed. */
  cadr: number;
  maxRpm: number;
  sources: AirSource[];
  residents: Resident[];
  /** Set for a world made from a ROS map: the map as it was read. */
  survey: SurveyedMap | null;
}

/** An occupancy grid: rows from the bottom; −1 unknown, 0 free, 100 occupied. */
export interface SurveyedMap {
  resolution: number;
  width: number;
  height: number;
  /** Pose of the lower-left corner. */
  origin: Pose;
  cells: Int8Array;
}

/** The room a point is in, by index; −1 outside all. */
export function roomAt(layout: Layout, x: number, y: number): number {
  const p = { x, y };
  return layout.rooms.findIndex((room) => insidePolygon(p, room.polygon));
}

/**
 * The room meant by `text`: an id, a name or an alias, ignoring case and Unicode form. Throws an Error that
 * lists the rooms when there is none.
 */
export function findRoom(layout: Layout, text: string): number {
  const wanted = normal(text);
  const index = layout.rooms.findIndex((r) => [r.id, r.name, ...r.aliases].some((t) => normal(t) === wanted));
  if (index >= 0) return index;
  const known = layout.rooms.map((r) => r.name).join(', ');
  throw new Error(`no room "${text}" in this world; there are: ${known}`);
}

function normal(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Distance from a point to the nearest thing a body runs into, at most `limit` metres. */
export function clearanceAt(layout: Layout, x: number, y: number, limit: number): number {
  const found = new Int32Array(256);
  const n = layout.solid.near(x, y, limit, found);
  let best = limit;
  for (let i = 0; i < n; i++) {
    const s = found[i] ?? 0;
    best = Math.min(best, Math.sqrt(layout.solid.distanceSquared(s, x, y)));
  }
  return best;
}

/** The free spot in a room that is farthest from everything, found on a 5 cm raster. */
export function openSpot(layout: Pick<Layout, 'solid' | 'isOccupied'>, polygon: Polygon): Point {
  const box = boundsOf(polygon);
  let best = { x: (box.minX + box.maxX) / 2, y: (box.minY + box.maxY) / 2 };
  let bestClearance = -1;
  for (let y = box.minY; y <= box.maxY; y += 0.05) {
    for (let x = box.minX; x <= box.maxX; x += 0.05) {
      if (!insidePolygon({ x, y }, polygon) || layout.isOccupied(x, y)) continue;
      const clearance = clearanceAt(layout as Layout, x, y, 2);
      if (clearance > bestClearance) {
        bestClearance = clearance;
        best = { x, y };
      }
    }
  }
  return best;
}

export function boundsOf(points: readonly Point[]): Bounds {
  const xs = points.map((p) => p.x);
  const ys = points.map((p) => p.y);
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
}

export function areaOf(polygon: Polygon): number {
  let twice = 0;
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length] ?? p;
    twice += p.x * q.y - q.x * p.y;
  });
  return Math.abs(twice) / 2;
}

/** The dock whose back touches the wall at `at` and that faces `facing`. */
export function dockAt(at: Point, facing: number): Dock {
  const c = Math.cos(facing);
  const s = Math.sin(facing);
  const out = (d: number) => ({ x: at.x + c * d, y: at.y + s * d });
  return {
    face: { ...out(DOCK_DEPTH), theta: facing },
    station: { ...out(DOCK_DEPTH + ROBOT.radius), theta: Math.atan2(-s, -c) },
  };
}

/**
 * Somebody moves the station: `by` in the frame of its face (x into the room). The map knows nothing of it. Its box is
 * the last outline of `solid`, as both loaders enter it.
 */
export function moveDock(layout: Layout, by: Pose): void {
  const { dock, solid } = layout;
  if (dock === null) return;
  const face = compose(dock.face, by);
  const moved = { face, station: compose(face, relativeTo(dock.face, dock.station)) };
  const others = Array.from(solid.ends).slice(0, -outlineEnds(dockOutline(dock)).length);
  layout.solid = new SegmentField([...others, ...outlineEnds(dockOutline(moved))]);
  layout.dock = moved;
}

/** The dock's box, as corners. */
export function dockOutline(dock: Dock): Point[] {
  return boxCorners(
    {
      x: dock.face.x - (Math.cos(dock.face.theta) * DOCK_DEPTH) / 2,
      y: dock.face.y - (Math.sin(dock.face.theta) * DOCK_DEPTH) / 2,
    },
    DOCK_DEPTH,
    DOCK_WIDTH,
    dock.face.theta,
  );
}

/** Corners, counter-clockwise, of a box with the given centre, size along its own axes, and yaw. */
export function boxCorners(centre: Point, width: number, depth: number, yaw: number): Point[] {
  const c = Math.cos(yaw);
  const s = Math.sin(yaw);
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([i = 0, j = 0]) => ({
    x: centre.x + c * ((i * width) / 2) - s * ((j * depth) / 2),
    y: centre.y + s * ((i * width) / 2) + c * ((j * depth) / 2),
  }));
}

/** The edges of a closed outline as x1, y1, x2, y2. */
export function outlineEnds(outline: readonly Point[]): number[] {
  return outline.flatMap((p, i) => {
    const q = outline[(i + 1) % outline.length] ?? p;
    return [p.x, p.y, q.x, q.y];
  });
}
