/**
 * Turns a 16-bit wheel encoder that rolls over into a total. Right as long as less than half the range
 * (32767 counts, 14 m) passes between two reports.
 */
export class EncoderUnwrapper {
  #last: number | null = null;
  #total = 0;
  readonly #maxStep: number;

  /** A step of more than `maxStep` counts is a base that was restarted or pushed about, not a wheel that turned. */
  constructor(maxStep = 0x8000) {
    this.#maxStep = maxStep;
  }

  /** Counts passed since the first report; the first one, and one after `forget`, adds nothing. */
  get total(): number {
    return this.#total;
  }

  /** Takes a report, 0…65535. False when the step was too large: it adds nothing, and counting goes on from there. */
  update(raw: number): boolean {
    const last = this.#last;
    this.#last = raw;
    if (last === null) return true;
    const step = ((raw - last + 0x8000) & 0xffff) - 0x8000;
    if (Math.abs(step) > this.#maxStep) return false;
    this.#total += step;
    return true;
  }

  /** The next report is a new start: what passed in between is not known. */
  forget(): void {
    this.#last = null;
  }
}
