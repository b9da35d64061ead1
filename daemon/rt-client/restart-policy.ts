/** When a motion process that died is started again: at once, unless it keeps dying. */

/** Deaths within the window that are answered at once. */
const AT_ONCE = 3;
const WINDOW_MS = 30_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

export class RestartPolicy {
  readonly #deaths: number[] = [];

  /** Milliseconds to wait after a death at `mono`. It never gives up: a cable may be plugged in at any time. */
  delayAfterDeath(mono: number): number {
    this.#deaths.push(mono);
    while ((this.#deaths[0] ?? mono) < mono - WINDOW_MS) this.#deaths.shift();
    const tooMany = this.#deaths.length - AT_ONCE;
    return tooMany <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tooMany - 1));
  }
}
