/**
 * Sends the robot home when its battery runs low. A move that the low battery ended does not drive on by itself:
 * going home is a task of its own, with its own evidence, and may be cancelled like any other.
 */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { DeviceState } from './device-state.js';

export interface BatteryGuardDeps {
  clock: Clock;
  log: Log;
  state: DeviceState;
  /** True while a task drives home already. */
  goingHome(): boolean;
  /** Submits `returnToStation`; may throw a `Refusal`. */
  goHome(): void;
}

const LOOK_MS = 2000;
/** Between two attempts, ms: a person may have cancelled one, or the way may be blocked. */
const AGAIN_MS = 120_000;

export class BatteryGuard {
  readonly #off: () => void;
  #notBefore = 0;

  constructor(deps: BatteryGuardDeps) {
    this.#off = deps.clock.every(LOOK_MS, () => this.#look(deps));
  }

  close(): void {
    this.#off();
  }

  #look({ clock, log, state, goingHome, goHome }: BatteryGuardDeps): void {
    const { low, on_station, charging } = state.battery();
    if (low !== true || on_station !== false || charging === true || state.facts().estop) return;
    if (clock.mono() < this.#notBefore || goingHome()) return;
    this.#notBefore = clock.mono() + AGAIN_MS;
    try {
      goHome();
      log.info({}, 'the battery is low: the robot goes home');
    } catch (error) {
      log.warn(
        { error: errorText(error) },
        'the battery is low and the robot cannot go home now; it tries again',
      );
    }
  }
}
