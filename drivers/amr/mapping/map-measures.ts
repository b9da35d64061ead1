/** How good a map is, from the map alone. */
import type { OccupancyGrid } from '../types.js';

const OCCUPIED_FROM = 65;
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const;

/**
 * How thick walls are drawn on average, m: for each occupied cell the shortest of the runs of occupied cells through
 * it, along the rows, the columns and both diagonals. Null when nothing is occupied.
 */
export function wallThickness(grid: OccupancyGrid): number | null {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < grid.cells.length; i++) {
    if (!occupied(grid, i % grid.width, Math.floor(i / grid.width))) continue;
    const [x, y] = [i % grid.width, Math.floor(i / grid.width)];
    sum += Math.min(...DIRECTIONS.map(([dx, dy]) => runThrough(grid, x, y, dx, dy) * Math.hypot(dx, dy)));
    count++;
  }
  return count === 0 ? null : (sum / count) * grid.resolution;
}

function runThrough(grid: OccupancyGrid, x: number, y: number, dx: number, dy: number): number {
  let cells = 1;
  for (let k = 1; occupied(grid, x + k * dx, y + k * dy); k++) cells++;
  for (let k = 1; occupied(grid, x - k * dx, y - k * dy); k++) cells++;
  return cells;
}

function occupied({ width, height, cells }: OccupancyGrid, x: number, y: number): boolean {
  return x >= 0 && y >= 0 && x < width && y < height && (cells[y * width + x] ?? -1) >= OCCUPIED_FROM;
}
