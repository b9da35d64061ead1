/**
 * How long this machine keeps a process waiting that does nothing but look at the clock. On a machine that is busy
 * with other things, that much of a measured time is nobody's fault.
 */
const LOOK_MS = 5;
const KEEP = 20_000;

export class LagMeter {
  readonly #late: { at: number; ms: number }[] = [];
  #expected = 0;
  #timer: NodeJS.Timeout | null = null;

  start(): void {
    this.#expected = Date.now() + LOOK_MS;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** The longest that a timer due between these two wall times was late, ms. */
  longest(from: number, to: number): number {
    const within = this.#late.filter(({ at, ms }) => at >= from && at - ms <= to);
    return within.reduce((max, { ms }) => Math.max(max, ms), 0);
  }

  #look(): void {
    const now = Date.now();
    const ms = now - this.#expected;
    // Timers count whole milliseconds.
    if (ms > 1) this.#late.push({ at: now, ms });
    if (this.#late.length > KEEP) this.#late.splice(0, KEEP / 2);
    this.#expected = now + LOOK_MS;
  }
}
