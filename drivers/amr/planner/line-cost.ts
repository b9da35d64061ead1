import type { PlanningGrid } from './planning-grid.js';

/**
 * Walks every cell the straight line from (x0, y0) to (x1, y1) touches, in grid coordinates, and adds up the way
 * through each times its step cost. `Infinity` as soon as one cannot be entered, or lies off the grid. Where the
 * line passes exactly through a corner, both cells beside it must be free.
 * (Traversal after J. Amanatides, A. Woo, "A Fast Voxel Traversal Algorithm for Ray Tracing", 1987.)
 */
export function lineCost(
  grid: PlanningGrid,
  costs: Float64Array,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): number {
  const { width, height, cost } = grid;
  let ix = Math.floor(x0);
  let iy = Math.floor(y0);
  if (ix < 0 || iy < 0 || ix >= width || iy >= height) return Number.POSITIVE_INFINITY;
  const dx = x1 - x0;
  const dy = y1 - y0;
  const length = Math.hypot(dx, dy);
  const stepX = dx > 0 ? 1 : -1;
  const stepY = dy > 0 ? 1 : -1;
  // Fraction of the line at which the next column and row begin, and how far apart they are.
  const gapX = dx === 0 ? Number.POSITIVE_INFINITY : Math.abs(1 / dx);
  const gapY = dy === 0 ? Number.POSITIVE_INFINITY : Math.abs(1 / dy);
  let nextX = dx === 0 ? Number.POSITIVE_INFINITY : (dx > 0 ? ix + 1 - x0 : x0 - ix) * gapX;
  let nextY = dy === 0 ? Number.POSITIVE_INFINITY : (dy > 0 ? iy + 1 - y0 : y0 - iy) * gapY;
  let at = 0;
  let total = 0;
  const costAt = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height
      ? Number.POSITIVE_INFINITY
      : (costs[cost[y * width + x] ?? 255] ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const to = Math.min(nextX, nextY, 1);
    const step = costAt(ix, iy);
    if (step === Number.POSITIVE_INFINITY) return step;
    total += (to - at) * length * step;
    if (to >= 1) return total;
    at = to;
    const corner = Math.abs(nextX - nextY) < 1e-9;
    if (corner && (costAt(ix + stepX, iy) === Infinity || costAt(ix, iy + stepY) === Infinity)) {
      return Number.POSITIVE_INFINITY;
    }
    if (corner || nextX < nextY) {
      ix += stepX;
      nextX += gapX;
    }
    if (corner || to === nextY) {
      iy += stepY;
      nextY += gapY;
    }
  }
}
