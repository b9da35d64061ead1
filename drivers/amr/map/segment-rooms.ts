/**
 * Rooms out of a map: ground is flooded from its most open places down to its narrowest, and where two floods meet in a
 * doorway they stay apart (a watershed on the distance to the next wall; compare Bormann et al., "Room Segmentation:
 * Survey, Implementation, and Analysis", 2016). What comes out is a proposal: names and outlines are the household's.
 */

import { DEFAULT_INFLATION } from '../costmap/costs.js';
import { squaredDistances } from '../costmap/distance-transform.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { Areas, OccupancyGrid, Room, Station } from '../types.js';
import { DrivableGround } from './area-checks.js';
import { mapBundle } from './bundle.js';
import { RoomOutlines } from './room-outline.js';
import { DEFAULT_GAPS, wallGaps } from './wall-gaps.js';

export interface SegmentOptions {
  /** Of the robot, m: goals are places where it can stand. */
  radius: number;
  /** An opening wider than this joins what lies on both sides, m. */
  widestDoor: number;
  /** An opening counts as a door when it is this much narrower than the narrower side of it. */
  narrowing: number;
  /** A wider opening divides only what is large on both sides, and where it is much narrower than either, m and m². */
  widestOpening: number;
  openingNarrowing: number;
  largeRoom: number;
  /** Smaller rooms become part of their neighbour, m². */
  smallestRoom: number;
  /** What stands free in a room and is no longer than this does not divide it, m. */
  largestFurniture: number;
  /** Outlines are simplified by so much, m. */
  tolerance: number;
}

export const DEFAULT_SEGMENTS: SegmentOptions = {
  radius: DEFAULT_INFLATION.robotRadius,
  widestDoor: 1.3,
  narrowing: 0.8,
  widestOpening: 3.6,
  openingNarrowing: 0.62,
  largeRoom: 8,
  smallestRoom: 1.5,
  largestFurniture: 2.5,
  tolerance: 0.08,
};

const FREE_BELOW = 50;
/** Ground nearer to a wall than this is left to the room it hangs together with, m. */
const LEAST_OPEN = 0.1;
/** A flood that covers less than this when it meets another is a niche of it, m². */
const NICHE = 0.1;
const MAX_ROOMS = 100;

/** Biggest first, with neutral names in Korean and English; a room where the robot cannot stand is left out. */
export function segmentRooms(
  grid: OccupancyGrid,
  station: Station | null = null,
  options: SegmentOptions = DEFAULT_SEGMENTS,
): Room[] {
  const ground = groundOf(grid, options.largestFurniture);
  const labels = flood(grid, ground, options);
  const sizes = absorbSmall(labels, grid, options.smallestRoom);
  const frame = new GridFrame(grid);
  const areas: Areas = { rooms: [], station, keepout: [], speedAreas: [] };
  const drivable = new DrivableGround(mapBundle(grid, areas), options.radius, DEFAULT_INFLATION);
  const outlines = new RoomOutlines(labels, frame, options.tolerance);
  const rooms: Room[] = [];
  for (const [label] of [...sizes].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const polygon = outlines.of(label);
    const goal = polygon.length < 3 ? null : drivable.placeIn(polygon);
    if (goal === null) continue;
    const id = String(rooms.length + 1);
    rooms.push({ id, name: `방 ${id}`, aliases: [`room ${id}`], polygon, goal });
    if (rooms.length === MAX_ROOMS) break;
  }
  return rooms;
}

/** 1 where the robot could drive if no small furniture stood there. */
function groundOf(grid: OccupancyGrid, largestFurniture: number): Uint8Array {
  const ground = Uint8Array.from(grid.cells, (cell) => (cell >= 0 && cell < FREE_BELOW ? 1 : 0));
  const { width, height } = grid;
  const seen = new Uint8Array(ground.length);
  for (let start = 0; start < ground.length; start++) {
    if (ground[start] === 1 || seen[start] === 1) continue;
    const piece = pieceOf(ground, seen, start, width, height);
    const size = Math.hypot(piece.right - piece.left + 1, piece.top - piece.bottom + 1) * grid.resolution;
    if (!piece.onEdge && size <= largestFurniture) for (const cell of piece.cells) ground[cell] = 1;
  }
  return ground;
}

