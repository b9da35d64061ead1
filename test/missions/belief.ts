/** What the robot tells others of its place, held against where it is. */
import { distance } from '../../config/contracts/geometry.js';
import type { DeviceContextV1 } from '../../config/contracts/wire/context.js';
import type { Home } from '../support/home.js';

/** Farther off than this the robot is wrong, m. */
const WRONG = 0.5;

export interface Belief {
  /** As it was told last; null when the robot does not know. */
  localized: boolean | null;
  /** Longest time without a break that it was sure of a place it was not at, ms. */
  wronglySureMs: number;
  look(): Promise<void>;
}

export function beliefOf(home: Home): Belief {
  let since: number | null = null;
  const belief: Belief = {
    localized: null,
    wronglySureMs: 0,
    look: async () => {
      const query = { kind: 'query', method: 'getDevicePlanningContext', params: { version: 1 } };
      const { status, result } = await home.command(query);
      if (status !== 'accepted') return;
      const { location } = result as DeviceContextV1;
      belief.localized = location.usable ? location.localized : null;
      const { x, y } = location;
      const wrong =
        belief.localized === true && x !== null && y !== null && distance({ x, y }, home.world.pose) > WRONG;
      const now = home.world.timeMs;
      since = wrong ? (since ?? now) : null;
      if (since !== null) belief.wronglySureMs = Math.max(belief.wronglySureMs, now - since);
    },
  };
  return belief;
}
