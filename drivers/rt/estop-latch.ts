/** Writes the e-stop down after it changed, in order, and again and again when that failed. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { delay } from '../../config/contracts/clock.js';
import type { EstopState } from './safety/safety-guard.js';

/** Tries that a caller waits for, and the pause between them, ms. */
const TRIES = 4;
const PAUSE_MS = 400;
/** A disk that was full gets room again at some time: until then a try this often, ms. */
const LATER_MS = 5_000;

export class EstopLatch {
  readonly #save: (estop: EstopState) => Promise<void>;
  readonly #clock: Clock;
  #newest: EstopState;
  #durable: EstopState;
  #working: Promise<void> | null = null;
  #writing = 0;
  #failures = 0;
  #closed = false;
  #cancelLater: CancelTimer = () => {};

  /** `initial`: what the file says. */
  constructor(clock: Clock, initial: EstopState, save: (estop: EstopState) => Promise<void>) {
    this.#clock = clock;
    this.#save = save;
    this.#newest = initial;
    this.#durable = initial;
  }

  changed(estop: EstopState): void {
    if (sameEstop(estop, this.#newest)) return;
    this.#newest = estop;
    this.#start();
  }

  /** No more tries but those under way. */
  close(): void {
    this.#closed = true;
    this.#cancelLater();
  }

  /** Resolves when what was last reported is on disk, or could not be written so far; false in the second case. */
  async settled(): Promise<boolean> {
    await this.#working;
    return sameEstop(this.#durable, this.#newest);
  }

  /** Writes under way; pauses between tries do not count, time has to pass for them. */
  get busy(): number {
    return this.#writing;
  }

  counters(): Record<string, number> {
    return { estop_save_failures: this.#failures };
  }

  #start(): void {
    this.#cancelLater();
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
      if (this.#closed || sameEstop(this.#durable, this.#newest)) return;
      this.#cancelLater = this.#clock.after(LATER_MS, () => this.#start());
    });
  }

  async #work(): Promise<void> {
    for (let left = TRIES; left > 0 && !sameEstop(this.#durable, this.#newest); left--) {
      const estop = this.#newest;
      const saved = await this.#try(estop);
      if (saved) {
        this.#durable = estop;
        left = TRIES;
      } else if (left > 1) await delay(this.#clock, PAUSE_MS);
    }
  }

  async #try(estop: EstopState): Promise<boolean> {
    this.#writing += 1;
    try {
      await this.#save(estop);
      return true;
    } catch {
      this.#failures += 1;
      return false;
    } finally {
      this.#writing -= 1;
    }
  }
}

function sameEstop(a: EstopState, b: EstopState): boolean {
  return a.latched === b.latched && a.by === b.by && a.at === b.at;
}