/** What is not ground and hangs together, also over corners. */
function pieceOf(ground: Uint8Array, seen: Uint8Array, start: number, width: number, height: number) {
  const piece = { cells: [start], left: width, right: 0, bottom: height, top: 0, onEdge: false };
  seen[start] = 1;
  for (let k = 0; k < piece.cells.length; k++) {
    const cell = piece.cells[k] ?? 0;
    const x = cell % width;
    const y = (cell - x) / width;
    piece.left = Math.min(piece.left, x);
    piece.right = Math.max(piece.right, x);
    piece.bottom = Math.min(piece.bottom, y);
    piece.top = Math.max(piece.top, y);
    if (x === 0 || y === 0 || x === width - 1 || y === height - 1) piece.onEdge = true;
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        const [nx, ny] = [x + dx, y + dy];
        if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
        const next = ny * width + nx;
        if (ground[next] === 1 || seen[next] === 1) continue;
        seen[next] = 1;
        piece.cells.push(next);
      }
    }
  }
  return piece;
}

interface Basin {
  /** The widest place in it, m from the next wall. */
  peak: number;
  cells: number;
  /** What it was joined to; itself while it stands alone. */
  into: number;
}

/** For each cell the number of its room, from 1; 0 for no ground. */
function flood(grid: OccupancyGrid, ground: Uint8Array, options: SegmentOptions): Int32Array {
  const { width, height, resolution } = grid;
  const barred = Uint8Array.from(ground, (one) => 1 - one);
  const gaps = { ...DEFAULT_GAPS, resolution, door: options.widestDoor };
  for (const cell of wallGaps({ width, height, cells: ground }, gaps)) barred[cell] = 1;
  const squared = squaredDistances(barred, width, height);
  const open = Float32Array.from(squared, (d) => Math.sqrt(d) * resolution);
  const order = byOpenness(squared, (LEAST_OPEN / resolution) ** 2);
  const labels = new Int32Array(ground.length);
  const basins: Basin[] = [{ peak: 0, cells: 0, into: 0 }];
  const rootOf = (label: number): number => {
    let root = label;
    while (basins[root] !== undefined && basins[root]?.into !== root) root = basins[root]?.into ?? root;
    return root;
  };
  const around: number[] = [];
  for (const cell of order) {
    const here = open[cell] ?? 0;
    around.length = 0;
    // Uphill of it: what it belongs to wherever floods stay apart.
    let up = -1;
    for (const n of neighboursOf(cell, width, height)) {
      const root = rootOf(labels[n] ?? 0);
      if (root === 0) continue;
      if (!around.includes(root)) around.push(root);
      if (up < 0 || (open[n] ?? 0) > (open[up] ?? 0)) up = n;
    }
    if (up < 0) {
      labels[cell] = basins.length;
      basins.push({ peak: here, cells: 1, into: basins.length });
      continue;
    }
    around.sort((a, b) => (basins[b]?.peak ?? 0) - (basins[a]?.peak ?? 0));
    const main = basins[around[0] ?? 0];
    for (const other of around.slice(1)) {
      const basin = basins[other];
      if (main === undefined || basin === undefined) continue;
      if (isDoor(here, main, basin, resolution, options)) continue;
      basin.into = main.into;
      main.cells += basin.cells;
    }
    const mine = rootOf(labels[up] ?? 0);
    labels[cell] = mine;
    const basin = basins[mine];
    if (basin !== undefined) basin.cells++;
  }
  for (let i = 0; i < labels.length; i++) labels[i] = rootOf(labels[i] ?? 0);
  return spread(labels, ground, width, height);
}

