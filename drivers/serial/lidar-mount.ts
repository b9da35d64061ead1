/**
 * How a lidar sits on the robot, and its points in fixed bins of a full turn in `base_link`: turned, off the middle,
 * upside down, and with sectors in which it sees nothing but the robot's own posts. Every device here counts its
 * angles clockwise, seen from the side of its head; `base_link` counts counter-clockwise from ahead.
 */

export interface LidarMount {
  /** Place of the head in `base_link`, m. */
  x: number;
  y: number;
  /** Direction of the device's front in `base_link`, rad, counter-clockwise. */
  yaw: number;
  /** Head down: its clockwise is counter-clockwise seen from above. */
  inverted: boolean;
  /** Sectors of which nothing is believed, rad, counter-clockwise from `from` to `to`, around the head in the robot's axes. */
  masks: readonly { from: number; to: number }[];
}

/** In the middle, upright, facing ahead. */
export const CENTRED: LidarMount = { x: 0, y: 0, yaw: 0, inverted: false, masks: [] };

export interface ScanBinsOptions {
  /** Bins of a full turn; bin `i` is at −π + i · 2π / bins. */
  bins: number;
  mount: LidarMount;
  /** In how many steps the device divides a turn. */
  stepsPerTurn: number;
}

const TURN = 2 * Math.PI;

export class ScanBins {
  readonly #ranges: Float64Array;
  readonly #masked: Uint8Array | null;
  readonly #bins: number;
  /** Position of the device's angle 0 in bins, and bins for one of its steps. */
  readonly #zeroBin: number;
  readonly #binsPerStep: number;
  readonly #offset: { x: number; y: number } | null;

  constructor({ bins, mount, stepsPerTurn }: ScanBinsOptions) {
    this.#bins = bins;
    this.#ranges = new Float64Array(bins).fill(Number.NaN);
    this.#zeroBin = ((mount.yaw + Math.PI) / TURN) * bins;
    this.#binsPerStep = ((mount.inverted ? -1 : 1) * bins) / stepsPerTurn;
    this.#masked = maskedBins(mount, bins);
    this.#offset = mount.x === 0 && mount.y === 0 ? null : { x: mount.x, y: mount.y };
  }

  /** Takes what came back at `angle` (the device's steps) from `range` metres. */
  put(angle: number, range: number): void {
    const bin = this.#wrapped(Math.round(this.#zeroBin - angle * this.#binsPerStep));
    if (this.#masked?.[bin] === 1) return;
    if (this.#offset === null) this.#keep(bin, range);
    else this.#putMoved(angle, range, this.#offset);
  }

  /** As seen from the middle of the robot instead of from the head. */
  #putMoved(angle: number, range: number, offset: { x: number; y: number }): void {
    const bearing = ((this.#zeroBin - angle * this.#binsPerStep) / this.#bins) * TURN - Math.PI;
    const x = offset.x + range * Math.cos(bearing);
    const y = offset.y + range * Math.sin(bearing);
    const seen = ((Math.atan2(y, x) + Math.PI) / TURN) * this.#bins;
    this.#keep(this.#wrapped(Math.round(seen)), Math.hypot(x, y));
  }

  /** The turn so far, NaN where nothing was seen; starts a new one. */
  take(): number[] {
    const ranges = Array.from(this.#ranges);
    this.reset();
    return ranges;
  }

  reset(): void {
    this.#ranges.fill(Number.NaN);
  }

  /** Where two points share a bin the nearer one stands: an obstacle's edge must not vanish behind it. */
  #keep(bin: number, range: number): void {
    const known = this.#ranges[bin] ?? Number.NaN;
    if (!(known <= range)) this.#ranges[bin] = range;
  }

  #wrapped(bin: number): number {
    return ((bin % this.#bins) + this.#bins) % this.#bins;
  }
}

function maskedBins(mount: LidarMount, bins: number): Uint8Array | null {
  if (mount.masks.length === 0) return null;
  const masked = new Uint8Array(bins);
  for (let i = 0; i < bins; i++) {
    const bearing = (i / bins) * TURN - Math.PI;
    if (mount.masks.some(({ from, to }) => within(bearing, from, to))) masked[i] = 1;
  }
  return masked;
}

function within(bearing: number, from: number, to: number): boolean {
  const wrap = (angle: number) => ((angle % TURN) + TURN) % TURN;
  return wrap(bearing - from) <= wrap(to - from);
}
