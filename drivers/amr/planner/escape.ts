import { COST_INSCRIBED, COST_LETHAL } from '../costmap/costs.js';
import type { PlanningGrid } from './planning-grid.js';

/** How far out of an obstacle's clearance a way is looked for, metres. */
const REACH = 0.8;

/**
 * The shortest way (cells, the first is `start`) from a cell the robot should not be in, because it was pushed
 * there or localisation is a little off, to the nearest free one. It only ever gets better on the way: once out of
 * an obstacle not into one again, once out of unknown space not back. Null when there is none within reach.
 */
export function escapeFrom(grid: PlanningGrid, start: number): number[] | null {
  const limit = Math.ceil(REACH / grid.map.geometry.resolution) + 1;
  const reachedFrom = new Map<number, number>([[start, -1]]);
  // Breadth first is near enough to the shortest way over so few cells.
  let ring = [start];
  for (let depth = 0; depth <= limit && ring.length > 0; depth++) {
    const free = ring.find((c) => !grid.blocked(c));
    if (free !== undefined) return chain(reachedFrom, free);
    ring = ring.flatMap((cell) => spread(grid, cell, reachedFrom));
  }
  return null;
}

function spread(grid: PlanningGrid, cell: number, reachedFrom: Map<number, number>): number[] {
  const x = cell % grid.width;
  const y = (cell - x) / grid.width;
  const found: number[] = [];
  for (const [dx, dy] of NEIGHBOURS) {
    const next = grid.frame.indexOf(x + dx, y + dy);
    if (next < 0 || reachedFrom.has(next) || badness(grid, next) > badness(grid, cell)) continue;
    reachedFrom.set(next, cell);
    found.push(next);
  }
  return found;
}

/** Straight neighbours first: their ways are shorter. */
const NEIGHBOURS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
  [1, 1],
  [-1, 1],
  [-1, -1],
  [1, -1],
] as const;

function badness(grid: PlanningGrid, cell: number): number {
  const cost = grid.cost[cell] ?? 255;
  if (cost === COST_LETHAL) return 3;
  if (cost > COST_LETHAL) return 2;
  return cost === COST_INSCRIBED ? 1 : 0;
}

function chain(reachedFrom: Map<number, number>, end: number): number[] {
  const cells: number[] = [];
  for (let cell = end; cell >= 0; cell = reachedFrom.get(cell) ?? -1) cells.push(cell);
  return cells.reverse();
}
