/** Lets simulated time pass: at real speed, N times as fast, or as fast as everybody can follow. */
import type { Clock } from '../../config/contracts/clock.js';

export type Speed = number | 'max';

/** Milliseconds of simulated time per tick: one frame of the base's sensor stream. */
export const TICK_MS = 15;

/** Of a run that fell behind real time, so much is caught up at once, ms; the rest is let go and counted. */
const CATCH_UP_MS = 150;
/** How often a paced run looks at the clock, ms. */
const LOOK_MS = 5;

export interface PaceOptions {
  speed: Speed;
  /** Real time. */
  wall: Clock;
  /** One tick; resolves when everybody has followed. */
  tick(): Promise<void> | void;
  /** True while a process that takes part is missing: time then passes no faster than real time. */
  waiting(): boolean;
  onError(error: unknown): void;
}

export class Pace {
  /** Simulated milliseconds that could not be caught up. */
  lostMs = 0;
  readonly #options: PaceOptions;
  #stopped = false;
  #running: Promise<void> | null = null;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run().catch(this.#options.onError);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { wall, speed } = this.#options;
    let owedMs = 0;
    let last = wall.mono();
    while (!this.#stopped) {
      const factor = this.#options.waiting() ? 1 : speed;
      const now = wall.mono();
      if (factor === 'max') {
        await this.#options.tick();
        last = wall.mono();
        owedMs = 0;
        continue;
      }
      owedMs += (now - last) * factor;
      last = now;
      owedMs = this.#bounded(owedMs, factor);
      while (owedMs >= TICK_MS && !this.#stopped) {
        await this.#options.tick();
        owedMs -= TICK_MS;
      }
      await new Promise<void>((resolve) => wall.after(LOOK_MS, resolve));
    }
  }

  #bounded(owedMs: number, factor: number): number {
    const limit = CATCH_UP_MS * Math.max(1, factor);
    if (owedMs <= limit) return owedMs;
    this.lostMs += owedMs - limit;
    return limit;
  }
}
