/** From cells to outlines: the ring around a region of a grid, with as few vertices as describe it. Pure. */
import { distance, type Point } from '../../../config/contracts/geometry.js';
import type { GridFrame } from '../costmap/grid-frame.js';
import { selfIntersection } from './polygons.js';

/**
 * The outer ring of the largest connected region (four neighbours) of marked cells, in the `map` frame,
 * counter-clockwise in the grid's axes; holes are filled. Runs along cell edges, then drops vertices nearer than
 * `tolerance` metres to the line without them. Empty when nothing is marked.
 */
export function outlineOf(mask: Uint8Array, frame: GridFrame, tolerance: number): Point[] {
  const region = largestRegion(mask, frame.width, frame.height);
  const ring = ringOf(region, frame.width, frame.height);
  const exact = corners(ring).map((p) => frame.toMap(p));
  const simple = simplifyRing(exact, tolerance);
  return simple.length >= 3 && selfIntersection(simple) === null ? simple : exact;
}

/** The cells of the largest region, as a mask. */
export function largestRegion(mask: Uint8Array, width: number, height: number): Uint8Array {
  const label = new Int32Array(mask.length);
  let best = 0;
  let bestSize = 0;
  let labels = 0;
  for (let start = 0; start < mask.length; start++) {
    if (mask[start] === 0 || label[start] !== 0) continue;
    labels += 1;
    const size = flood(mask, label, start, labels, width, height);
    if (size > bestSize) [best, bestSize] = [labels, size];
  }
  return Uint8Array.from(label, (one) => (best > 0 && one === best ? 1 : 0));
}

function flood(
  mask: Uint8Array,
  label: Int32Array,
  start: number,
  as: number,
  width: number,
  height: number,
): number {
  const stack = [start];
  label[start] = as;
  let size = 0;
  for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
    size += 1;
    const x = cell % width;
    const y = (cell - x) / width;
    const visit = (next: number, inside: boolean) => {
      if (!inside || mask[next] === 0 || label[next] !== 0) return;
      label[next] = as;
      stack.push(next);
    };
    visit(cell - 1, x > 0);
    visit(cell + 1, x + 1 < width);
    visit(cell - width, y > 0);
    visit(cell + width, y + 1 < height);
  }
  return size;
}

/** Right, up, left, down; the region lies to the left of the way. */
const STEPS = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const;

/** Follows the outer edge of a region from its lowest, leftmost cell, corner by corner, in grid coordinates. */
function ringOf(mask: Uint8Array, width: number, height: number): Point[] {
  const first = mask.indexOf(1);
  if (first < 0) return [];
  const at = (x: number, y: number) =>
    x >= 0 && y >= 0 && x < width && y < height && mask[y * width + x] === 1;
  const begin = { x: first % width, y: Math.floor(first / width) };
  const ring: Point[] = [];
  let { x, y } = begin;
  let heading = 0;
  do {
    ring.push({ x, y });
    const { x: dx, y: dy } = STEPS[heading] ?? STEPS[0];
    x += dx;
    y += dy;
    heading = nextHeading(heading, x, y, at);
  } while (x !== begin.x || y !== begin.y);
  return ring;
}

/** At a corner: left where the cell ahead on the right is marked no more, as far round as the region goes. */
function nextHeading(heading: number, x: number, y: number, at: (x: number, y: number) => boolean): number {
  // The cells ahead of the corner, to the left and the right of the way.
  const ahead = [
    { left: at(x, y), right: at(x, y - 1) },
    { left: at(x - 1, y), right: at(x, y) },
    { left: at(x - 1, y - 1), right: at(x - 1, y) },
    { left: at(x, y - 1), right: at(x - 1, y - 1) },
  ][heading];
  if (ahead === undefined || !ahead.left) return (heading + 1) % 4;
  return ahead.right ? (heading + 3) % 4 : heading;
}

/** Drops the points in the middle of straight runs. */
function corners(ring: readonly Point[]): Point[] {
  return ring.filter((p, i) => {
    const a = ring[(i + ring.length - 1) % ring.length] ?? p;
    const b = ring[(i + 1) % ring.length] ?? p;
    return (p.x - a.x) * (b.y - p.y) !== (p.y - a.y) * (b.x - p.x);
  });
}

/** Douglas and Peucker's line simplification (1973) on a ring, from the two vertices farthest apart. */
function simplifyRing(ring: readonly Point[], tolerance: number): Point[] {
  const start = ring[0];
  if (start === undefined || ring.length < 4) return [...ring];
  let far = 0;
  for (const [i, p] of ring.entries()) {
    if (distance(p, start) > distance(ring[far] ?? start, start)) far = i;
  }
  const half = simplifyLine(ring.slice(0, far + 1), tolerance);
  const rest = simplifyLine([...ring.slice(far), start], tolerance);
  return [...half.slice(0, -1), ...rest.slice(0, -1)];
}

function simplifyLine(line: readonly Point[], tolerance: number): Point[] {
  const [a, b] = [line[0], line[line.length - 1]];
  if (a === undefined || b === undefined || line.length < 3) return [...line];
  let worst = 0;
  let at = 0;
  for (const [i, p] of line.entries()) {
    const off = offLine(p, a, b);
    if (off > worst) [worst, at] = [off, i];
  }
  if (worst <= tolerance) return [a, b];
  return [
    ...simplifyLine(line.slice(0, at + 1), tolerance).slice(0, -1),
    ...simplifyLine(line.slice(at), tolerance),
  ];
}

function offLine(p: Point, a: Point, b: Point): number {
  const length = distance(a, b);
  if (length === 0) return distance(p, a);
  return Math.abs((b.x - a.x) * (a.y - p.y) - (a.x - p.x) * (b.y - a.y)) / length;
}
