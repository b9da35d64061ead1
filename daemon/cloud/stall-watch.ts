import type { CancelTimer, Clock } from '../../config/contracts/clock.js';

/**
 * The least wall time that counts as silence. The network lives in real time even when the robot's clock runs
 * many times faster; without this floor a fast simulation would take an answer on its way for a dead link.
 */
const WALL_FLOOR_MS = 2000;

/**
 * Notices that something awaited makes no progress: calls `onStalled` when `limitMs` of robot time, and at least
 * `WALL_FLOOR_MS` of wall time, have passed without `progress()`. Cheap to feed thousands of times a second: one
 * timer is armed per limit, not per call.
 */
export class StallWatch {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onStalled: () => void;
  #mono = 0;
  #wall = 0;
  #active = false;
  #cancel: CancelTimer | null = null;

  constructor(clock: Clock, limitMs: number, onStalled: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onStalled = onStalled;
  }

  /** Something is awaited from now on; no effect while already waiting. */
  start(): void {
    if (this.#active) return;
    this.#active = true;
    this.progress();
    if (this.#cancel === null) this.#arm(this.#limitMs);
  }

  progress(): void {
    this.#mono = this.#clock.mono();
    this.#wall = this.#clock.wall();
  }

  /** Nothing is awaited any more. The timer stays armed and finds nothing to do. */
  stop(): void {
    this.#active = false;
  }

  /** As `stop`, and lets go of the timer. */
  dispose(): void {
    this.#active = false;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** True while waiting with recent progress: an answer may be on its way. */
  get hopeful(): boolean {
    return this.#active && !this.#wallPassed();
  }

  #arm(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      this.#cancel = null;
      this.#check();
    });
  }

  #check(): void {
    if (!this.#active) return;
    const left = this.#limitMs - (this.#clock.mono() - this.#mono);
    if (left > 0) this.#arm(left);
    else if (!this.#wallPassed()) this.#arm(Math.max(1, this.#limitMs / 10));
    else {
      this.#active = false;
      this.#onStalled();
    }
  }

  /** A wall clock that was set back counts as passed: the robot's own clock has vouched for the duration. */
  #wallPassed(): boolean {
    const elapsed = this.#clock.wall() - this.#wall;
    return elapsed < 0 || elapsed >= Math.min(WALL_FLOOR_MS, this.#limitMs);
  }
}
