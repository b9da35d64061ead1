import type { Point } from '../../../config/contracts/geometry.js';
import type { GridFrame } from './grid-frame.js';

export interface LiveLayerParams {
  /** Scans that must have hit a cell before it counts. */
  confirmAfter: number;
  /** A cell that is neither hit nor seen through is forgotten after this long, ms. */
  forgetAfterMs: number;
  /** Cells remembered at once; more are not taken in. */
  maxCells: number;
}

export const DEFAULT_LIVE_LAYER: LiveLayerParams = {
  confirmAfter: 3,
  forgetAfterMs: 20_000,
  maxCells: 20_000,
};

/** Hits beyond this do not make a cell last longer when it is seen through. */
const MAX_LEVEL = 6;

interface Mark {
  level: number;
  hitAt: number;
  /** Number of the scan that last hit it: one scan counts once. */
  scan: number;
}

/**
 * Obstacles that the lidar sees and the map does not have, apart from the map's own layer. Hits mark cells, rays
 * that pass through clear them, and what is out of sight fades. Cells are row-major indices of the map's grid.
 */
export class LiveLayer {
  readonly #frame: GridFrame;
  readonly #params: LiveLayerParams;
  readonly #marks = new Map<number, Mark>();
  /** 1 where there is a mark: rays pass through far more cells than ever hold one. */
  readonly #marked: Uint8Array;
  #scan = 0;
  /** Hits that found no room. */
  dropped = 0;

  constructor(frame: GridFrame, params: LiveLayerParams = DEFAULT_LIVE_LAYER) {
    this.#frame = frame;
    this.#params = params;
    this.#marked = new Uint8Array(frame.width * frame.height);
  }

  /**
   * Takes in one scan, in the `map` frame: where the sensor was, the end of every ray that hit something, and
   * which of those ends (same index) are not explained by the map. `mono`: ms.
   */
  update(sensor: Point, ends: readonly Point[], isNew: readonly boolean[], mono: number): void {
    this.#scan++;
    if (this.#marks.size > 0) for (const end of ends) this.#clearRay(sensor, end);
    for (const [i, end] of ends.entries()) if (isNew[i] === true) this.#hit(end, mono);
    for (const [cell, mark] of this.#marks) {
      if (mono - mark.hitAt > this.#params.forgetAfterMs) this.#forget(cell);
    }
  }

  /** Forgets what lies within `radius` metres: where the robot stands nothing else can be. */
  clearAround(centre: Point, radius: number): void {
    for (const cell of this.#marks.keys()) {
      const c = this.#frame.centreOf(cell);
      if (Math.hypot(c.x - centre.x, c.y - centre.y) < radius) this.#forget(cell);
    }
  }

  clear(): void {
    this.#marks.clear();
    this.#marked.fill(0);
  }

  /** Cells that count as obstacles. */
  cells(): Int32Array {
    const out: number[] = [];
    for (const [cell, mark] of this.#marks) if (mark.level >= this.#params.confirmAfter) out.push(cell);
    return Int32Array.from(out);
  }

  /** Centres of those cells in the `map` frame. */
  points(): Point[] {
    return Array.from(this.cells(), (cell) => this.#frame.centreOf(cell));
  }

  get size(): number {
    return this.#marks.size;
  }

  #hit(end: Point, mono: number): void {
    const cell = this.#frame.indexAt(end);
    if (cell < 0) return;
    const mark = this.#marks.get(cell);
    if (mark === undefined) {
      if (this.#marks.size >= this.#params.maxCells) this.dropped++;
      else {
        this.#marks.set(cell, { level: 1, hitAt: mono, scan: this.#scan });
        this.#marked[cell] = 1;
      }
      return;
    }
    mark.hitAt = mono;
    if (mark.scan === this.#scan) return;
    mark.scan = this.#scan;
    mark.level = Math.min(MAX_LEVEL, mark.level + 1);
  }

  #forget(cell: number): void {
    this.#marks.delete(cell);
    this.#marked[cell] = 0;
  }

  /** Lowers what the ray passes through, stopping a cell and a half short of its end. */
  #clearRay(from: Point, to: Point): void {
    const a = this.#frame.toGrid(from);
    const b = this.#frame.toGrid(to);
    // Not `Math.hypot`, which is slow: this runs for every ray.
    const length = Math.sqrt((b.x - a.x) ** 2 + (b.y - a.y) ** 2);
    const dx = (b.x - a.x) / length;
    const dy = (b.y - a.y) / length;
    for (let k = 0; k <= length - 1.5; k++) {
      const cell = this.#frame.indexOf(Math.floor(a.x + dx * k), Math.floor(a.y + dy * k));
      if (cell >= 0 && this.#marked[cell] === 1) this.#seenThrough(cell);
    }
  }

  #seenThrough(cell: number): void {
    const mark = this.#marks.get(cell);
    if (mark === undefined || mark.scan === this.#scan) return;
    mark.scan = this.#scan;
    mark.level--;
    if (mark.level <= 0) this.#forget(cell);
  }
}
