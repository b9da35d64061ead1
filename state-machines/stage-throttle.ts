/** Keeps repeated reports of one stage apart: a change of stage goes out at once, its numbers once a second. */
import type { Clock } from '../config/contracts/clock.js';
import type { StageReporter } from './types.js';

const EVERY_MS = 1000;

export class StageThrottle {
  readonly #clock: Clock;
  readonly #report: StageReporter;
  #last: { key: string; at: number } | null = null;

  constructor(clock: Clock, report: StageReporter) {
    this.#clock = clock;
    this.#report = report;
  }

  /** `data.recovery` and `data.goal` are part of the stage: a new recovery, or the next goal, is told at once. */
  report(stage: string, data: Record<string, unknown>): void {
    const key = `${stage} ${data.recovery ?? ''} ${data.goal ?? ''}`;
    const now = this.#clock.mono();
    if (this.#last !== null && this.#last.key === key && now - this.#last.at < EVERY_MS) return;
    this.#last = { key, at: now };
    this.#report(stage, data);
  }
}
