import { COST_MAX_FREE } from '../costmap/costs.js';
import { BucketQueue } from './bucket-queue.js';
import { CoarseSearch } from './coarse-search.js';
import type { PlanningGrid } from './planning-grid.js';

/** The heuristic counts a little more than it is worth, and no cell is looked at twice: a few percent of cost for speed. */
const GREED = 1.02;

/** Fractions of a cell that the queue tells apart, and cells of way that it holds at once, many times what it has to. */
const QUEUE_SCALE = 8;
const QUEUE_SPAN = 1024 * QUEUE_SCALE;
const DIAGONAL_EXTRA = Math.SQRT2 - 1;

const DX = [1, 0, -1, 0, 1, -1, -1, 1];
const DY = [0, 1, 0, -1, 1, 1, -1, -1];

/**
 * A* on the eight-connected grid, guided by `CoarseSearch`. Scratch arrays (7 bytes a cell) are kept between
 * plans and told apart by a generation number instead of being cleared.
 */
export class GridSearch {
  readonly #coarse: CoarseSearch;
  readonly #g: Float32Array;
  /** The neighbour direction each cell was reached by. */
  readonly #from: Uint8Array;
  readonly #seen: Uint16Array;
  #generation = 0;
  readonly #open: BucketQueue;
  /** What is left of the way from each block, at least, in the running search. */
  readonly #bounds: Float32Array;
  /** Cells taken from the queue by the last search. */
  expanded = 0;

  constructor(
    readonly grid: PlanningGrid,
    readonly costs: Float64Array,
  ) {
    const size = grid.cost.length;
    this.#coarse = new CoarseSearch(grid, costs);
    this.#g = new Float32Array(size);
    this.#from = new Uint8Array(size);
    this.#seen = new Uint16Array(size);
    this.#bounds = new Float32Array(grid.blockCost.length);
    this.#open = new BucketQueue(QUEUE_SPAN);
  }

  /** Cell indices from `start` to `goal`, both free, or null when there is no way. */
  search(start: number, goal: number): number[] | null {
    this.expanded = 0;
    if (!this.#coarse.run(this.#blockOf(goal), this.#blockOf(start))) return null;
    return this.#fineSearch(start, goal) ? this.#backtrack(start, goal) : null;
  }

  #blockOf(cell: number): number {
    const { width, block, blocksWide } = this.grid;
    const x = cell % width;
    return Math.floor((cell - x) / width / block) * blocksWide + Math.floor(x / block);
  }

  #fineSearch(start: number, goal: number): boolean {
    const { width, height, cost, block, blocksWide } = this.grid;
    const { costs } = this;
    const g = this.#g;
    const from = this.#from;
    const seen = this.#seen;
    const open = this.#open;
    const bounds = this.#bounds;
    const generation = this.#nextGeneration();
    const closed = generation + 1;
    const shift = Math.log2(block);
    const gx = goal % width;
    const gy = (goal - gx) / width;
    this.#coarse.lowerBounds(bounds);
    /** Cells of way left, at least: the larger of the straight (octile) way and the coarse distance. */
    const estimate = (x: number, y: number): number => {
      const dx = Math.abs(x - gx);
      const dy = Math.abs(y - gy);
      const octile = dx > dy ? dx + DIAGONAL_EXTRA * dy : dy + DIAGONAL_EXTRA * dx;
      return GREED * Math.max(bounds[(y >> shift) * blocksWide + (x >> shift)] ?? 0, octile);
    };
    const startX = start % width;
    const first = Math.round(estimate(startX, (start - startX) / width) * QUEUE_SCALE);
    open.clear();
    g[start] = 0;
    seen[start] = generation;
    open.push(first, start);
    for (let cell = open.pop(); cell >= 0; cell = open.pop()) {
      if (cell === goal) return true;
      if (seen[cell] === closed) continue;
      seen[cell] = closed;
      this.expanded++;
      const x = cell % width;
      const y = (cell - x) / width;
      const reached = g[cell] ?? 0;
      for (let k = 0; k < 8; k++) {
        const dx = DX[k] ?? 0;
        const dy = DY[k] ?? 0;
        const nx = x + dx;
        const ny = y + dy;
        if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
        const next = ny * width + nx;
        const mark = seen[next] ?? 0;
        if (mark === closed) continue;
        const step = costs[cost[next] ?? 255] ?? Number.POSITIVE_INFINITY;
        if (step === Number.POSITIVE_INFINITY) continue;
        let through = reached + step;
        if (k >= 4) {
          // No cutting of corners: both cells beside a diagonal step must be free as well.
          if ((cost[cell + dx] ?? 255) > COST_MAX_FREE) continue;
          if ((cost[next - dx] ?? 255) > COST_MAX_FREE) continue;
          through = reached + step * Math.SQRT2;
        }
        if (mark === generation && through >= (g[next] ?? 0)) continue;
        g[next] = through;
        from[next] = k;
        seen[next] = generation;
        open.push(Math.round((through + estimate(nx, ny)) * QUEUE_SCALE), next);
      }
    }
    return false;
  }

  #backtrack(start: number, goal: number): number[] {
    const { width } = this.grid;
    const cells = [goal];
    for (let cell = goal; cell !== start; ) {
      const k = this.#from[cell] ?? 0;
      cell -= (DX[k] ?? 0) + (DY[k] ?? 0) * width;
      cells.push(cell);
    }
    return cells.reverse();
  }

  /** Two numbers per search: open and closed. */
  #nextGeneration(): number {
    this.#generation += 2;
    if (this.#generation > 65_000) {
      this.#seen.fill(0);
      this.#generation = 2;
    }
    return this.#generation;
  }
}
