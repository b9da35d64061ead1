import type { CancelTimer, Clock } from '../../config/contracts/clock.js';

/** Robot time that runs `factor` times faster than the wall clock, for contract tests with real sockets. */
export class FastClock implements Clock {
  readonly #factor: number;
  readonly #start = Date.now();
  readonly #origin = performance.now();

  constructor(factor: number) {
    this.#factor = factor;
  }

  now(): number {
    return this.#start + this.mono();
  }
  mono(): number {
    return (performance.now() - this.#origin) * this.#factor;
  }
  wall(): number {
    return Date.now();
  }
  after(ms: number, fn: () => void): CancelTimer {
    const timer = setTimeout(fn, ms / this.#factor);
    return () => clearTimeout(timer);
  }
  every(ms: number, fn: () => void): CancelTimer {
    const timer = setInterval(fn, ms / this.#factor);
    return () => clearInterval(timer);
  }
}
