/** What the simulation needs of a base, whichever chip it has. */
import type { LineDevice } from './line-device.js';

/** On the world's trace when the base's own watchdog acts. */
export const WATCHDOG_STOPS = 'watchdog stops the wheels';

export interface BaseDevice extends LineDevice {
  readonly name: 'base';
  /** Holds the button down for `ms` that the profile of the simulated home wires to the emergency stop. */
  pressStop(ms: number): void;
}
