import type { Point } from '../../../config/contracts/geometry.js';
import { lineCost } from './line-cost.js';
import type { PlanningGrid } from './planning-grid.js';

/** A shortcut may cost this much more than the cells it replaces: it saves turns. */
const SHORTCUT_SLACK = 1.02;
/** Shortcuts are tried up to this many cells ahead. */
const REACH = 256;
const ROUNDS = 40;
/** What a bend costs, cells of way per square cell that its middle lies off the straight line. */
const STRAIGHTNESS = 2;

/**
 * Turns a path of cells into few straight segments: from each kept point as far ahead as the straight line is
 * free and costs no more than the cells between. All coordinates are grid coordinates.
 */
export function pullString(grid: PlanningGrid, costs: Float64Array, cells: readonly Point[]): Point[] {
  const along = cumulativeCost(grid, costs, cells);
  const kept: Point[] = [];
  for (let i = 0; i < cells.length; ) {
    const anchor = cells[i];
    if (anchor === undefined) break;
    kept.push(anchor);
    if (i === cells.length - 1) break;
    i = farthestShortcut(grid, costs, cells, along, i);
  }
  return kept;
}

function cumulativeCost(grid: PlanningGrid, costs: Float64Array, cells: readonly Point[]): Float64Array {
  const along = new Float64Array(cells.length);
  for (let i = 1; i < cells.length; i++) {
    const [a, b] = [cells[i - 1], cells[i]];
    if (a === undefined || b === undefined) continue;
    along[i] = (along[i - 1] ?? 0) + lineCost(grid, costs, a.x, a.y, b.x, b.y);
  }
  return along;
}

/** Doubles the reach while shortcuts hold, then halves the rest; always at least the next cell. */
function farthestShortcut(
  grid: PlanningGrid,
  costs: Float64Array,
  cells: readonly Point[],
  along: Float64Array,
  from: number,
): number {
  const last = Math.min(cells.length - 1, from + REACH);
  const holds = (to: number): boolean => {
    const [a, b] = [cells[from], cells[to]];
    if (a === undefined || b === undefined) return false;
    const way = (along[to] ?? 0) - (along[from] ?? 0);
    return lineCost(grid, costs, a.x, a.y, b.x, b.y) <= SHORTCUT_SLACK * way + 0.01;
  };
  let good = from + 1;
  let step = 2;
  while (good < last && holds(Math.min(from + step, last))) {
    good = Math.min(from + step, last);
    step *= 2;
  }
  let bad = Math.min(from + step, last + 1);
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (holds(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Points every `spacing` cells along the segments, ends included. */
export function resample(points: readonly Point[], spacing: number): Point[] {
  const out: Point[] = [];
  for (const [i, b] of points.entries()) {
    const a = points[i - 1];
    if (a !== undefined) {
      const pieces = Math.max(1, Math.round(Math.hypot(b.x - a.x, b.y - a.y) / spacing));
      for (let k = 1; k < pieces; k++) {
        out.push({ x: a.x + ((b.x - a.x) * k) / pieces, y: a.y + ((b.y - a.y) * k) / pieces });
      }
    }
    out.push(b);
  }
  return out;
}

/**
 * Rounds the corners: each inner point moves towards the middle of its neighbours as long as both of its segments
 * stay free and it does not come closer to obstacles than `costs` allowed before.
 */
export function roundCorners(grid: PlanningGrid, costs: Float64Array, points: readonly Point[]): Point[] {
  const out = points.map((p) => ({ x: p.x, y: p.y }));
  for (let round = 0; round < ROUNDS; round++) {
    let moved = 0;
    for (let i = 1; i < out.length - 1; i++) moved = Math.max(moved, moveInner(grid, costs, out, i));
    if (moved < 0.01) break;
  }
  return out;
}

function moveInner(grid: PlanningGrid, costs: Float64Array, points: Point[], i: number): number {
  const [a, p, b] = [points[i - 1], points[i], points[i + 1]];
  if (a === undefined || p === undefined || b === undefined) return 0;
  const x = p.x + 0.5 * ((a.x + b.x) / 2 - p.x);
  const y = p.y + 0.5 * ((a.y + b.y) / 2 - p.y);
  const shift = Math.hypot(x - p.x, y - p.y);
  if (shift < 0.01) return 0;
  const before = lineCost(grid, costs, a.x, a.y, p.x, p.y) + lineCost(grid, costs, p.x, p.y, b.x, b.y);
  const after = lineCost(grid, costs, a.x, a.y, x, y) + lineCost(grid, costs, x, y, b.x, b.y);
  // The bend is halved with each move; what that saves may cost a little clearance.
  if (!(after <= before + STRAIGHTNESS * 3 * shift * shift)) return 0;
  p.x = x;
  p.y = y;
  return shift;
}
