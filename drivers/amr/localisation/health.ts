/** When a pose estimate is believed, by how well scans have fitted it over time. */

export interface HealthParams {
  /** Mean likelihood from which on a pose is confirmed, and below which it is doubted. */
  goodScore: number;
  badScore: number;
  /** Doubted for this long it is lost, ms. */
  lostAfterMs: number;
  /** A lost pose is believed again when it fits this well for this long, and nothing speaks for another place. */
  foundScore: number;
  foundAfterMs: number;
  foundShare: number;
  /** So far at least have the farther rays to reach for a scan to tell one place from another, metres. */
  foundReach: number;
  /** Deviation of the estimate up to which it is believed, metres. */
  maxSpread: number;
  /** A scan with fewer rays says nothing. */
  minBeams: number;
}

export const DEFAULT_HEALTH: HealthParams = {
  goodScore: 0.5,
  badScore: 0.4,
  lostAfterMs: 2500,
  foundScore: 0.85,
  foundAfterMs: 1500,
  foundShare: 0.97,
  foundReach: 1,
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

  /** The newest scans contradict the pose; it is not given up yet. */
  get doubted(): boolean {
    return this.#badSince !== null;
  }

  /** A pose was set; nothing has confirmed it yet. */
  reset(): void {
    this.#localized = null;
    this.#badSince = null;
    this.#goodSince = null;
    this.score = null;
  }

  /** The pose is a guess: it has to fit as well as one that was lost. */
  doubt(): void {
    this.#localized = false;
  }

  /** One scan: how well it fits, 0…1, on how many rays, and how sure the filter is. */
  observe(seen: ScanFit, mono: number): void {
    const { score, beams, spread, share, reach } = seen;
    const p = this.#params;
    if (score === null || beams < p.minBeams) return;
    this.score = score;
    const lost = this.#localized === false;
    const fits = score >= (lost ? p.foundScore : p.goodScore) && spread <= p.maxSpread;
    // What stands close around the robot looks like many a corner.
    const telling = reach >= p.foundReach;
    const good = fits && (!lost || (share >= p.foundShare && telling && !seen.rivalled));
    this.#goodSince = good ? (this.#goodSince ?? mono) : null;
    const bad = score < p.badScore || spread > 2 * p.maxSpread;
    // While nothing has confirmed a pose, not being good is enough to doubt it.
    const doubted = this.#localized === null ? !good : bad;
    this.#badSince = doubted ? (this.#badSince ?? mono) : null;
    if (this.#localized === null && good) this.#localized = true;
    else if (this.#badSince !== null && mono - this.#badSince >= p.lostAfterMs) this.#localized = false;
    else if (lost && this.#goodSince !== null && mono - this.#goodSince >= p.foundAfterMs)
      this.#localized = true;
  }
}

export interface ScanFit {
  /** Mean likelihood at the estimate; null without rays. */
  score: number | null;
  beams: number;
  /** Deviation of the estimate, metres. */
  spread: number;
  /** Share of the particles' weight that is round the estimate, 0…1. */
  share: number;
  /** How far the farther rays reach, metres. */
  reach: number;
  /** Another place fits about as well, or it is not known yet whether one does. */
  rivalled: boolean;
}
