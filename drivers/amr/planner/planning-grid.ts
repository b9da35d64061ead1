import { COST_FREE, COST_INSCRIBED, COST_MAX_FREE, COST_UNKNOWN, inflatedCost } from '../costmap/costs.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { PlanningMap } from '../costmap/planning-map.js';

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
  readonly #stamp: Stamp;
  readonly #personStamp: Stamp;
  /** Cells laid over the map at present. */
  #live: readonly { cell: number; stamp: Stamp }[] = [];
  /** 1 for blocks whose summary is out of date. */
  readonly #dirty: Uint8Array;

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
    this.#dirty = new Uint8Array(this.blockCost.length);
    for (let b = 0; b < this.blockCost.length; b++) this.#summarise(b);
    this.#stamp = inflationStamp(map);
    this.#personStamp = personStamp(map.geometry.resolution);
  }

  /** Lays obstacles and the room of people (cell indices) over the map, in place of those of the last call. */
  setLive(cells: Int32Array, people: Int32Array = NOBODY): void {
    const touched: number[] = [];
    for (const { cell, stamp } of this.#live) this.#restore(cell, stamp, touched);
    const onMap = (stamp: Stamp) => (cell: number) =>
      cell >= 0 && cell < this.cost.length ? [{ cell, stamp }] : [];
    this.#live = [
      ...Array.from(cells).flatMap(onMap(this.#stamp)),
      ...Array.from(people).flatMap(onMap(this.#personStamp)),
    ];
    for (const { cell, stamp } of this.#live) this.#layDown(cell, stamp, touched);
    for (const block of touched) {
      this.#summarise(block);
      this.#dirty[block] = 0;
    }
  }

  blocked(index: number): boolean {
    return (this.cost[index] ?? COST_UNKNOWN) >= COST_INSCRIBED;
  }

  /** Free in the map, whatever live obstacles say. */
  freeInMap(index: number): boolean {
    return (this.#base[index] ?? COST_UNKNOWN) < COST_INSCRIBED;
  }

  #restore(cell: number, { reach }: Stamp, touched: number[]): void {
    const box = this.#boxOf(cell, reach);
    for (let y = box.y0; y <= box.y1; y++) {
      const from = y * this.width + box.x0;
      this.cost.set(this.#base.subarray(from, from + box.x1 - box.x0 + 1), from);
    }
    this.#touch(box, touched);
  }

  #layDown(cell: number, { reach, side, costs }: Stamp, touched: number[]): void {
    const { width, cost } = this;
    const box = this.#boxOf(cell, reach);
    const cx = cell % width;
    const cy = (cell - cx) / width;
    for (let y = box.y0; y <= box.y1; y++) {
      let k = (y - cy + reach) * side + box.x0 - cx + reach;
      for (let i = y * width + box.x0, last = y * width + box.x1; i <= last; i++, k++) {
        const added = costs[k] ?? COST_FREE;
        if (added > (cost[i] ?? COST_UNKNOWN)) cost[i] = added;
      }
    }
    this.#touch(box, touched);
  }

  /** The cells an obstacle's clearance may change. */
  #boxOf(cell: number, reach: number): Box {
    const x = cell % this.width;
    const y = (cell - x) / this.width;
    return {
      x0: Math.max(0, x - reach),
      y0: Math.max(0, y - reach),
      x1: Math.min(this.width - 1, x + reach),
      y1: Math.min(this.height - 1, y + reach),
    };
  }

  /** Notes the blocks of a box, and those to the left and below, whose links hang on them. */
  #touch(box: Box, touched: number[]): void {
    const [bx0, by0] = [
      Math.max(0, Math.floor(box.x0 / BLOCK) - 1),
      Math.max(0, Math.floor(box.y0 / BLOCK) - 1),
    ];
    const [bx1, by1] = [Math.floor(box.x1 / BLOCK), Math.floor(box.y1 / BLOCK)];
    for (let by = by0; by <= by1; by++) {
      for (let b = by * this.blocksWide + bx0, last = by * this.blocksWide + bx1; b <= last; b++) {
        if (this.#dirty[b] === 1) continue;
        this.#dirty[b] = 1;
        touched.push(b);
      }
    }
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

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** What one obstacle cell adds around itself: a square of `side` = 2 · `reach` + 1 cells, row by row. */
interface Stamp {
  reach: number;
  side: number;
  costs: Uint8Array;
}

const NOBODY = new Int32Array(0);
/** Round a person, m: the cost falls from here to nothing, and never closes ground. */
const PERSON = { from: 0.25, to: 0.95, cost: 220 } as const;

function personStamp(resolution: number): Stamp {
  const reach = Math.ceil(PERSON.to / resolution);
  const side = 2 * reach + 1;
  const costs = new Uint8Array(side * side);
  for (let k = 0; k < costs.length; k++) {
    const metres = Math.hypot((k % side) - reach, Math.floor(k / side) - reach) * resolution;
    const share = Math.min(1, Math.max(0, (PERSON.to - metres) / (PERSON.to - PERSON.from)));
    costs[k] = Math.round(PERSON.cost * share);
  }
  return { reach, side, costs };
}

function inflationStamp(map: PlanningMap): Stamp {
  const { resolution } = map.geometry;
  const reach = Math.ceil(map.inflation.inflationRadius / resolution) + 1;
  const side = 2 * reach + 1;
  const costs = new Uint8Array(side * side);
  for (let k = 0; k < costs.length; k++) {
    const cells = Math.hypot((k % side) - reach, Math.floor(k / side) - reach);
    costs[k] = inflatedCost(cells === 0 ? 0 : (cells - 0.5) * resolution, map.inflation);
  }
  return { reach, side, costs };
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
