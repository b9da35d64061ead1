/**
 * A way on the true floor plan, for the simulated Nav2: A* over a raster of clearances, then the corners cut. It looks
 * at the world itself, not at a costmap: it stands in for Nav2's planner and is no model of its errors.
 */
import { distance, type Point } from '../../config/contracts/geometry.js';
import type { RoundThing } from '../world/body.js';
import { clearanceAt, type Layout, ROBOT } from '../world/layout.js';

/** Metres: a cell, what is kept free around the hull, and how far away walls still repel. */
const CELL = 0.05;
const MARGIN = 0.03;
const WIDE = 0.45;
/** Cost of a metre next to a wall, beyond its length. */
const REPULSION = 3;
const STEP: readonly (readonly [number, number, number])[] = [
  [1, 0, 1],
  [-1, 0, 1],
  [0, 1, 1],
  [0, -1, 1],
  [1, 1, Math.SQRT2],
  [1, -1, Math.SQRT2],
  [-1, 1, Math.SQRT2],
  [-1, -1, Math.SQRT2],
];

export type GridPlan = { ok: true; path: Point[] } | { ok: false; why: 'off_map' | 'occupied' | 'no_path' };

export class GridPlanner {
  readonly #layout: Layout;
  readonly #width: number;
  readonly #height: number;
  readonly #clearance: Float32Array;

  constructor(layout: Layout) {
    this.#layout = layout;
    const { minX, minY, maxX, maxY } = layout.bounds;
    this.#width = Math.ceil((maxX - minX) / CELL) + 1;
    this.#height = Math.ceil((maxY - minY) / CELL) + 1;
    this.#clearance = new Float32Array(this.#width * this.#height);
    for (let i = 0; i < this.#clearance.length; i++) {
      const { x, y } = this.#point(i);
      this.#clearance[i] = layout.isOccupied(x, y) ? 0 : clearanceAt(layout, x, y, WIDE);
    }
  }