/** `here`: half of the opening's width, m. `narrower`: of both sides the one with less room around its middle. */
function isDoor(here: number, wider: Basin, narrower: Basin, resolution: number, options: SegmentOptions) {
  const area = (basin: Basin) => basin.cells * resolution ** 2;
  if (here <= options.widestDoor / 2)
    return here <= options.narrowing * narrower.peak && area(narrower) >= NICHE;
  return (
    here <= options.widestOpening / 2 &&
    here <= options.openingNarrowing * narrower.peak &&
    Math.min(area(wider), area(narrower)) >= options.largeRoom
  );
}

/** Cells at least so far from a wall, the farthest first; `squared`: whole numbers, in cells². */
function byOpenness(squared: Float32Array, least: number): Int32Array {
  let most = 0;
  for (const d of squared) if (d < Infinity && d > most) most = d;
  // A counting sort: a large map has millions of cells, and few distances.
  const starts = new Int32Array(most + 2);
  const bucket = (d: number) => (d >= least && d < Infinity ? most - d : -1);
  for (const d of squared) {
    const k = bucket(d);
    if (k >= 0) starts[k + 1] = (starts[k + 1] ?? 0) + 1;
  }
  for (let k = 1; k < starts.length; k++) starts[k] = (starts[k] ?? 0) + (starts[k - 1] ?? 0);
  const cells = new Int32Array(starts.at(-1) ?? 0);
  for (let i = 0; i < squared.length; i++) {
    const k = bucket(squared[i] ?? 0);
    if (k < 0) continue;
    const at = starts[k] ?? 0;
    cells[at] = i;
    starts[k] = at + 1;
  }
  return cells;
}

/** Gives ground along walls to the room beside it, in rings outward from what is labelled. */
function spread(labels: Int32Array, ground: Uint8Array, width: number, height: number): Int32Array {
  let edge: number[] = [];
  labels.forEach((label, i) => {
    if (label > 0) edge.push(i);
  });
  while (edge.length > 0) {
    const next: number[] = [];
    for (const cell of edge) {
      for (const n of neighboursOf(cell, width, height)) {
        if (ground[n] !== 1 || (labels[n] ?? 0) > 0) continue;
        labels[n] = labels[cell] ?? 0;
        next.push(n);
      }
    }
    edge = next;
  }
  return labels;
}

/** Joins rooms that are too small to the neighbour they share most with; alone they vanish. Cells by room remain. */
function absorbSmall(labels: Int32Array, grid: OccupancyGrid, smallest: number): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const label of labels) if (label > 0) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  for (;;) {
    const least = [...sizes].reduce<[number, number] | null>(
      (a, b) => (a === null || b[1] < a[1] ? b : a),
      null,
    );
    if (least === null || least[1] * grid.resolution ** 2 >= smallest) return sizes;
    const [label, size] = least;
    const into = mostShared(labels, label, grid);
    for (let i = 0; i < labels.length; i++) if (labels[i] === label) labels[i] = into;
    sizes.delete(label);
    if (into > 0) sizes.set(into, (sizes.get(into) ?? 0) + size);
  }
}

/** The label that touches most cells of another one; 0: none does. */
function mostShared(labels: Int32Array, label: number, { width, height }: OccupancyGrid): number {
  const shared = new Map<number, number>();
  labels.forEach((one, i) => {
    if (one !== label) return;
    for (const n of neighboursOf(i, width, height)) {
      const other = labels[n] ?? 0;
      if (other > 0 && other !== label) shared.set(other, (shared.get(other) ?? 0) + 1);
    }
  });
  return [...shared].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0];
}

function neighboursOf(cell: number, width: number, height: number): number[] {
  const x = cell % width;
  const near: number[] = [];
  if (x > 0) near.push(cell - 1);
  if (x + 1 < width) near.push(cell + 1);
  if (cell >= width) near.push(cell - width);
  if (cell + width < width * height) near.push(cell + width);
  return near;
}
