/** Faults of parts, told once they have lasted: a part that blinks is not a fault. */
import type { Clock } from '../../config/contracts/clock.js';

export interface FaultChange {
  part: string;
  /** Null: the part is in order again. */
  fault: string | null;
}

interface Part {
  /** What is believed, and what is seen; they differ while a change has not lasted. */
  told: string | null;
  seen: string | null;
  since: number;
}

export class FaultWatch {
  readonly #clock: Clock;
  readonly #lastingMs: number;
  readonly #tell: (change: FaultChange) => void;
  readonly #parts = new Map<string, Part>();

  /** `lastingMs`: how long a change has to last before it is told. */
  constructor(clock: Clock, lastingMs: number, tell: (change: FaultChange) => void) {
    this.#clock = clock;
    this.#lastingMs = lastingMs;
    this.#tell = tell;
  }

  /** Call regularly with what is wrong with the part now, or null. */
  see(part: string, fault: string | null): void {
    const now = this.#clock.mono();
    const known = this.#parts.get(part) ?? { told: null, seen: null, since: now };
    this.#parts.set(part, known);
    if (known.seen !== fault) {
      known.seen = fault;
      known.since = now;
    }
    if (known.told === fault || now - known.since < this.#lastingMs) return;
    known.told = fault;
    this.#tell({ part, fault });
  }

  /** Parts with a lasting fault, and what it is. */
  faults(): { part: string; fault: string }[] {
    return [...this.#parts].flatMap(([part, { told }]) => (told === null ? [] : [{ part, fault: told }]));
  }
}
