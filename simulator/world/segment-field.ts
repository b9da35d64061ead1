/**
 * Line segments in a uniform grid: rays are cast, and near segments found, by looking only at the cells on the
 * way. Flat typed arrays, because a lidar asks 4500 times a second and the world runs hundreds of times faster
 * than real time.
 */
import { at } from './typed.js';

/** Slack when a segment is entered into cells, m: a ray along a cell border must not slip between two cells. */
const SLACK = 1e-9;

const MAX_QUERY = 2 ** 31 - 1;

interface Grid {
  cell: number;
  originX: number;
  originY: number;
  columns: number;
  rows: number;
}

export class SegmentField {
  readonly count: number;
  /** x1, y1, x2, y2 of each segment. */
  readonly ends: Float64Array;
  readonly #grid: Grid;
  /** Segments of cell `i` are `#members[#first[i] … #first[i + 1])`. */
  readonly #first: Int32Array;
  readonly #members: Int32Array;
  /** The last query that looked at each segment, so that none is tested twice. */
  readonly #stamp: Int32Array;
  #query = 0;

  /** `ends`: x1, y1, x2, y2 per segment, metres. `cell`: size of a grid cell, metres. */
  constructor(ends: readonly number[], cell = 0.25) {
    this.ends = Float64Array.from(ends);
    this.count = Math.floor(ends.length / 4);
    this.#grid = gridAround(this.ends, cell);
    this.#stamp = new Int32Array(this.count);
    const lists = this.#enter();
    this.#first = new Int32Array(lists.length + 1);
    lists.forEach((list, i) => {
      this.#first[i + 1] = at(this.#first, i) + list.length;
    });
    this.#members = Int32Array.from(lists.flat());
  }

  /**
   * Distance from (x, y) along the unit vector (dx, dy) to the first segment, at most `max`; `max` when there
   * is none.
   */
  cast(x: number, y: number, dx: number, dy: number, max: number): number {
    const { cell, originX, originY, columns, rows } = this.#grid;
    let entry = 0;
    if (x < originX || y < originY || x >= originX + columns * cell || y >= originY + rows * cell) {
      entry = this.#entryDistance(x, y, dx, dy);
      if (entry >= max) return max;
      entry += SLACK;
    }
    let column = clampCell((x + dx * entry - originX) / cell, columns);
    let row = clampCell((y + dy * entry - originY) / cell, rows);
    const stepX = dx > 0 ? 1 : -1;
    const stepY = dy > 0 ? 1 : -1;
    const perColumn = dx === 0 ? Number.POSITIVE_INFINITY : cell / Math.abs(dx);
    const perRow = dy === 0 ? Number.POSITIVE_INFINITY : cell / Math.abs(dy);
    let nextX = dx === 0 ? Number.POSITIVE_INFINITY : (originX + (column + (dx > 0 ? 1 : 0)) * cell - x) / dx;
    let nextY = dy === 0 ? Number.POSITIVE_INFINITY : (originY + (row + (dy > 0 ? 1 : 0)) * cell - y) / dy;
    let best = max;
    const query = this.#nextQuery();
    for (;;) {
      best = this.#nearestInCell(row * columns + column, x, y, dx, dy, best, query);
      const exit = Math.min(nextX, nextY);
      if (exit >= best) return best;
      if (nextX < nextY) {
        column += stepX;
        nextX += perColumn;
        if (column < 0 || column >= columns) return best;
      } else {
        row += stepY;
        nextY += perRow;
        if (row < 0 || row >= rows) return best;
      }
    }
  }

