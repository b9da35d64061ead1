/** A value that counts only once it has held for a while. */
import type { Clock } from '../../config/contracts/clock.js';

export class Steady<T> {
  readonly #clock: Clock;
  readonly #holdMs: number;
  #value: T;
  #candidate: { value: T; since: number } | null = null;
  #first = true;

  constructor(clock: Clock, holdMs: number, initial: T) {
    this.#clock = clock;
    this.#holdMs = holdMs;
    this.#value = initial;
  }

  /** What it changed from, once `value` has held long enough; the very first value counts at once and changes nothing. */
  see(value: T): { from: T } | null {
    if (this.#first) {
      this.#first = false;
      this.#value = value;
      return null;
    }
    if (value === this.#value) {
      this.#candidate = null;
      return null;
    }
    const now = this.#clock.mono();
    if (this.#candidate?.value !== value) this.#candidate = { value, since: now };
    if (this.#candidate !== null && now - this.#candidate.since < this.#holdMs) return null;
    const from = this.#value;
    this.#value = value;
    this.#candidate = null;
    return { from };
  }
}
