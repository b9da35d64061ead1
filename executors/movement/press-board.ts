/**
 * Who holds which press of a button down, on the robot's clock. Whoever listens to people (the local API) tells it;
 * `manualMove` drives as long as it hears from them. Bounded: presses are short, and old ones are forgotten.
 */
import type { Clock } from '../../config/contracts/clock.js';
import type { PressSource } from '../../state-machines/motion-types.js';

interface Entry {
  /** Mono ms. */
  keptAt: number | null;
  released: boolean;
  hear: { kept(): void; released(): void } | null;
}

/** Presses that are remembered at once. */
const MOST = 64;

export class PressBoard {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A sign of life for the press of this task; also before it drives. False once it was let go. */
  keep(taskId: string): boolean {
    const entry = this.#entry(taskId);
    if (entry.released) return false;
    entry.keptAt = this.#clock.mono();
    entry.hear?.kept();
    return true;
  }

  /** They let go, or are gone. */
  release(taskId: string): void {
    const entry = this.#entry(taskId);
    if (entry.released) return;
    entry.released = true;
    entry.hear?.released();
  }

  wasReleased(taskId: string): boolean {
    return this.#entries.get(taskId)?.released === true;
  }

  /** How long ago the newest sign of life came, ms; null: none came yet. */
  silentMs(taskId: string): number | null {
    const keptAt = this.#entries.get(taskId)?.keptAt ?? null;
    return keptAt === null ? null : this.#clock.mono() - keptAt;
  }

  /** For the motion of this task. */
  sourceOf(taskId: string): PressSource {
    return {
      follow: (hear) => {
        const entry = this.#entry(taskId);
        entry.hear = hear;
        if (entry.released) hear.released();
        return () => {
          entry.hear = null;
        };
      },
    };
  }

  forget(taskId: string): void {
    this.#entries.delete(taskId);
  }

  #entry(taskId: string): Entry {
    const known = this.#entries.get(taskId);
    if (known !== undefined) return known;
    if (this.#entries.size >= MOST) {
      const [oldest] = [...this.#entries].find(([, entry]) => entry.hear === null) ?? [];
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    const entry: Entry = { keptAt: null, released: false, hear: null };
    this.#entries.set(taskId, entry);
    return entry;
  }
}
