import type { WheelSample } from '../types.js';

/** Encoder noise: one count is 0.45 mm on a Create 2. */
const TOLERANCE = 0.001;
/** Without a report for this long nothing is known of the wheels, ms. */
const STALE_MS = 250;

/** Proves from the wheels that the robot stands: both have kept their place for a while. */
export class Standstill {
  #place: WheelSample | null = null;
  #since: number | null = null;
  #mono = 0;
  #now = 0;

  /** To be called at each step with the newest sample. `mono`, `now`: ms. */
  update(sample: WheelSample | null, mono: number, now: number): void {
    this.#mono = mono;
    this.#now = now;
    if (sample === null || mono - sample.mono > STALE_MS) {
      this.#place = null;
      this.#since = null;
      return;
    }
    const place = this.#place;
    const held =
      place !== null &&
      Math.abs(sample.left - place.left) <= TOLERANCE &&
      Math.abs(sample.right - place.right) <= TOLERANCE;
    if (held) return;
    this.#place = sample;
    // The first sample says where the wheels are, not that they have been there.
    this.#since = mono;
  }

  /** How long the wheels have stood, ms; 0 when not known. */
  get stillMs(): number {
    return this.#since === null ? 0 : this.#mono - this.#since;
  }

  /** In robot time as it stands now, ms, since when they have stood; null until that is certain, or when not known. */
  get since(): number | null {
    return this.#since !== null && this.stillMs >= PROVEN_MS ? Math.round(this.#now - this.stillMs) : null;
  }
}

/** Slow wheels keep their place between two encoder counts: only after this long is it a standstill. */
const PROVEN_MS = 150;
