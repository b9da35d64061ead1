/** The fan's readings: the last one, waiting for one, and a fan that runs though nobody cleans. */
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import type { FanDriver, FanReading } from '../../drivers/serial/types.js';
import { robotTimeOf } from '../clock-jumps.js';

/** A fan found running by itself (the daemon died under it) is stopped, but not before a restart is sorted out. */
const LOOSE_AFTER_MS = 15_000;
/** And told so at most this often, ms. */
const LOOSE_EVERY_MS = 5000;

export class FanWatch {
  last: FanReading | null = null;
  readonly #fan: FanDriver;
  readonly #clock: Clock;
  readonly #nobodyCleans: () => boolean;
  readonly #listeners = new Set<(reading: FanReading) => void>();
  #looseSince: number | null = null;
  #told = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(fan: FanDriver, clock: Clock, nobodyCleans: () => boolean) {
    this.#fan = fan;
    this.#clock = clock;
    this.#nobodyCleans = nobodyCleans;
    fan.onReading((reading) => {
      if (this.#closed) return;
      this.last = reading;
      for (const listener of [...this.#listeners]) listener(reading);
      this.#stopLoose(reading);
    });
  }

  subscribe(listener: (reading: FanReading) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The first reading made from now on for which `until` holds; HARDWARE_FAULT when none comes in time. */
  wait(
    until: (reading: FanReading) => boolean,
    timeoutMs: number,
    signal: AbortSignal,
    what: string,
  ): Promise<FanReading> {
    const asked = this.#clock.mono();
    return new Promise((resolve, reject) => {
      const unsubscribe = this.subscribe((reading) => {
        if (reading.at < robotTimeOf(this.#clock, asked) || !until(reading)) return;
        end();
        resolve(reading);
      });
      const cancel = this.#clock.after(timeoutMs, () => {
        end();
        const seen = this.last === null ? 'it does not report' : `last seen at ${this.last.rpm} rpm`;
        reject(new TaskFailure('HARDWARE_FAULT', `the fan did not ${what} within ${timeoutMs} ms; ${seen}`));
      });
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const end = () => {
        cancel();
        unsubscribe();
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  close(): void {
    this.#closed = true;
    this.#listeners.clear();
  }

  #stopLoose(reading: FanReading): void {
    const now = this.#clock.mono();
    if (!this.#nobodyCleans() || (reading.setPointPercent === 0 && reading.rpm === 0)) {
      this.#looseSince = null;
      return;
    }
    this.#looseSince ??= now;
    if (now - this.#looseSince < LOOSE_AFTER_MS || now - this.#told < LOOSE_EVERY_MS) return;
    this.#told = now;
    this.#fan.setSpeed(0).catch(() => undefined);
  }
}
