/** Exponential back-off with jitter, for reopening ports. */

export interface BackoffOptions {
  /** Delay after the first failure, ms. */
  firstMs: number;
  /** Longest delay, ms; jitter included. */
  maxMs: number;
  factor: number;
  /** Share of the delay that is random, 0…1: several ports of one unplugged hub do not retry in step. */
  jitter: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 200, maxMs: 5000, factor: 2, jitter: 0.3 };

/** Delay before attempt `failures + 1`, ms, for `failures` ≥ 1. `random` returns 0 ≤ x < 1. */
export function backoffDelay(failures: number, options: BackoffOptions, random: () => number): number {
  const full = Math.min(options.maxMs, options.firstMs * options.factor ** Math.max(0, failures - 1));
  return full * (1 - options.jitter * random());
}
