/** Looks again and again whether the robot knows the time, and says when that changes. */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { Store } from '../store/store.js';
import type { HostTime } from './host-time.js';
import { type ClockTrustMode, type ClockVerdict, type HostTimeFacts, judgeClock } from './judge.js';

export interface ClockTrustDeps {
  mode: ClockTrustMode;
  clock: Clock;
  store: Store;
  log: Log;
  /** Null: the time is given, as in a simulation, and nobody has to be asked. */
  host: HostTime | null;
}

const LOOK_MS = 30_000;
/** How often the newest known time is written down, ms. */
const KEEP_MS = 10 * 60_000;
const KEY = 'newest_time';
/** Somebody gives the time, and answers for it. */
const GIVEN: HostTimeFacts = { synchronised: true, rtc: null };

export class ClockTrust {
  readonly #d: ClockTrustDeps;
  readonly #listeners = new Set<() => void>();
  #facts: HostTimeFacts | null;
  #newestMs: number | null;
  #stop: (() => void) | null = null;
  #told: boolean | null = null;
  #looking = false;

  constructor(deps: ClockTrustDeps) {
    this.#d = deps;
    this.#facts = deps.host === null ? GIVEN : null;
    this.#newestMs = loadNewest(deps.store);
  }

  trusted(): boolean {
    return this.verdict().trusted;
  }

  /** Judged anew at each call: a clock can be set at any time. */
  verdict(): ClockVerdict {
    const { mode, clock, host } = this.#d;
    if (host === null && mode === 'auto') return judgeClock('always', this.#evidence(clock.now()));
    return judgeClock(mode, this.#evidence(clock.now()));
  }

  /** Called when it becomes trusted, and when it no longer is. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    if (this.#d.host === null || this.#stop !== null) return;
    this.#stop = this.#d.clock.every(LOOK_MS, () => void this.#look());
    await this.#look();
  }

  close(): void {
    this.#stop?.();
    this.#stop = null;
    this.#listeners.clear();
  }

  async #look(): Promise<void> {
    const { host, log } = this.#d;
    if (host === null || this.#looking) return;
    this.#looking = true;
    try {
      this.#facts = await host();
    } catch (error) {
      log.warn({ error: errorText(error) }, 'the host does not say how it keeps the time');
      this.#facts = { synchronised: null, rtc: null };
    } finally {
      this.#looking = false;
    }
    if (this.#stop === null) return;
    this.#tell();
    this.#keep();
  }

  #tell(): void {
    const { trusted, why } = this.verdict();
    if (trusted === this.#told) return;
    this.#d.log.info({ trusted, why: why.en }, 'the clock of the robot');
    this.#told = trusted;
    for (const listener of this.#listeners) listener();
  }

  /** Only a time that is trusted counts, so that one wrong look does not spoil what follows. */
  #keep(): void {
    const { clock, store, log } = this.#d;
    const nowMs = Math.round(clock.now());
    if (!this.trusted() || nowMs < (this.#newestMs ?? 0) + KEEP_MS) return;
    try {
      store.write(() =>
        store.db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(KEY, String(nowMs)),
      );
      this.#newestMs = nowMs;
    } catch (error) {
      log.warn({ error: errorText(error) }, 'the time could not be written down');
    }
  }

  #evidence(nowMs: number) {
    return { nowMs, newestMs: this.#newestMs, host: this.#facts };
  }
}

function loadNewest({ db }: Store): number | null {
  const value = Number(db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(KEY) ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}
