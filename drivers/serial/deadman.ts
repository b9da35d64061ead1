/** Takes wheel speeds back that nobody renewed: for bases that go on with the last one they heard. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';

export class Deadman {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #onExpired: () => void;
  #renewedAt = 0;
  #cancel: CancelTimer | null = null;

  constructor(clock: Clock, ttlMs: number, onExpired: () => void) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#onExpired = onExpired;
  }

  /** The wheels were told to turn. */
  renew(): void {
    this.#renewedAt = this.#clock.mono();
    if (this.#cancel === null) this.#watch(this.#ttlMs);
  }

  /** The wheels were told to stand still, or nothing can be told any more. */
  stand(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** One timer that looks again when it fires, rather than one for each command. */
  #watch(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const left = this.#renewedAt + this.#ttlMs - this.#clock.mono();
      if (left > 0) return this.#watch(left);
      this.#cancel = null;
      this.#onExpired();
    });
  }
}
