/** What a Kobuki tells of its battery is a voltage; how full that is, and who charges. */
import type { ChargerState } from './feedback.js';

/** Four lithium cells. Full and empty, V, and two points between, with their percent: as the maker's driver has them. */
const CURVE: readonly (readonly [volts: number, percent: number])[] = [
  [13.2, 0],
  [14.0, 20],
  [15.5, 70],
  [16.5, 100],
];
/** Outside of this no pack of four cells can be, V. */
const LOWEST = 10;
const HIGHEST = 18;

/** Percent by the voltage; null where the reading cannot be one. A pack that is being charged shows more than it has. */
export function percentOf(decivolts: number): number | null {
  const volts = decivolts / 10;
  if (volts < LOWEST || volts > HIGHEST) return null;
  let [below] = CURVE;
  for (const point of CURVE) {
    if (below === undefined || volts <= point[0]) {
      const [v0, p0] = below ?? point;
      const [v1, p1] = point;
      if (v1 === v0 || volts <= v0) return p0;
      return Math.round(p0 + ((volts - v0) / (v1 - v0)) * (p1 - p0));
    }
    below = point;
  }
  return 100;
}

export function isCharging(state: ChargerState): boolean {
  return state === 'docking_charging' || state === 'adapter_charging';
}

/** Contacts of the station live. */
export function isDocked(state: ChargerState): boolean {
  return state === 'docking_charged' || state === 'docking_charging';
}

/** The cable of the adapter is in: wheels that turn would tear at it. */
export function isOnCable(state: ChargerState): boolean {
  return state === 'adapter_charged' || state === 'adapter_charging';
}