  /** Writes the indices of the segments nearer to (x, y) than `radius` to `out`; returns how many. */
  near(x: number, y: number, radius: number, out: Int32Array): number {
    const { cell, originX, originY, columns, rows } = this.#grid;
    const firstColumn = clampCell((x - radius - originX) / cell, columns);
    const lastColumn = clampCell((x + radius - originX) / cell, columns);
    const firstRow = clampCell((y - radius - originY) / cell, rows);
    const lastRow = clampCell((y + radius - originY) / cell, rows);
    const query = this.#nextQuery();
    const limit = radius * radius;
    let n = 0;
    for (let row = firstRow; row <= lastRow; row++) {
      for (let column = firstColumn; column <= lastColumn; column++) {
        const c = row * columns + column;
        for (let k = at(this.#first, c); k < at(this.#first, c + 1); k++) {
          const s = at(this.#members, k);
          if (at(this.#stamp, s) === query) continue;
          this.#stamp[s] = query;
          if (this.distanceSquared(s, x, y) < limit && n < out.length) out[n++] = s;
        }
      }
    }
    return n;
  }

  /** Squared distance from (x, y) to segment `s`. */
  distanceSquared(s: number, x: number, y: number): number {
    const ax = at(this.ends, 4 * s);
    const ay = at(this.ends, 4 * s + 1);
    const sx = at(this.ends, 4 * s + 2) - ax;
    const sy = at(this.ends, 4 * s + 3) - ay;
    const length2 = sx * sx + sy * sy;
    const along = length2 === 0 ? 0 : ((x - ax) * sx + (y - ay) * sy) / length2;
    const t = Math.max(0, Math.min(1, along));
    const ex = x - ax - t * sx;
    const ey = y - ay - t * sy;
    return ex * ex + ey * ey;
  }

  #nearestInCell(
    c: number,
    x: number,
    y: number,
    dx: number,
    dy: number,
    limit: number,
    query: number,
  ): number {
    const { ends } = this;
    const stamp = this.#stamp;
    let best = limit;
    const last = at(this.#first, c + 1);
    for (let k = at(this.#first, c); k < last; k++) {
      const s = at(this.#members, k);
      if (at(stamp, s) === query) continue;
      stamp[s] = query;
      const ax = at(ends, 4 * s) - x;
      const ay = at(ends, 4 * s + 1) - y;
      const sx = at(ends, 4 * s + 2) - x - ax;
      const sy = at(ends, 4 * s + 3) - y - ay;
      const det = dx * sy - dy * sx;
      if (det === 0) continue;
      const t = (ax * sy - ay * sx) / det;
      if (t < 0 || t >= best) continue;
      const u = (ax * dy - ay * dx) / det;
      if (u >= 0 && u <= 1) best = t;
    }
    return best;
  }

  #nextQuery(): number {
    if (this.#query >= MAX_QUERY) {
      this.#stamp.fill(0);
      this.#query = 0;
    }
    this.#query += 1;
    return this.#query;
  }

  /** How far along the ray the grid begins; infinite when the ray misses it. */
  #entryDistance(x: number, y: number, dx: number, dy: number): number {
    const { cell, originX, originY, columns, rows } = this.#grid;
    const spanX = slab(x, dx, originX, originX + columns * cell);
    const spanY = slab(y, dy, originY, originY + rows * cell);
    const entry = Math.max(spanX[0], spanY[0], 0);
    return entry <= Math.min(spanX[1], spanY[1]) ? entry : Number.POSITIVE_INFINITY;
  }

  /** For each cell, the segments that touch it. */
  #enter(): number[][] {
    const { cell, originX, originY, columns, rows } = this.#grid;
    const lists: number[][] = Array.from({ length: columns * rows }, () => []);
    for (let s = 0; s < this.count; s++) {
      const [ax, ay, bx, by] = [0, 1, 2, 3].map((k) => at(this.ends, 4 * s + k)) as [
        number,
        number,
        number,
        number,
      ];
      const firstColumn = clampCell((Math.min(ax, bx) - SLACK - originX) / cell, columns);
      const lastColumn = clampCell((Math.max(ax, bx) + SLACK - originX) / cell, columns);
      const firstRow = clampCell((Math.min(ay, by) - SLACK - originY) / cell, rows);
      const lastRow = clampCell((Math.max(ay, by) + SLACK - originY) / cell, rows);
      for (let row = firstRow; row <= lastRow; row++) {
        for (let column = firstColumn; column <= lastColumn; column++) {
          const left = originX + column * cell;
          const bottom = originY + row * cell;
          if (crossesBox(ax, ay, bx, by, left, bottom, cell)) lists[row * columns + column]?.push(s);
        }
      }
    }
    return lists;
  }
}

function gridAround(ends: Float64Array, cell: number): Grid {
  let [minX, minY, maxX, maxY] = [at(ends, 0), at(ends, 1), at(ends, 0), at(ends, 1)];
  if (ends.length === 0) [minX, minY, maxX, maxY] = [0, 0, 0, 0];
  for (let i = 0; i + 1 < ends.length; i += 2) {
    minX = Math.min(minX, at(ends, i));
    maxX = Math.max(maxX, at(ends, i));
    minY = Math.min(minY, at(ends, i + 1));
    maxY = Math.max(maxY, at(ends, i + 1));
  }
  const originX = minX - cell / 2;
  const originY = minY - cell / 2;
  return {
    cell,
    originX,
    originY,
    columns: Math.ceil((maxX - originX) / cell) + 1,
    rows: Math.ceil((maxY - originY) / cell) + 1,
  };
}

function clampCell(position: number, count: number): number {
  const index = Math.floor(position);
  return index < 0 ? 0 : index >= count ? count - 1 : index;
}

/** Where the line x + t·dx lies between `low` and `high`: from and to which t. */
function slab(x: number, dx: number, low: number, high: number): [number, number] {
  if (dx === 0) {
    return x >= low && x <= high
      ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
      : [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  }
  const a = (low - x) / dx;
  const b = (high - x) / dx;
  return a < b ? [a, b] : [b, a];
}

/** Whether the segment touches the square, with slack: separating axes along the segment's normal. */
function crossesBox(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  left: number,
  bottom: number,
  size: number,
): boolean {
  const cx = left + size / 2;
  const cy = bottom + size / 2;
  const nx = by - ay;
  const ny = ax - bx;
  const reach = (Math.abs(nx) + Math.abs(ny)) * (size / 2 + SLACK);
  if (Math.abs(nx * (cx - ax) + ny * (cy - ay)) > reach + SLACK * SLACK) return false;
  const half = size / 2 + SLACK;
  return (
    Math.max(ax, bx) >= cx - half &&
    Math.min(ax, bx) <= cx + half &&
    Math.max(ay, by) >= cy - half &&
    Math.min(ay, by) <= cy + half
  );
}
