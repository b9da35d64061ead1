import { COARSE_SCALE, CoarseSearch } from './coarse-search.js';
import { OpenHeap } from './open-heap.js';
import type { PlanningGrid } from './planning-grid.js';

/** The heuristic counts a little more than it is worth: paths stay within this factor of the cheapest. */
const GREED = 1.02;

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
  readonly #open = new OpenHeap();
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
    const { width, cost } = this.grid;
    const size = cost.length;
    const { costs } = this;
    const g = this.#g;
    const from = this.#from;
    const seen = this.#seen;
    const open = this.#open;
    const generation = this.#nextGeneration();
    const estimate = this.#heuristic(goal);
    open.clear();
    g[start] = 0;
    seen[start] = generation;
    open.push(estimate(start), start);
    const closed = generation + 1;
    while (open.size > 0) {
      const cell = open.pop();
      if (cell === goal) return true;
      if (seen[cell] === closed) continue;
      seen[cell] = closed;
      this.expanded++;
      const x = cell % width;
      const reached = g[cell] ?? 0;
      for (let k = 0; k < 8; k++) {
        const dx = DX[k] ?? 0;
        const nx = x + dx;
        if (nx < 0 || nx >= width) continue;
        const up = (DY[k] ?? 0) * width;
        const next = cell + dx + up;
        if (next < 0 || next >= size) continue;
        const step = costs[cost[next] ?? 255] ?? Number.POSITIVE_INFINITY;
        if (step === Number.POSITIVE_INFINITY) continue;
        let through = reached;
        if (k < 4) through += step;
        else {
          // No cutting of corners: both cells beside a diagonal step must be free as well.
          if ((cost[cell + dx] ?? 255) > 252 || (cost[cell + up] ?? 255) > 252) continue;
          through += step * Math.SQRT2;
        }
        const mark = seen[next] ?? 0;
        if (mark === closed || (mark === generation && through >= (g[next] ?? 0))) continue;
        g[next] = through;
        from[next] = k;
        seen[next] = generation;
        open.push(through + estimate(next), next);
      }
    }
    return false;
  }

  /** Cells of way left, at least: the larger of the straight (octile) way and the coarse distance. */
  #heuristic(goal: number): (cell: number) => number {
    const { width, block, blocksWide } = this.grid;
    const { distances, frontier } = this.#coarse;
    const gx = goal % width;
    const gy = Math.floor(goal / width);
    // A block path may be longer than the true one by its first and last block.
    const slack = 2 * block;
    const shift = Math.log2(block);
    return (cell) => {
      const y = (cell / width) | 0;
      const x = cell - y * width;
      const dx = Math.abs(x - gx);
      const dy = Math.abs(y - gy);
      const octile = dx > dy ? dx + 0.41421356 * dy : dy + 0.41421356 * dx;
      const d = distances[(y >> shift) * blocksWide + (x >> shift)] ?? 0;
      const coarse = Math.min(d, frontier) / COARSE_SCALE - slack;
      return GREED * Math.max(coarse, octile);
    };
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
