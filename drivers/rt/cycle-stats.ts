/** How punctual the control loop is. */

const WINDOW = 1200;

export class CycleStats {
  readonly #periodMs: number;
  readonly #late = new Float64Array(WINDOW);
  #cycles = 0;
  #missed = 0;
  #worst = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** One cycle began `lateMs` after it was due. */
  began(lateMs: number): void {
    this.#late[this.#cycles % WINDOW] = lateMs;
    this.#cycles += 1;
    this.#missed += Math.floor(lateMs / this.#periodMs);
    this.#worst = Math.max(this.#worst, lateMs);
  }

  /** Cycles, cycles left out, and lateness in µs: of the last minute's 99th percentile, and the worst. */
  counters(): Record<string, number> {
    return {
      control_cycles: this.#cycles,
      control_missed: this.#missed,
      control_late_p99_us: Math.round(this.#percentile(0.99) * 1000),
      control_late_max_us: Math.round(this.#worst * 1000),
    };
  }

  #percentile(share: number): number {
    const seen = this.#late.slice(0, Math.min(this.#cycles, WINDOW)).sort();
    return seen[Math.min(seen.length - 1, Math.floor(seen.length * share))] ?? 0;
  }
}
