import type { Point, Pose, Twist } from '../../../config/contracts/geometry.js';
import { clearanceAhead, freeWay, type PointSet } from '../control/free-way.js';
import type { FreeWay, Surroundings } from '../control/types.js';
import type { ScanPoints } from '../localisation/scan-points.js';

/** Things farther along a way than this do not matter to the next seconds of driving, metres. */
const FAR = 1.5;
/** A point is trusted at once when another of its scan lies this near, later when the scan before had one there. */
const COMPANION = 0.15;
/** Nothing real lies within the hull; a little less, because hulls have tolerances. */
const HULL_TOLERANCE = 0.02;

/**
 * Half the angle that counts as ahead, or behind, rad, and the share of its rays that have to come back. In a home
 * something is always within range; where nothing is, the lidar is covered, and driving that way is driving blind.
 */
const WAY_ANGLE = Math.PI / 4;
const SEEN_SHARE = 0.1;

const NO_POINTS: PointSet = { x: new Float64Array(0), y: new Float64Array(0), count: 0 };

/**
 * What the newest scan shows around the robot, carried along with the odometry until the next one. Single points
 * that appear for one scan only (a corrupted frame, dust) are left out.
 */
export class LidarView {
  readonly #radius: number;
  readonly #margin: number;
  /** Of the newest scan the points that are trusted, and all points of the last scan, in `odom`. */
  #points: PointSet = NO_POINTS;
  #before: PointSet = NO_POINTS;
  #mono: number | null = null;
  #aheadMono: number | null = null;
  #behindMono: number | null = null;

  constructor(radius: number, margin: number) {
    this.#radius = radius;
    this.#margin = margin;
  }

  /** Takes in the points of a scan of so many rays, in `base_link` when that was at `odom`. */
  add(points: ScanPoints, rays: number, odom: Pose, mono: number): void {
    const needed = SEEN_SHARE * rays * (WAY_ANGLE / Math.PI);
    if (countAhead(points, 1) >= needed) this.#aheadMono = mono;
    if (countAhead(points, -1) >= needed) this.#behindMono = mono;
    const placed = this.#place(points, odom);
    this.#points = this.#trusted(placed);
    this.#before = placed;
    this.#mono = mono;
  }

  /** As seen from where the robot is now. Worked out only when somebody looks. */
  around(odom: Pose, mono: number): Surroundings {
    let seen: PointSet | null = null;
    const set = () => {
      seen ??= this.#nearby(odom);
      return seen;
    };
    const [radius, margin] = [this.#radius, this.#margin];
    return {
      ageMs: since(this.#mono, mono),
      aheadAgeMs: since(this.#aheadMono, mono),
      behindAgeMs: since(this.#behindMono, mono),
      get clearance() {
        return clearanceAhead(set(), radius);
      },
      freeWay: (motion: Twist, ignore?: (p: Point) => boolean): FreeWay =>
        freeWay(set(), motion, radius, margin, FAR, ignore),
    };
  }

  /** Outside the hull, in `odom`. */
  #place(points: ScanPoints, odom: Pose): PointSet {
    const x = new Float64Array(points.count);
    const y = new Float64Array(points.count);
    const c = Math.cos(odom.theta);
    const s = Math.sin(odom.theta);
    const hull = (this.#radius - HULL_TOLERANCE) ** 2;
    let count = 0;
    for (let i = 0; i < points.count; i++) {
      const px = points.x[i] ?? 0;
      const py = points.y[i] ?? 0;
      if (px * px + py * py < hull) continue;
      x[count] = odom.x + c * px - s * py;
      y[count] = odom.y + s * px + c * py;
      count++;
    }
    return { x, y, count };
  }

  #trusted(placed: PointSet): PointSet {
    const x = new Float64Array(placed.count);
    const y = new Float64Array(placed.count);
    let count = 0;
    for (let i = 0; i < placed.count; i++) {
      if (!this.#isReal(placed, i)) continue;
      x[count] = placed.x[i] ?? 0;
      y[count] = placed.y[i] ?? 0;
      count++;
    }
    return { x, y, count };
  }

  #isReal(placed: PointSet, i: number): boolean {
    const x = placed.x[i] ?? 0;
    const y = placed.y[i] ?? 0;
    if (isNear(placed, i - 1, x, y) || isNear(placed, i + 1, x, y)) return true;
    for (let k = 0; k < this.#before.count; k++) if (isNear(this.#before, k, x, y)) return true;
    return false;
  }

  /** In `base_link` at `odom`, what lies near enough to matter. */
  #nearby(odom: Pose): PointSet {
    const points = this.#points;
    const x = new Float64Array(points.count);
    const y = new Float64Array(points.count);
    const c = Math.cos(odom.theta);
    const s = Math.sin(odom.theta);
    const reach = (FAR + this.#radius) ** 2;
    let count = 0;
    for (let i = 0; i < points.count; i++) {
      const dx = (points.x[i] ?? 0) - odom.x;
      const dy = (points.y[i] ?? 0) - odom.y;
      if (dx * dx + dy * dy > reach) continue;
      x[count] = c * dx + s * dy;
      y[count] = -s * dx + c * dy;
      count++;
    }
    return { x, y, count };
  }
}

function since(then: number | null, mono: number): number | null {
  return then === null ? null : mono - then;
}

/** Points ahead, or with `side` −1 behind. */
function countAhead(points: ScanPoints, side: 1 | -1): number {
  let count = 0;
  for (let i = 0; i < points.count; i++) {
    if (Math.abs(points.y[i] ?? 0) <= side * (points.x[i] ?? 0) * Math.tan(WAY_ANGLE)) count++;
  }
  return count;
}

/** Point `i` of the set, if there is one, lies next to (x, y). */
function isNear(set: PointSet, i: number, x: number, y: number): boolean {
  if (i < 0 || i >= set.count) return false;
  const dx = (set.x[i] ?? 0) - x;
  const dy = (set.y[i] ?? 0) - y;
  return dx * dx + dy * dy < COMPANION * COMPANION;
}
