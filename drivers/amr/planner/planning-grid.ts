import { COST_FREE, COST_INSCRIBED, COST_MAX_FREE, COST_UNKNOWN, inflatedCost } from '../costmap/costs.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { PlanningMap } from '../costmap/static-costmap.js';

/** Blocks of this many cells squared make the coarse grid. */
const BLOCK = 4;

export const LINK_RIGHT = 1;
export const LINK_UP = 2;

/**
 * The costs one plan runs on: the map's, with the clearance of live obstacles laid over it. Beside every cell's
 * cost it keeps a summary of each block of cells, for the coarse search that guides the fine one.
 */
export class PlanningGrid {
  readonly frame: GridFrame;
  readonly width: number;
  readonly height: number;
  readonly cost: Uint8Array;
  readonly block = BLOCK;
  readonly blocksWide: number;
  readonly blocksHigh: number;
  /** The lowest cost in each block. */
  readonly blockCost: Uint8Array;
  /** Whether free cells of a block touch free cells of the next one to the right (`LINK_RIGHT`), above (`LINK_UP`). */
  readonly links: Uint8Array;
  readonly #base: Uint8Array;
  readonly #stamp: { dx: number; dy: number; cost: number }[];
  /** Cells and blocks that differ from the map's. */
  #changed: number[] = [];
  #changedBlocks = new Set<number>();

  constructor(readonly map: PlanningMap) {
    this.frame = new GridFrame(map.geometry);
    this.width = map.geometry.width;
    this.height = map.geometry.height;
    this.#base = map.cost;
    this.cost = new Uint8Array(map.cost);
    this.blocksWide = Math.ceil(this.width / BLOCK);
    this.blocksHigh = Math.ceil(this.height / BLOCK);
    this.blockCost = new Uint8Array(this.blocksWide * this.blocksHigh);
    this.links = new Uint8Array(this.blockCost.length);
    for (let b = 0; b < this.blockCost.length; b++) this.#summarise(b);
    this.#stamp = inflationStamp(map);
  }

  /** Lays obstacles (cell indices) over the map, in place of those of the last call. */
  setLive(cells: Int32Array): void {
    for (const i of this.#changed) this.cost[i] = this.#base[i] ?? COST_UNKNOWN;
    const stale = this.#changedBlocks;
    this.#changed = [];
    this.#changedBlocks = new Set();
    for (const cell of cells) this.#layDown(cell);
    for (const b of this.#changedBlocks) stale.add(b);
    for (const b of stale) this.#summarise(b);
  }

  blocked(index: number): boolean {
    return (this.cost[index] ?? COST_UNKNOWN) >= COST_INSCRIBED;
  }

  /** Free in the map, whatever live obstacles say. */
  freeInMap(index: number): boolean {
    return (this.#base[index] ?? COST_UNKNOWN) < COST_INSCRIBED;
  }

  #layDown(cell: number): void {
    if (cell < 0 || cell >= this.cost.length) return;
    const cx = cell % this.width;
    const cy = (cell - cx) / this.width;
    for (const { dx, dy, cost } of this.#stamp) {
      const i = this.frame.indexOf(cx + dx, cy + dy);
      if (i < 0 || (this.cost[i] ?? COST_UNKNOWN) >= cost) continue;
      this.cost[i] = cost;
      this.#changed.push(i);
      this.#markBlock(Math.floor((cx + dx) / BLOCK), Math.floor((cy + dy) / BLOCK));
    }
  }

  /** A block's links also hang on its neighbours to the right and above. */
  #markBlock(bx: number, by: number): void {
    const b = by * this.blocksWide + bx;
    this.#changedBlocks.add(b);
    if (bx > 0) this.#changedBlocks.add(b - 1);
    if (by > 0) this.#changedBlocks.add(b - this.blocksWide);
  }

  #summarise(block: number): void {
    const { width, height, cost } = this;
    const bx = block % this.blocksWide;
    const x0 = bx * BLOCK;
    const y0 = ((block - bx) / this.blocksWide) * BLOCK;
    const x1 = Math.min(x0 + BLOCK, width);
    const y1 = Math.min(y0 + BLOCK, height);
    let lowest = COST_UNKNOWN;
    let links = 0;
    for (let y = y0; y < y1; y++) {
      for (let x = x0, i = y * width + x0; x < x1; x++, i++)
        lowest = Math.min(lowest, cost[i] ?? COST_UNKNOWN);
      const edge = y * width + x1 - 1;
      if (x1 < width && (cost[edge] ?? 255) < COST_INSCRIBED && (cost[edge + 1] ?? 255) < COST_INSCRIBED) {
        links |= LINK_RIGHT;
      }
    }
    for (let x = x0, i = (y1 - 1) * width + x0; y1 < height && x < x1; x++, i++) {
      if ((cost[i] ?? 255) < COST_INSCRIBED && (cost[i + width] ?? 255) < COST_INSCRIBED) links |= LINK_UP;
    }
    this.blockCost[block] = lowest;
    this.links[block] = links;
  }
}

/** What one obstacle cell adds around itself. */
function inflationStamp(map: PlanningMap): { dx: number; dy: number; cost: number }[] {
  const { resolution } = map.geometry;
  const reach = Math.ceil(map.inflation.inflationRadius / resolution) + 1;
  const stamp: { dx: number; dy: number; cost: number }[] = [];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const cells = Math.hypot(dx, dy);
      const distance = cells === 0 ? 0 : (cells - 0.5) * resolution;
      const cost = inflatedCost(distance, map.inflation);
      if (cost > COST_FREE) stamp.push({ dx, dy, cost });
    }
  }
  return stamp;
}

/**
 * What one cell of way costs, by the cell's cost byte: 1 in the open, up to `1 + weight` along obstacles,
 * `Infinity` where the robot cannot be.
 */
export function stepCosts(weight: number): Float64Array {
  const table = new Float64Array(256).fill(Number.POSITIVE_INFINITY);
  for (let c = 0; c <= COST_MAX_FREE; c++) table[c] = 1 + (weight * c) / COST_MAX_FREE;
  return table;
}
