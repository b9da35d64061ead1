/** How a robot that has no idea finds out where it is: put down anywhere on a map, turning on the spot. */
import { distance, type Pose } from '../../config/contracts/geometry.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { COST_INSCRIBED } from '../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../drivers/amr/costmap/static-costmap.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import { Drive } from '../unit/amr/support/drive.js';

export interface Finding {
  at: Pose;
  /** Robot time until it was sure, ms; null: it was not within the time given. */
  afterMs: number | null;
  /** Metres that it was wrong by when it was sure. */
  error: number | null;
}

/** Farther off than this it was sure of a wrong place, m. */
export const WRONG = 0.5;

/** Places with room for a robot to turn, at random. */
export function anywhere(bundle: MapBundle, count: number, seed: number): Pose[] {
  const costmap = new StaticCostmap(bundle);
  const random = seededRandom(seed);
  const places: Pose[] = [];
  while (places.length < count) {
    const cell = Math.floor(random() * costmap.cost.length);
    if ((costmap.cost[cell] ?? 255) >= COST_INSCRIBED) continue;
    places.push({ ...costmap.frame.centreOf(cell), theta: (2 * random() - 1) * Math.PI });
  }
  return places;
}

/** Turns on the spot until it is sure, or for `limitMs`. */
export async function findItself(
  bundle: MapBundle,
  at: Pose,
  seed: number,
  limitMs = 60_000,
): Promise<Finding> {
  const drive = new Drive(bundle, at, { seed });
  drive.navigator.relocalizeAnywhere();
  const began = drive.robot.timeMs;
  const state = () => drive.navigator.state();
  for (let k = 0; drive.robot.timeMs - began < limitMs; k++) {
    drive.navigator.start(`turn-${k}`, { kind: 'spin', angle: Math.PI, tolerance: 0.1 });
    for (let t = 0; t < 5000 && state().localized !== true; t += 50) await drive.step();
    if (state().localized !== true) continue;
    const { pose } = state();
    return {
      at,
      afterMs: drive.robot.timeMs - began,
      error: pose === null ? null : distance(pose, drive.robot.pose),
    };
  }
  return { at, afterMs: null, error: null };
}
