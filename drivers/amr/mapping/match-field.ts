import type { Pose } from '../../../config/contracts/geometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';

/** Levels of the pyramid: the coarsest looks at 2^LEVELS cells at once. */
const LEVELS = 4;
/** Blur reaches this many standard deviations. */
const REACH = 2.5;
/** Steps of squared distance in the table of the blur. */
const TABLE = 256;

/**
 * How likely a point of a scan is at each place, from points seen before: 255 on a wall, falling off like a Gaussian.
 * `coarse(k)` holds for each cell the highest value of the 2^k × 2^k cells from it up and to the right, so that one
 * look bounds what a whole square of shifts could reach.
 */
export class MatchField {
  readonly width: number;
  readonly height: number;
  readonly resolution: number;
  readonly originX: number;
  readonly originY: number;
  readonly cells: Uint8Array;
  readonly #coarse: (Uint8Array | null)[] = [];
  readonly #radius: number;
  readonly #blur: Uint8Array;
  readonly #perSquare: number;

  /** `centre` in the frame of the points that are added; `half`: half of the field's side, m. */
  constructor(centre: { x: number; y: number }, half: number, resolution: number, sigma: number) {
    const side = Math.max(1, Math.ceil((2 * half) / resolution));
    this.width = side;
    this.height = side;
    this.resolution = resolution;
    this.originX = centre.x - (side * resolution) / 2;
    this.originY = centre.y - (side * resolution) / 2;
    this.cells = new Uint8Array(side * side);
    this.#radius = Math.ceil((REACH * sigma) / resolution);
    // In cells², to the far corner of the blur.
    const farthest = 2 * (this.#radius + 1) ** 2;
    this.#perSquare = TABLE / farthest;
    const spread = sigma / resolution;
    this.#blur = Uint8Array.from({ length: TABLE + 1 }, (_, i) =>
      Math.round(255 * Math.exp(-(i / this.#perSquare) / (2 * spread * spread))),
    );
  }

  add(points: ScanPoints, pose: Pose): void {
    this.#coarse.length = 0;
    const cos = Math.cos(pose.theta);
    const sin = Math.sin(pose.theta);
    for (let i = 0; i < points.count; i++) {
      const px = points.x[i] ?? 0;
      const py = points.y[i] ?? 0;
      const gx = (pose.x + cos * px - sin * py - this.originX) / this.resolution;
      const gy = (pose.y + sin * px + cos * py - this.originY) / this.resolution;
      this.#stamp(gx, gy);
    }
  }

  #stamp(gx: number, gy: number): void {
    const r = this.#radius;
    const left = Math.max(0, Math.floor(gx) - r);
    const right = Math.min(this.width - 1, Math.floor(gx) + r);
    const top = Math.min(this.height - 1, Math.floor(gy) + r);
    for (let y = Math.max(0, Math.floor(gy) - r); y <= top; y++) {
      const dy = y + 0.5 - gy;
      for (let x = left; x <= right; x++) {
        const dx = x + 0.5 - gx;
        const value = this.#blur[Math.round((dx * dx + dy * dy) * this.#perSquare)] ?? 0;
        const at = y * this.width + x;
        if (value > (this.cells[at] ?? 0)) this.cells[at] = value;
      }
    }
  }

  get levels(): number {
    return LEVELS;
  }

  coarse(level: number): Uint8Array {
    if (level === 0) return this.cells;
    const known = this.#coarse[level];
    if (known !== undefined && known !== null) return known;
    const made = this.#pooled(this.coarse(level - 1), 1 << (level - 1));
    this.#coarse[level] = made;
    return made;
  }

  #pooled(finer: Uint8Array, step: number): Uint8Array {
    const { width, height } = this;
    const pooled = new Uint8Array(finer.length);
    for (let y = 0; y < height; y++) {
      const above = y + step < height ? step * width : 0;
      for (let x = 0; x < width; x++) {
        const at = y * width + x;
        const beside = x + step < width ? step : 0;
        pooled[at] = Math.max(
          finer[at] ?? 0,
          finer[at + beside] ?? 0,
          finer[at + above] ?? 0,
          finer[at + above + beside] ?? 0,
        );
      }
    }
    return pooled;
  }
}
