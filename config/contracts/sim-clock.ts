import type { CancelTimer, Clock } from './clock.js';

interface Entry {
  at: number;
  order: number;
  every: number | null;
  fn: () => void;
}

/**
 * A clock that moves only when told to. It steps timer by timer: while a callback runs, `now()` is that
 * timer's due time, so code that measures or re-arms behaves as it would in real time. Used by tests and by
 * every process of a lock-step simulation.
 */
export class SimClock implements Clock {
  #mono = 0;
  #offset: number;
  #order = 0;
  readonly #entries = new Set<Entry>();
  readonly #wall: () => number;

  /** `startMs`: robot time at the origin, epoch ms. `wall`: the wall clock, by default the robot's own. */
  constructor(startMs: number, wall?: () => number) {
    this.#offset = startMs;
    this.#wall = wall ?? (() => this.now());
  }

  now(): number {
    return this.#offset + this.#mono;
  }
  mono(): number {
    return this.#mono;
  }
  wall(): number {
    return this.#wall();
  }

  after(ms: number, fn: () => void): CancelTimer {
    return this.#add(ms, null, fn);
  }
  every(ms: number, fn: () => void): CancelTimer {
    if (!(ms > 0)) throw new RangeError(`every: period must be positive, got ${ms}`);
    return this.#add(ms, ms, fn);
  }

  /** Jumps robot time without firing anything: what a clock set by NTP, or by hand, looks like. */
  jump(deltaMs: number): void {
    this.#offset += deltaMs;
  }

  /** When the next timer is due, in `mono` milliseconds, or null. */
  nextDue(): number | null {
    let due: number | null = null;
    for (const e of this.#entries) if (due === null || e.at < due) due = e.at;
    return due;
  }

  /** Advances synchronously by `ms`, firing each due timer in order of due time, then of arming. */
  advance(ms: number): void {
    const target = this.#mono + ms;
    while (this.fireNext(target));
    this.#mono = target;
  }

  /** Advances by `ms`, letting promises and immediates settle after each timer. */
  async advanceAsync(ms: number): Promise<void> {
    const target = this.#mono + ms;
    await settle();
    while (this.fireNext(target)) await settle();
    this.#mono = target;
    await settle();
  }

  /** Fires the earliest timer due at or before `targetMono`; false when there is none. */
  fireNext(targetMono: number): boolean {
    let next: Entry | null = null;
    for (const e of this.#entries) {
      if (e.at > targetMono) continue;
      if (next === null || e.at < next.at || (e.at === next.at && e.order < next.order)) next = e;
    }
    if (next === null) return false;
    this.#mono = Math.max(this.#mono, next.at);
    if (next.every === null) this.#entries.delete(next);
    else {
      next.at += next.every;
      next.order = this.#order++;
    }
    next.fn();
    return true;
  }

  #add(ms: number, every: number | null, fn: () => void): CancelTimer {
    const entry: Entry = { at: this.#mono + Math.max(0, ms), order: this.#order++, every, fn };
    this.#entries.add(entry);
    return () => {
      this.#entries.delete(entry);
    };
  }
}

/** Lets pending promises, ticks and a few rounds of immediates run. */
export async function settle(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
