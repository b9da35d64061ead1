/**
 * When the base has its drive enabled: not while the safety layer forbids it, not while it stands idle on its
 * charger (in the mode in which it drives it does not charge), and otherwise always, because a base left
 * disabled away from its charger falls asleep.
 */
import type { Clock } from '../../config/contracts/clock.js';
import type { BaseDriver } from '../serial/types.js';

export interface PowerWish {
  forbidden: boolean;
  /** An action runs or waits, or the wheels are still being slowed down. */
  wanted: boolean;
  docked: boolean | null;
}

/** A base that has not followed is asked again after this long, ms. */
const ASK_AGAIN_MS = 500;

export class DrivePower {
  readonly #clock: Clock;
  readonly #base: Pick<BaseDriver, 'enable' | 'disable'>;
  readonly #counters = { drive_enables: 0, drive_disables: 0 };
  #asked: 'on' | 'off' | null = null;
  #askedMono = 0;
  #reported: boolean | null = null;
  #held = false;

  constructor(clock: Clock, base: Pick<BaseDriver, 'enable' | 'disable'>) {
    this.#clock = clock;
    this.#base = base;
  }

  onFrame(driveEnabled: boolean): void {
    this.#reported = driveEnabled;
  }

  /** The connection changed: what was asked of the base before is forgotten. */
  onLink(): void {
    this.#asked = null;
    this.#reported = null;
  }

  /** For wheels that do not stop: off until the next action begins. */
  cut(): void {
    this.#held = true;
    this.#ask('off');
  }

  release(): void {
    this.#held = false;
  }

  update(wish: PowerWish): void {
    if (wish.forbidden) {
      // The guard has disabled it already; it stays so until somebody wants to drive.
      this.#asked = 'off';
      return;
    }
    if (this.#reported === null || this.#held) return;
    if (wish.wanted || wish.docked === false) this.#keep('on', this.#reported);
    else if (wish.docked === true) this.#keep('off', this.#reported);
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  #keep(state: 'on' | 'off', reported: boolean): void {
    const follows = reported === (state === 'on');
    if (this.#asked === state && (follows || this.#clock.mono() - this.#askedMono < ASK_AGAIN_MS)) return;
    if (this.#asked === null && follows) {
      this.#asked = state;
      return;
    }
    this.#ask(state);
  }

  #ask(state: 'on' | 'off'): void {
    this.#asked = state;
    this.#askedMono = this.#clock.mono();
    if (state === 'on') this.#base.enable();
    else this.#base.disable();
    this.#counters[state === 'on' ? 'drive_enables' : 'drive_disables'] += 1;
  }
}
