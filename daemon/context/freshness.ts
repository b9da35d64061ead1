/** How old an observation is, and whether it may be used. */

/** Stands on every sensed block of the context. Times are robot time, epoch ms; null when never seen. */
export interface Freshness {
  source_valid: boolean;
  observed_at_ms: number | null;
  freshness_ms: number | null;
  ttl_ms: number | null;
  stale: boolean;
  usable: boolean;
}

/**
 * `observedAt`: when it was last seen, or null. `ttlMs` null: an event-driven source, valid until it reports again.
 * `valid`: the source itself is there and in order. An observation from the future (the clock was set back) is as
 * old as the clock says: not at all.
 */
export function freshnessOf(
  observedAt: number | null,
  now: number,
  ttlMs: number | null,
  valid: boolean,
): Freshness {
  const age = observedAt === null ? null : Math.max(0, now - observedAt);
  const stale = age === null || (ttlMs !== null && age > ttlMs);
  return {
    source_valid: valid,
    observed_at_ms: observedAt,
    freshness_ms: age,
    ttl_ms: ttlMs,
    stale,
    usable: valid && !stale,
  };
}

export interface FreshnessSettings {
  /** How long an observation of a periodic source counts, ms. */
  batteryTtlMs: number;
  airTtlMs: number;
  locationTtlMs: number;
}

export const DEFAULT_FRESHNESS: FreshnessSettings = {
  batteryTtlMs: 10_000,
  airTtlMs: 10_000,
  locationTtlMs: 2_000,
};
