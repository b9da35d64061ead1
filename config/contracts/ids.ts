import { monotonicFactory } from 'ulid';

/** Makes sortable unique ids (ULID, https://github.com/ulid/spec) from an injected clock and generator. */
export class Ids {
  readonly #next: (time?: number) => string;
  readonly #now: () => number;

  /** `random`: a generator of numbers in [0, 1). */
  constructor(now: () => number, random: () => number) {
    this.#next = monotonicFactory(random);
    this.#now = now;
  }

  /** A bare ULID. Times before 1970 or not finite count as 1970. */
  ulid(): string {
    const now = this.#now();
    return this.#next(Number.isFinite(now) && now > 0 ? Math.floor(now) : 0);
  }

  /** A ULID behind a short prefix, e.g. `t-01J…`. */
  make(prefix: string): string {
    return `${prefix}-${this.ulid()}`;
  }
}

/** A small seeded generator (mulberry32) for reproducible runs; not for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
