/**
 * Collects the points of an LD19 into full turns with fixed bins in `base_link`. The device counts angles
 * clockwise from its front.
 */
import { type LidarMount, ScanBins } from '../lidar-mount.js';
import { AT, angleSpan, FULL_TURN_CDEG, POINTS, TIMESTAMP_WRAP_MS, u16 } from './frame.js';

export interface RevolutionOptions {
  /** Bins of a full turn; bin `i` is at −π + i · 2π / bins. */
  bins: number;
  mount: LidarMount;
  /** Shortest and longest range that is believed, m. */
  rangeMin: number;
  rangeMax: number;
  /** Points weaker than this are no return. */
  minIntensity: number;
}

export type Revolution =
  /** `coverage` is the share of the turn that arrived; bins without a return are NaN. */
  | { kind: 'scan'; ranges: number[]; coverage: number }
  /** Too much of the turn is missing to be used as one. */
  | { kind: 'dropped'; coverage: number };

/** A turn of which less arrived is dropped: a gap of a quarter could hide a wall. */
const MIN_COVERAGE = 0.75;
/**
 * Unless what is missing is scattered, as on a bad cable, where no gap hides much: one frame is a thirty-eighth of a turn.
 * At a fifth of the frames damaged every fourth turn would be dropped otherwise, and three in a row now and then.
 */
const MIN_COVERAGE_SCATTERED = 0.6;
const SCATTERED_GAP_CDEG = 4500;
/** Angles of one turn only grow; a step back by more than the jitter of a frame's start is the next turn. */
const JITTER_CDEG = 500;

export class RevolutionAssembler {
  readonly #options: RevolutionOptions;
  readonly #bins: ScanBins;
  #covered = 0;
  /** The widest part of this turn that did not arrive, so far. */
  #widestGap = 0;
  #lastAngle: number | null = null;
  #lastTimestamp = 0;

  constructor(options: RevolutionOptions) {
    this.#options = options;
    const { bins, mount } = options;
    this.#bins = new ScanBins({ bins, mount, stepsPerTurn: FULL_TURN_CDEG });
  }

  /** Starts over: the points so far belong to no turn that will be completed. */
  reset(): void {
    this.#bins.reset();
    this.#covered = 0;
    this.#widestGap = 0;
    this.#lastAngle = null;
  }

  /** Takes the good frame at `at`; returns the turn that it completes, if it does. */
  add(bytes: Uint8Array, at: number): Revolution | null {
    const speed = u16(bytes, at + AT.speed);
    const start = u16(bytes, at + AT.startAngle);
    const span = angleSpan(start, u16(bytes, at + AT.endAngle));
    const timestamp = u16(bytes, at + AT.timestamp);
    const late = this.#lastAngle !== null && this.#gapMs(timestamp) > (FULL_TURN_CDEG / 2) * (10 / speed);
    this.#lastTimestamp = timestamp;
    // After a gap of half a turn, points of two turns would be mixed, and passed off as new.
    let done: Revolution | null = late ? this.#abandon() : null;
    const step = span / (POINTS - 1);
    for (let i = 0; i < POINTS; i++) {
      const angle = (start + step * i) % FULL_TURN_CDEG;
      if (this.#lastAngle !== null && angle < this.#lastAngle - JITTER_CDEG) done = this.#finish();
      this.#widestGap = Math.max(this.#widestGap, angle - (this.#lastAngle ?? 0));
      this.#lastAngle = angle;
      this.#covered += step;
      this.#put(angle, bytes, at + AT.points + 3 * i);
    }
    return done;
  }

  #abandon(): Revolution {
    const coverage = this.#coverage();
    this.reset();
    return { kind: 'dropped', coverage };
  }

  #coverage(): number {
    return Math.min(1, this.#covered / FULL_TURN_CDEG);
  }

  #gapMs(timestamp: number): number {
    return (timestamp - this.#lastTimestamp + TIMESTAMP_WRAP_MS) % TIMESTAMP_WRAP_MS;
  }

  #put(angle: number, bytes: Uint8Array, at: number): void {
    const { rangeMin, rangeMax, minIntensity } = this.#options;
    const range = u16(bytes, at) / 1000;
    if (!(range >= rangeMin && range <= rangeMax) || (bytes[at + 2] ?? 0) < minIntensity) return;
    this.#bins.put(angle, range);
  }

  #finish(): Revolution {
    const coverage = this.#coverage();
    const gap = Math.max(this.#widestGap, FULL_TURN_CDEG - (this.#lastAngle ?? 0));
    const least = gap <= SCATTERED_GAP_CDEG ? MIN_COVERAGE_SCATTERED : MIN_COVERAGE;
    if (coverage < least) return this.#abandon();
    const ranges = this.#bins.take();
    this.reset();
    return { kind: 'scan', ranges, coverage };
  }
}
