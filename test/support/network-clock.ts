/**
 * Clocks of a simulated home whose network keeps the pace of the simulation. The wall clock of its robot, its cloud
 * and its network starts at a fixed time and advances with the world, but never jumps with the robot's clock.
 */
import { type CancelTimer, type Clock, SystemClock } from '../../config/contracts/clock.js';

/** A Monday morning. */
export const WALL_START_MS = Date.UTC(2026, 10, 30, 0, 0, 0);

/** The robot's own machine: monotonic time of `inner`, wall time from `WALL_START_MS` on. */
export class NetworkClock implements Clock {
  readonly #inner: Clock;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now(): number {
    return WALL_START_MS + this.#inner.mono();
  }
  mono(): number {
    return this.#inner.mono();
  }
  wall(): number {
    return this.now();
  }
  after(ms: number, fn: () => void): CancelTimer {
    return this.#inner.after(ms, fn);
  }
  every(ms: number, fn: () => void): CancelTimer {
    return this.#inner.every(ms, fn);
  }
}

/** What a simulation takes for the time outside: its `now` is simulated, its patience with others is real. */
export function simulatedWall(monoMs: () => number): Clock {
  const system = new SystemClock();
  return {
    now: () => WALL_START_MS + monoMs(),
    wall: () => WALL_START_MS + monoMs(),
    mono: () => system.mono(),
    after: (ms, fn) => system.after(ms, fn),
    every: (ms, fn) => system.every(ms, fn),
  };
}