  plan(from: Point, to: Point, things: readonly RoundThing[]): GridPlan {
    const start = this.#nearestFree(from, things);
    const goal = this.#index(to);
    if (goal === null || start === null) return { ok: false, why: 'off_map' };
    if (!this.#free(goal, things)) return { ok: false, why: 'occupied' };
    const cells = this.#search(start, goal, things);
    if (cells === null) return { ok: false, why: 'no_path' };
    const points = [from, ...cells.map((cell) => this.#point(cell)), to];
    return { ok: true, path: this.#cutCorners(points, things) };
  }

  /** Whether the straight way is free for the body. */
  isClear(a: Point, b: Point, things: readonly RoundThing[]): boolean {
    const steps = Math.max(1, Math.ceil(distance(a, b) / (CELL / 2)));
    for (let i = 0; i <= steps; i++) {
      const cell = this.#index({ x: a.x + ((b.x - a.x) * i) / steps, y: a.y + ((b.y - a.y) * i) / steps });
      if (cell === null || !this.#free(cell, things)) return false;
    }
    return true;
  }

  #search(start: number, goal: number, things: readonly RoundThing[]): number[] | null {
    const cost = new Float64Array(this.#clearance.length).fill(Number.POSITIVE_INFINITY);
    const from = new Int32Array(this.#clearance.length).fill(-1);
    const target = this.#point(goal);
    const open: { cell: number; rank: number }[] = [];
    cost[start] = 0;
    push(open, start, 0);
    for (let next = pop(open); next !== null; next = pop(open)) {
      if (next.cell === goal) return this.#way(from, goal);
      for (const [cell, length] of this.#neighbours(next.cell, things)) {
        const total = (cost[next.cell] ?? 0) + length;
        if (total >= (cost[cell] ?? 0)) continue;
        cost[cell] = total;
        from[cell] = next.cell;
        push(open, cell, total + distance(this.#point(cell), target));
      }
    }
    return null;
  }

  *#neighbours(cell: number, things: readonly RoundThing[]): Generator<[number, number]> {
    const column = cell % this.#width;
    const row = (cell - column) / this.#width;
    for (const [dx, dy, length] of STEP) {
      const c = column + dx;
      const r = row + dy;
      if (c < 0 || r < 0 || c >= this.#width || r >= this.#height) continue;
      const next = r * this.#width + c;
      if (!this.#free(next, things)) continue;
      const near = Math.max(0, 1 - ((this.#clearance[next] ?? 0) - ROBOT.radius) / (WIDE - ROBOT.radius));
      yield [next, length * CELL * (1 + REPULSION * near * near)];
    }
  }

  #free(cell: number, things: readonly RoundThing[]): boolean {
    if ((this.#clearance[cell] ?? 0) < ROBOT.radius + MARGIN) return false;
    if (things.length === 0) return true;
    const p = this.#point(cell);
    return things.every((t) => Math.hypot(t.x - p.x, t.y - p.y) > t.radius + ROBOT.radius + MARGIN);
  }

  /** A robot that stands close to a wall, or in front of its dock, starts from the nearest place it could be. */
  #nearestFree(p: Point, things: readonly RoundThing[]): number | null {
    let best: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let dy = -8; dy <= 8; dy++) {
      for (let dx = -8; dx <= 8; dx++) {
        const cell = this.#index({ x: p.x + dx * CELL, y: p.y + dy * CELL });
        if (cell === null || !this.#free(cell, things)) continue;
        const far = distance(p, this.#point(cell));
        if (far >= least) continue;
        least = far;
        best = cell;
      }
    }
    return best;
  }

  #cutCorners(points: readonly Point[], things: readonly RoundThing[]): Point[] {
    const cut: Point[] = [];
    for (let i = 0; i < points.length; ) {
      const here = points[i];
      if (here === undefined) break;
      cut.push(here);
      let next = i + 1;
      for (let j = Math.min(points.length - 1, i + 20); j > i + 1; j--) {
        const there = points[j];
        if (there !== undefined && this.isClear(here, there, things)) {
          next = j;
          break;
        }
      }
      i = next;
    }
    return cut;
  }

  #way(from: Int32Array, goal: number): number[] {
    const way: number[] = [];
    for (let cell = goal; cell >= 0; cell = from[cell] ?? -1) way.push(cell);
    return way.reverse();
  }

  #index({ x, y }: Point): number | null {
    const column = Math.round((x - this.#layout.bounds.minX) / CELL);
    const row = Math.round((y - this.#layout.bounds.minY) / CELL);
    if (column < 0 || row < 0 || column >= this.#width || row >= this.#height) return null;
    return row * this.#width + column;
  }

  #point(cell: number): Point {
    const column = cell % this.#width;
    return {
      x: this.#layout.bounds.minX + column * CELL,
      y: this.#layout.bounds.minY + ((cell - column) / this.#width) * CELL,
    };
  }
}

/** A binary heap by rank. */
function push(heap: { cell: number; rank: number }[], cell: number, rank: number): void {
  let i = heap.push({ cell, rank }) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const [a, b] = [heap[i], heap[parent]];
    if (a === undefined || b === undefined || b.rank <= a.rank) return;
    heap[i] = b;
    heap[parent] = a;
    i = parent;
  }
}

function pop(heap: { cell: number; rank: number }[]): { cell: number; rank: number } | null {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined) return null;
  if (heap.length === 0) return top;
  heap[0] = last;
  for (let i = 0; ; ) {
    const left = 2 * i + 1;
    const right = left + 1;
    const rank = (k: number) => heap[k]?.rank ?? Number.POSITIVE_INFINITY;
    const least = rank(left) <= rank(right) ? left : right;
    const [a, b] = [heap[i], heap[least]];
    if (a === undefined || b === undefined || b.rank >= a.rank) return top;
    heap[i] = b;
    heap[least] = a;
    i = least;
  }
}
