/** How much of the ordered lane may be under way, so that what is live need not queue behind a backlog. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';

/** A backlog may make other messages wait this much longer than the link itself does, ms. */
const QUEUEING_MS = 100;
const LEAST_WINDOW = 8;
/** The shortest answer time is forgotten after so many rounds: the path may have become longer. */
const ROUNDS_REMEMBERED = 64;

/**
 * The window of the ordered lane. A broker that answers at once gets all that the connection allows; before one that
 * is slow, rows wait here and not in its queue, where an answer to a command would have to wait behind them. So the
 * broker bounds the speed, and never waits for us: the window is at least what it takes off in `QUEUEING_MS`.
 *
 * One row per round is timed, as TCP Vegas does: Brakmo and Peterson, 1995.
 */
export class ReplayPace {
  readonly #clock: Pick<Clock, 'mono'>;
  /** Unbounded until a slow answer says otherwise; what was learnt outlives the connection. */
  #window = Number.POSITIVE_INFINITY;
  /** The row that is timed now, and when it was sent. */
  #timed: { id: number; at: number } | null = null;
  #shortest = Number.POSITIVE_INFINITY;
  #rounds = 0;

  /** `clock`: the time the network lives in. */
  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
  }

  /** Rows of the ordered lane that may be under way. `most`: what the connection allows. */
  window(most: number): number {
    return Math.min(this.#window, most);
  }

  sent(id: number): void {
    if (this.#timed === null) this.#timed = { id, at: this.#clock.mono() };
  }

  /** `most`: what the connection allows; the window does not grow past it. */
  acknowledged(id: number, most: number): void {
    if (this.#timed?.id !== id) return;
    const took = this.#clock.mono() - this.#timed.at;
    this.#timed = null;
    if (++this.#rounds % ROUNDS_REMEMBERED === 0) this.#shortest = took;
    this.#shortest = Math.min(this.#shortest, took);
    const allowed = this.#shortest + QUEUEING_MS;
    const window = Math.min(this.#window, Math.max(most, LEAST_WINDOW));
    if (took <= allowed) this.#window = window * 2;
    else this.#window = Math.max(LEAST_WINDOW, Math.floor((window * allowed) / took));
  }

  /** A row that was under way will not be acknowledged. */
  disconnected(): void {
    this.#timed = null;
  }
}

/** Rate and burst for the replay of old rows, where whoever pays for the link wants one. */
export interface ReplayRate {
  /** Rows per second of the network's time; null: as fast as the broker takes them. */
  perS: number | null;
  /** Rows that may go at once after a pause. */
  burst: number;
}

/** A token bucket: `take` gives one token or none, and calls `refilled` once there is one again. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'mono' | 'after'>;
  readonly #rate: ReplayRate;
  readonly #refilled: () => void;
  #tokens: number;
  #at: number;
  #wait: CancelTimer | null = null;

  constructor(clock: Pick<Clock, 'mono' | 'after'>, rate: ReplayRate, refilled: () => void) {
    this.#clock = clock;
    this.#rate = rate;
    this.#refilled = refilled;
    this.#tokens = rate.burst;
    this.#at = clock.mono();
  }

  /** False without a rate: then there is nothing to ask. */
  get limited(): boolean {
    return this.#rate.perS !== null;
  }

  /** Whether one may be taken. */
  get ready(): boolean {
    const { perS, burst } = this.#rate;
    if (perS === null) return true;
    const now = this.#clock.mono();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perS);
    this.#at = now;
    if (this.#tokens >= 1) return true;
    this.#wait ??= this.#clock.after(Math.max(1, Math.ceil(((1 - this.#tokens) / perS) * 1000)), () => {
      this.#wait = null;
      this.#refilled();
    });
    return false;
  }

  take(): void {
    this.#tokens -= 1;
  }

  dispose(): void {
    this.#wait?.();
    this.#wait = null;
  }
}
