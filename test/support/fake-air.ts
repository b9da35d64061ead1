/** Air whose quality a test sets; read every second. */
import { gradeAir } from '../../config/contracts/air.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { AirSample, AirSource } from '../../state-machines/cleaning-types.js';

export class FakeAir implements AirSource {
  pm2_5 = 50;
  usable = true;
  /** Sends no readings; what it last said grows old. */
  silent = false;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
    clock.every(1000, () => {
      if (this.silent) return;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  sample(): AirSample {
    const values = { pm2_5: this.pm2_5, pm10: null, co2: null };
    if (!this.usable || this.silent) {
      return {
        observedAtMs: null,
        freshnessMs: null,
        usable: false,
        grade: null,
        pm2_5: null,
        pm10: null,
        co2: null,
      };
    }
    return {
      observedAtMs: this.#clock.now(),
      freshnessMs: 0,
      usable: true,
      grade: gradeAir(values)?.grade ?? null,
      ...values,
    };
  }
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
