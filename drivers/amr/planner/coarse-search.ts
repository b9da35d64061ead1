import { BucketQueue } from './bucket-queue.js';
import { LINK_RIGHT, LINK_UP, type PlanningGrid } from './planning-grid.js';

/** Distances are integers in 1/8 cell, which lets a bucket queue order them. */
const SCALE = 8;
const UNSEEN = 0x7fffffff;

/**
 * Dijkstra over blocks of cells, outwards from the goal. Each block counts as cheap as its cheapest cell, so that
 * the distances, less a little for the block lattice, do not exceed the true ones: the heuristic of the fine
 * search. It knows walls and dead ends, which a straight line does not, and costs a sixteenth of a full search.
 */
export class CoarseSearch {
  readonly #dist: Int32Array;
  readonly #step: Int32Array;
  readonly #grid: PlanningGrid;
  readonly #queue: BucketQueue;
  /** Everything not settled is at least this far, in 1/8 cell. */
  #frontier = 0;

  constructor(grid: PlanningGrid, costs: Float64Array) {
    this.#grid = grid;
    this.#dist = new Int32Array(grid.blockCost.length);
    this.#step = Int32Array.from(costs, (c) =>
      Number.isFinite(c) ? Math.round(c * grid.block * SCALE) : UNSEEN,
    );
    const longest = this.#step.reduce((a, b) => (b === UNSEEN ? a : Math.max(a, b)), 0);
    this.#queue = new BucketQueue(Math.ceil(longest * Math.SQRT2) + 2);
  }

  /** Spreads from the goal's block until the start's is reached and a margin beyond. False when it never is. */
  run(goal: number, start: number): boolean {
    const { blockCost, blocksWide } = this.#grid;
    const dist = this.#dist;
    const step = this.#step;
    const queue = this.#queue;
    dist.fill(UNSEEN);
    queue.clear();
    dist[goal] = 0;
    queue.push(0, goal);
    let stopAt = UNSEEN;
    for (let node = queue.pop(); node >= 0; node = queue.pop()) {
      const d = dist[node] ?? 0;
      if (queue.distance > d) continue;
      if (d > stopAt) break;
      // The fine search looks a little beyond the best path; what it then meets shall have a good estimate.
      if (node === start) stopAt = d + 12 * this.#grid.block * SCALE;
      const ways = this.#waysOut(node);
      for (let k = 0; k < 8; k++) {
        if ((ways & (1 << k)) === 0) continue;
        const next = node + (DX[k] ?? 0) + (DY[k] ?? 0) * blocksWide;
        const length = step[blockCost[next] ?? 255] ?? UNSEEN;
        const through = d + (k < 4 ? length : Math.round(length * Math.SQRT2));
        if (through < (dist[next] ?? UNSEEN)) {
          dist[next] = through;
          queue.push(through, next);
        }
      }
    }
    this.#frontier = Math.min(stopAt, queue.distance);
    return (dist[start] ?? UNSEEN) !== UNSEEN;
  }

  /**
   * The neighbours (bit k: `DX[k]`, `DY[k]`) that can be entered from a block. A diagonal one can when one of the
   * two ways round the corner is linked: a fine diagonal step needs both cells beside it free, so it has that link.
   */
  #waysOut(b: number): number {
    const { links, blocksWide } = this.#grid;
    const up = b + blocksWide;
    const down = b - blocksWide;
    const here = links[b] ?? 0;
    const right = here & LINK_RIGHT;
    const above = here & LINK_UP;
    const left = b % blocksWide === 0 ? 0 : (links[b - 1] ?? 0) & LINK_RIGHT;
    const below = (links[down] ?? 0) & LINK_UP;
    let ways = 0;
    if (right) ways |= 1;
    if (left) ways |= 2;
    if (above) ways |= 4;
    if (below) ways |= 8;
    const upAt = (c: number) => (links[c] ?? 0) & LINK_UP;
    const rightAt = (c: number) => (links[c] ?? 0) & LINK_RIGHT;
    if ((right && upAt(b + 1)) || (above && rightAt(up))) ways |= 16;
    if ((right && upAt(down + 1)) || (below && rightAt(down))) ways |= 32;
    if ((left && upAt(b - 1)) || (above && rightAt(up - 1))) ways |= 64;
    if ((left && upAt(down - 1)) || (below && rightAt(down - 1))) ways |= 128;
    return ways;
  }

  /** Fills `bounds` with the cells of way left from each block to the goal, at least. */
  lowerBounds(bounds: Float32Array): void {
    const dist = this.#dist;
    // A block path may be longer than the true one by its first and last block.
    const slack = 2 * this.#grid.block;
    for (let b = 0; b < bounds.length; b++) {
      bounds[b] = Math.min(dist[b] ?? 0, this.#frontier) / SCALE - slack;
    }
  }
}

const DX = [1, -1, 0, 0, 1, 1, -1, -1];
const DY = [0, 0, 1, -1, 1, -1, 1, -1];
