/** Rates of publishing over the last seconds, for people who look at a backlog. */
import type { Clock } from '../../config/contracts/clock.js';

const SLOT_MS = 1000;
const SLOTS = 10;

/** Counts per second of robot time; the second that runs now is not in the rate. */
export class FlowMeter {
  readonly #clock: Pick<Clock, 'mono'>;
  readonly #counts = new Array<number>(SLOTS + 1).fill(0);
  readonly #startedAt: number;
  #slot: number;

  constructor(clock: Pick<Clock, 'mono'>) {
    this.#clock = clock;
    this.#startedAt = clock.mono();
    this.#slot = this.#now();
  }

  /** `mono`: now, as the caller has read it already: this is called for every row. */
  add(count: number, mono: number): void {
    const slot = Math.floor((mono - this.#startedAt) / SLOT_MS);
    if (slot !== this.#slot) this.#advance(slot);
    const at = slot % this.#counts.length;
    this.#counts[at] = (this.#counts[at] ?? 0) + count;
  }

  /** Per second, over the last 10 s or as long as this has counted. */
  perS(): number {
    this.#advance(this.#now());
    const seconds = Math.min(SLOTS, Math.floor((this.#clock.mono() - this.#startedAt) / SLOT_MS));
    if (seconds === 0) return 0;
    const running = this.#counts[this.#slot % this.#counts.length] ?? 0;
    const sum = this.#counts.reduce((total, count) => total + count, 0) - running;
    return Math.round((sum / seconds) * 10) / 10;
  }

  #now(): number {
    return Math.floor((this.#clock.mono() - this.#startedAt) / SLOT_MS);
  }

  /** Empties the slots of the seconds that have passed. */
  #advance(now: number): void {
    const passed = Math.min(now - this.#slot, this.#counts.length);
    for (let i = 1; i <= passed; i++) this.#counts[(now - passed + i) % this.#counts.length] = 0;
    this.#slot = now;
  }
}
