/** A scanning range finder on the middle of the robot: rays against walls, furniture, people and obstacles. */
import { compose, type Pose, wrapAngle } from '../../config/contracts/geometry.js';
import type { RoundThing } from './body.js';
import type { Layout } from './layout.js';
import type { Random } from './random.js';

/** Metres. */
const LIDAR_MIN = 0.03;
export const LIDAR_MAX = 12;
/** Noise: constant part, m, and part that grows with the range. */
const NOISE = 0.006;
const NOISE_SHARE = 0.002;
/** Share of rays that come back with nothing, e.g. from dark or shiny things. */
const DROPOUT = 0.008;

export interface Beam {
  /** Metres; 0 when nothing came back. */
  range: number;
  /** 0…255 */
  intensity: number;
}

/** How it sits on the robot: off the middle (m), turned (rad), upside down; and posts it sees of the robot itself. */
export interface LidarMounting {
  x: number;
  y: number;
  yaw: number;
  inverted: boolean;
  /** Bearing from its head and width, rad, and range, m. */
  posts: readonly { bearing: number; width: number; range: number }[];
}

export class LidarSensor {
  mounting: LidarMounting | null = null;
  /** Width of a sector in front that something covers, rad; nothing comes back from there. */
  blockedSector = 0;
  readonly #layout: Layout;
  readonly #random: Random;
  readonly #beam: Beam = { range: 0, intensity: 0 };

  constructor(layout: Layout, random: Random) {
    this.#layout = layout;
    this.#random = random;
  }

  /**
   * One measurement at `direction` (counter-clockwise from the device's front, as an upright one has it). The returned
   * object is reused by the next call.
   */
  measure(robot: Pose, direction: number, things: readonly RoundThing[]): Beam {
    const beam = this.#beam;
    const { mounting } = this;
    const bearing =
      mounting === null ? direction : wrapAngle(mounting.yaw + (mounting.inverted ? -direction : direction));
    const pose = mounting === null ? robot : compose(robot, { x: mounting.x, y: mounting.y, theta: 0 });
    const post = mounting?.posts.find((p) => Math.abs(wrapAngle(bearing - p.bearing)) <= p.width / 2);
    const truth = post?.range ?? this.trueRange(pose, bearing, things);
    const lost = this.#random.next() < DROPOUT;
    const noise = this.#random.gauss() * (NOISE + NOISE_SHARE * truth);
    const range = truth + noise;
    const covered = this.blockedSector > 0 && Math.abs(wrapSmall(bearing)) <= this.blockedSector / 2;
    if (lost || covered || truth >= LIDAR_MAX || range < LIDAR_MIN) {
      beam.range = 0;
      beam.intensity = 0;
      return beam;
    }
    beam.range = range;
    beam.intensity = Math.round(235 - 12 * truth);
    return beam;
  }

  /** Distance to the first thing a ray meets, without noise; `LIDAR_MAX` when there is none. */
  trueRange(pose: Pose, bearing: number, things: readonly RoundThing[]): number {
    const angle = pose.theta + bearing;
    const dx = Math.cos(angle);
    const dy = Math.sin(angle);
    const range = this.#layout.seen.cast(pose.x, pose.y, dx, dy, LIDAR_MAX);
    return nearestThing(pose.x, pose.y, dx, dy, things, range);
  }
}

/** Distance along a unit ray to the first round thing, at most `max`. */
export function nearestThing(
  x: number,
  y: number,
  dx: number,
  dy: number,
  things: readonly RoundThing[],
  max: number,
): number {
  let range = max;
  for (const thing of things) range = Math.min(range, toCircle(x, y, dx, dy, thing));
  return range;
}

/** Distance along a unit ray to a circle; infinite when it misses. */
export function toCircle(x: number, y: number, dx: number, dy: number, thing: RoundThing): number {
  const ox = thing.x - x;
  const oy = thing.y - y;
  const along = ox * dx + oy * dy;
  if (along < 0) return Number.POSITIVE_INFINITY;
  const miss2 = ox * ox + oy * oy - along * along;
  const room2 = thing.radius * thing.radius - miss2;
  return room2 < 0 ? Number.POSITIVE_INFINITY : along - Math.sqrt(room2);
}

/** To (−π, π] for angles that are off by one turn at most. */
function wrapSmall(a: number): number {
  return a > Math.PI ? a - 2 * Math.PI : a <= -Math.PI ? a + 2 * Math.PI : a;
}
