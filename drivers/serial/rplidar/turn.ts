/** Collects the nodes of an RPLIDAR into full turns in `base_link`. */
import { type LidarMount, ScanBins } from '../lidar-mount.js';
import { isFirst, nodeAngle, RANGE_PER_METRE, STEPS_PER_TURN } from './protocol.js';

export interface TurnOptions {
  /** Bins of a full turn; bin `i` is at −π + i · 2π / bins. */
  bins: number;
  mount: LidarMount;
  /** Shortest and longest range that is believed, m. */
  rangeMin: number;
  rangeMax: number;
  /** Nodes of less are no return, 0…63. */
  minQuality: number;
}

export type Turn =
  /** `coverage` is the share of the turn that arrived; bins without a return are NaN. */
  | { kind: 'scan'; ranges: number[]; coverage: number; specks: number }
  | { kind: 'dropped'; coverage: number };

/** A turn of which less arrived is dropped: a gap of a quarter could hide a wall. */
const MIN_COVERAGE = 0.75;
/** Less than this of a turn cannot have ended: the device's flag and the angle told of the same passage of zero. */
const JUST_BEGUN = 0.1;
/** A node stands for the turn since the one before it, but not for a gap, steps: three degrees. */
const LONGEST_STEP = 192;
/** A single bin that lies this much behind both its neighbours, which agree within as much, m. */
const SPECK = 0.3;

export class TurnCollector {
  readonly #options: TurnOptions;
  readonly #bins: ScanBins;
  #covered = 0;
  #last: number | null = null;

  constructor(options: TurnOptions) {
    this.#options = options;
    const { bins, mount } = options;
    this.#bins = new ScanBins({ bins, mount, stepsPerTurn: STEPS_PER_TURN });
  }

  /** Starts over: the points so far belong to no turn that will be completed. */
  reset(): void {
    this.#bins.reset();
    this.#covered = 0;
    this.#last = null;
  }

  /** Takes the node at `at`; returns the turn that it ends by beginning the next, if it does. */
  add(bytes: Uint8Array, at: number): Turn | null {
    const angle = nodeAngle(bytes, at);
    const last = this.#last;
    const passedZero = last !== null && angle < last - STEPS_PER_TURN / 2;
    const done = isFirst(bytes, at) || passedZero ? this.#finish() : null;
    if (last !== null) this.#cover((angle - last + STEPS_PER_TURN) % STEPS_PER_TURN);
    this.#last = angle;
    this.#put(angle, bytes, at);
    return done;
  }

  #cover(step: number): void {
    // A step back by the jitter of the head is no turn.
    if (step < STEPS_PER_TURN / 2) this.#covered += Math.min(step, LONGEST_STEP);
  }

  #put(angle: number, bytes: Uint8Array, at: number): void {
    const { rangeMin, rangeMax, minQuality } = this.#options;
    const range = ((bytes[at + 3] ?? 0) | ((bytes[at + 4] ?? 0) << 8)) / RANGE_PER_METRE;
    if (!(range >= rangeMin && range <= rangeMax) || (bytes[at] ?? 0) >> 2 < minQuality) return;
    this.#bins.put(angle, range);
  }

  #finish(): Turn | null {
    const coverage = Math.min(1, this.#covered / STEPS_PER_TURN);
    if (coverage < JUST_BEGUN) return null;
    this.#covered = 0;
    if (coverage < MIN_COVERAGE) {
      this.#bins.reset();
      return { kind: 'dropped', coverage };
    }
    const ranges = this.#bins.take();
    return { kind: 'scan', specks: dropSpecks(ranges), ranges, coverage };
  }
}

/**
 * Nodes have no checksum: a damaged range passes for a measurement. One that is too near only slows the robot down; one
 * that is too far would look through an obstacle, so that a single bin far behind both its neighbours counts as unseen.
 * Returns how many there were.
 */
export function dropSpecks(ranges: number[]): number {
  const n = ranges.length;
  const specks: number[] = [];
  for (let i = 0; i < n; i++) {
    const here = ranges[i] ?? Number.NaN;
    const before = ranges[(i + n - 1) % n] ?? Number.NaN;
    const after = ranges[(i + 1) % n] ?? Number.NaN;
    const behind = here > Math.max(before, after) + SPECK;
    if (behind && Math.abs(before - after) < SPECK) specks.push(i);
  }
  for (const i of specks) ranges[i] = Number.NaN;
  return specks.length;
}
