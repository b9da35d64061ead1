/**
 * What the battery loses for each metre and each second, as seen on this robot: least squares over stretches in which
 * it lost a whole point, older ones fading. Nothing is assumed: before enough was seen the answer is unknown.
 */

/** Percent per metre driven, and per second in any case. */
export interface BatteryRates {
  perMetre: number;
  perSecond: number;
}

/** Weighted sums over stretches; plain numbers, so that they can be kept. */
export interface UseSums {
  metres2: number;
  metresSeconds: number;
  seconds2: number;
  metresLost: number;
  secondsLost: number;
  lost: number;
}

const NOTHING: UseSums = {
  metres2: 0,
  metresSeconds: 0,
  seconds2: 0,
  metresLost: 0,
  secondsLost: 0,
  lost: 0,
};

/** A stretch ends when so much was lost, percent. */
const STRETCH = 1;
/** With each stretch, what older ones count for becomes less: some thirty are remembered. */
const FADE = 0.97;
/** Below this nothing is said, percent lost. */
const ENOUGH = 2;
/** A charge that changes by this much at once was set or measured anew, percent. */
const JUMP = 3;

export class BatteryUse {
  #sums: UseSums;
  #percent: number | null = null;
  #stretch = { metres: 0, seconds: 0, from: 0 };

  constructor(sums: UseSums | null) {
    this.#sums = sums ?? NOTHING;
  }

  /** A reading while it discharges, and what was driven and passed since the last one. True when something was learnt. */
  discharged(percent: number, metres: number, seconds: number): boolean {
    const before = this.#percent;
    this.#percent = percent;
    if (before === null || percent > before || before - percent > JUMP) {
      this.#stretch = { metres: 0, seconds: 0, from: percent };
      return false;
    }
    this.#stretch.metres += metres;
    this.#stretch.seconds += seconds;
    const lost = this.#stretch.from - percent;
    if (lost < STRETCH) return false;
    this.#learn(this.#stretch.metres, this.#stretch.seconds, lost);
    this.#stretch = { metres: 0, seconds: 0, from: percent };
    return true;
  }

  /** It charges, or nothing is known of it: the stretch is not to be counted. */
  interrupted(): void {
    this.#percent = null;
  }

  get sums(): UseSums {
    return this.#sums;
  }

  /** Null before enough was seen. */
  rates(): BatteryRates | null {
    const { metres2, metresSeconds, seconds2, metresLost, secondsLost, lost } = this.#sums;
    if (lost < ENOUGH) return null;
    const det = metres2 * seconds2 - metresSeconds * metresSeconds;
    // Always driven alike, metres and seconds cannot be told apart: then all of it is put down to the seconds.
    if (det > 1e-3 * metres2 * seconds2) {
      const perMetre = (seconds2 * metresLost - metresSeconds * secondsLost) / det;
      const perSecond = (metres2 * secondsLost - metresSeconds * metresLost) / det;
      if (perMetre >= 0 && perSecond >= 0) return { perMetre, perSecond };
    }
    return seconds2 > 0 ? { perMetre: 0, perSecond: secondsLost / seconds2 } : null;
  }

  #learn(metres: number, seconds: number, lost: number): void {
    const s = this.#sums;
    this.#sums = {
      metres2: FADE * s.metres2 + metres * metres,
      metresSeconds: FADE * s.metresSeconds + metres * seconds,
      seconds2: FADE * s.seconds2 + seconds * seconds,
      metresLost: FADE * s.metresLost + metres * lost,
      secondsLost: FADE * s.secondsLost + seconds * lost,
      lost: FADE * s.lost + lost,
    };
  }
}
