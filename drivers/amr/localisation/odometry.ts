import { compose, type Pose, relativeTo, type Twist } from '../../../config/contracts/geometry.js';
import type { WheelSample } from '../types.js';

export interface OdometryParams {
  /** Distance between the wheels, metres. */
  wheelBase: number;
  /** A wheel cannot have turned faster than this, m/s; more is a counter that was reset. */
  maxWheelSpeed: number;
}

/** Slack for frames that arrive bunched, metres. */
const JUMP_SLACK = 0.05;
/** How long poses are kept for looking back, ms. */
const HISTORY_MS = 1500;
/** Over what time wheel speed is measured, ms: encoder steps are coarse against one cycle. */
const SPEED_WINDOW_MS = 100;

/**
 * Differential-drive dead reckoning in the `odom` frame, which begins at the first sample. Keeps a short history,
 * so that a scan can be placed where it was taken.
 */
export class Odometry {
  readonly #params: OdometryParams;
  #last: WheelSample | null = null;
  #pose: Pose = { x: 0, y: 0, theta: 0 };
  readonly #history: { mono: number; pose: Pose; left: number; right: number }[] = [];
  /** Metres and radians travelled since the start, never decreasing. */
  travelled = 0;
  turned = 0;
  /** Signed: forward minus backward way and heading without wrap, since the start. */
  forward = 0;
  heading = 0;
  /** Samples that did not connect to the one before. */
  jumps = 0;

  constructor(params: OdometryParams) {
    this.#params = params;
  }

  /** Pose of `base_link` in `odom`. */
  get pose(): Pose {
    return this.#pose;
  }

  /** When the newest sample was taken, `mono` ms; null before the first. */
  get lastMono(): number | null {
    return this.#last?.mono ?? null;
  }

  /** Takes a sample in; one that was seen already changes nothing. */
  add(sample: WheelSample): void {
    const last = this.#last;
    if (last !== null && sample.mono <= last.mono) return;
    this.#last = sample;
    if (last === null) {
      this.#remember(sample);
      return;
    }
    const left = sample.left - last.left;
    const right = sample.right - last.right;
    const possible = JUMP_SLACK + (this.#params.maxWheelSpeed * (sample.mono - last.mono)) / 1000;
    if (!(Math.abs(left) <= possible && Math.abs(right) <= possible)) {
      this.jumps++;
      this.#history.length = 0;
    } else this.#advance(left, right);
    this.#remember(sample);
  }

  /** Measured body velocity; null until there is enough history. */
  twist(): Twist | null {
    const newest = this.#history[this.#history.length - 1];
    const older = this.#history.findLast(
      (h) => newest !== undefined && newest.mono - h.mono >= SPEED_WINDOW_MS - 1,
    );
    if (newest === undefined || older === undefined) return null;
    const dt = (newest.mono - older.mono) / 1000;
    const left = (newest.left - older.left) / dt;
    const right = (newest.right - older.right) / dt;
    return { v: (left + right) / 2, w: (right - left) / this.#params.wheelBase };
  }

  /** Pose in `odom` at a moment within the last second or so, interpolated; the nearest known one beyond. */
  poseAt(mono: number): Pose {
    const after = this.#history.findIndex((h) => h.mono >= mono);
    const b = after < 0 ? undefined : this.#history[after];
    const a = this.#history[after - 1];
    if (b === undefined) return this.#pose;
    if (a === undefined || b.mono === a.mono) return b.pose;
    const share = (mono - a.mono) / (b.mono - a.mono);
    const step = relativeTo(a.pose, b.pose);
    return compose(a.pose, { x: step.x * share, y: step.y * share, theta: step.theta * share });
  }

  #advance(left: number, right: number): void {
    const way = (left + right) / 2;
    const turn = (right - left) / this.#params.wheelBase;
    // The chord of the arc, at its mean direction.
    const half = turn / 2;
    const chord = Math.abs(half) < 1e-6 ? way : (way * Math.sin(half)) / half;
    this.#pose = compose(this.#pose, {
      x: chord * Math.cos(half),
      y: chord * Math.sin(half),
      theta: turn,
    });
    this.travelled += Math.abs(way);
    this.turned += Math.abs(turn);
    this.forward += way;
    this.heading += turn;
  }

  #remember(sample: WheelSample): void {
    this.#history.push({ mono: sample.mono, pose: this.#pose, left: sample.left, right: sample.right });
    while ((this.#history[0]?.mono ?? sample.mono) < sample.mono - HISTORY_MS) this.#history.shift();
  }
}
