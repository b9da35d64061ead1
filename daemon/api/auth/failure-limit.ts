/** Counts failed attempts to authenticate per address, within a window, in bounded memory. */

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 256;

interface Failures {
  count: number;
  since: number;
}

/**
 * Credentials are 256 random bits, so this is not what keeps guessing out: it bounds the work and the log
 * lines that guessing causes. A right credential is served whatever was tried before, because nobody may be
 * able to lock a person out of the e-stop.
 */
export class FailureLimit {
  readonly #failures = new Map<string, Failures>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a failure; returns how long to wait, ms, once there were too many, otherwise 0. */
  failed(address: string): number {
    const now = this.#now();
    const known = this.#failures.get(address);
    const entry = known !== undefined && now - known.since < WINDOW_MS ? known : { count: 0, since: now };
    entry.count += 1;
    this.#failures.delete(address);
    this.#failures.set(address, entry);
    if (this.#failures.size > MAX_ADDRESSES) this.#forgetOldest();
    return entry.count > MAX_FAILURES ? WINDOW_MS - (now - entry.since) : 0;
  }

  #forgetOldest(): void {
    for (const address of this.#failures.keys()) {
      this.#failures.delete(address);
      return;
    }
  }
}
