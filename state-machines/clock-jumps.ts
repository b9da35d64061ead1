/** Robot time may be set; what a machine remembers in it then moves along, so that waits and ages stay what they were. */
import type { Clock } from '../config/contracts/clock.js';

/** A difference between the two clocks beyond this is a jump, not their drift, ms. */
const JUMP_MS = 500;

/** What a machine hears before the first event after a jump. */
export interface ClockSet {
  type: 'CLOCK_SET';
  /** Milliseconds by which robot time was moved; negative: back. */
  by: number;
}

export class ClockJumps {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.mono();
  }

  /** By how much robot time has jumped since this was last asked; 0 when it has not. */
  take(): number {
    const offset = this.#clock.now() - this.#clock.mono();
    const by = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(by) > JUMP_MS ? by : 0;
  }
}

/** The moment `mono` of the clock that never jumps, in robot time as it stands now. */
export function robotTimeOf(clock: Clock, mono: number): number {
  return clock.now() - (clock.mono() - mono);
}
