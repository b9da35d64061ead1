/** When a pose estimate is believed, by how well scans have fitted it over time. */

export interface HealthParams {
  /** Mean likelihood from which on a pose is confirmed, and below which it is doubted. */
  goodScore: number;
  badScore: number;
  /** Doubted for this long it is lost, ms. */
  lostAfterMs: number;
  /** A lost pose that fits well for this long is believed again, ms. */
  foundAfterMs: number;
  /** Deviation of the estimate up to which it is believed, metres. */
  maxSpread: number;
  /** A scan with fewer rays says nothing. */
  minBeams: number;
}

export const DEFAULT_HEALTH: HealthParams = {
  goodScore: 0.5,
  badScore: 0.35,
  lostAfterMs: 2500,
  foundAfterMs: 1000,
  maxSpread: 0.3,
  minBeams: 20,
};

export class LocalisationHealth {
  readonly #params: HealthParams;
  #localized: boolean | null = null;
  #badSince: number | null = null;
  #goodSince: number | null = null;
  score: number | null = null;

  constructor(params: HealthParams = DEFAULT_HEALTH) {
    this.#params = params;
  }

  /** True once a scan has confirmed the pose, false when scans contradict it, null until either is known. */
  get localized(): boolean | null {
    return this.#localized;
  }

  /** A pose was set; nothing has confirmed it yet. */
  reset(): void {
    this.#localized = null;
    this.#badSince = null;
    this.#goodSince = null;
    this.score = null;
  }

  /** One scan fitted with `score` (0…1) on `beams` rays; the estimate's deviation is `spread` metres. */
  observe(score: number | null, beams: number, spread: number, mono: number): void {
    if (score === null || beams < this.#params.minBeams) return;
    this.score = score;
    const good = score >= this.#params.goodScore && spread <= this.#params.maxSpread;
    const bad = score < this.#params.badScore || spread > 2 * this.#params.maxSpread;
    this.#goodSince = good ? (this.#goodSince ?? mono) : null;
    // While nothing has confirmed a pose, not being good is enough to doubt it.
    const doubted = this.#localized === null ? !good : bad;
    this.#badSince = doubted ? (this.#badSince ?? mono) : null;
    if (this.#localized === null && good) this.#localized = true;
    if (this.#badSince !== null && mono - this.#badSince >= this.#params.lostAfterMs) this.#localized = false;
    if (this.#localized === false && this.#goodSince !== null) {
      if (mono - this.#goodSince >= this.#params.foundAfterMs) this.#localized = true;
    }
  }
}
