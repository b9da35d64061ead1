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
  #queue: BucketQueue;
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
    for (let entry = queue.pop(); entry >= 0; entry = queue.pop()) {
      const node = queue.nodeOf(entry);
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

  /** For `lowerBound`: distances per block in 1/8 cell, and what to take where they are larger than that. */
  get distances(): Int32Array {
    return this.#dist;
  }
  get frontier(): number {
    return this.#frontier;
  }
}

export const COARSE_SCALE = SCALE;

const DX = [1, -1, 0, 0, 1, 1, -1, -1];
const DY = [0, 0, 1, -1, 1, -1, 1, -1];

/** A monotone priority queue over integers that differ by less than `span`: a ring of linked lists. */
class BucketQueue {
  readonly #head: Int32Array;
  #next = new Int32Array(4096);
  #node = new Int32Array(4096);
  #used = 0;
  #queued = 0;
  distance = 0;

  constructor(readonly span: number) {
    this.#head = new Int32Array(span).fill(-1);
  }

  clear(): void {
    this.#head.fill(-1);
    this.#used = 0;
    this.#queued = 0;
    this.distance = 0;
  }

  push(distance: number, node: number): void {
    if (this.#used === this.#next.length) this.#grow();
    const entry = this.#used++;
    const slot = distance % this.span;
    this.#node[entry] = node;
    this.#next[entry] = this.#head[slot] ?? -1;
    this.#head[slot] = entry;
    this.#queued++;
  }

  /** An entry with the smallest distance (then in `distance`), or −1. */
  pop(): number {
    if (this.#queued === 0) return -1;
    let slot = this.distance % this.span;
    while ((this.#head[slot] ?? -1) < 0) {
      this.distance++;
      slot = slot + 1 === this.span ? 0 : slot + 1;
    }
    const entry = this.#head[slot] ?? -1;
    this.#head[slot] = this.#next[entry] ?? -1;
    this.#queued--;
    return entry;
  }

  nodeOf(entry: number): number {
    return this.#node[entry] ?? 0;
  }

  #grow(): void {
    const next = new Int32Array(this.#next.length * 2);
    next.set(this.#next);
    this.#next = next;
    const node = new Int32Array(this.#node.length * 2);
    node.set(this.#node);
    this.#node = node;
  }
}
