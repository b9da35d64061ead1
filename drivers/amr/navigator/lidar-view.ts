import {
  compose,
  type Point,
  type Pose,
  relativeTo,
  type Twist,
} from '../../../config/contracts/geometry.js';
import { clearanceAhead, freeWay } from '../control/free-way.js';
import type { FreeWay, Surroundings } from '../control/types.js';
import type { ScanPoints } from '../localisation/scan-points.js';

/** Things farther along a way than this do not matter to the next seconds of driving, metres. */
const FAR = 1.5;
/** A point is trusted at once when another of its scan lies this near, later when the scan before had one there. */
const COMPANION = 0.15;
/** Nothing real lies within the hull; a little less, because hulls have tolerances. */
const HULL_TOLERANCE = 0.02;

/**
 * What the newest scan shows around the robot, carried along with the odometry until the next one. Single points
 * that appear for one scan only (a corrupted frame, dust) are left out.
 */
export class LidarView {
  readonly #radius: number;
  readonly #margin: number;
  /** The newest and the last scan's points in `odom`. */
  #points: Point[] = [];
  #before: Point[] = [];
  #mono: number | null = null;

  constructor(radius: number, margin: number) {
    this.#radius = radius;
    this.#margin = margin;
  }

  /** Takes in a scan's points, in `base_link` when that was at `odom`. */
  add(points: ScanPoints, odom: Pose, mono: number): void {
    const placed: Point[] = [];
    for (let i = 0; i < points.count; i++) {
      const x = points.x[i] ?? 0;
      const y = points.y[i] ?? 0;
      if (Math.hypot(x, y) < this.#radius - HULL_TOLERANCE) continue;
      const p = compose(odom, { x, y, theta: 0 });
      placed.push({ x: p.x, y: p.y });
    }
    this.#points = placed.filter((p, i) => this.#isReal(p, i, placed));
    this.#before = placed;
    this.#mono = mono;
  }

  /** As seen from where the robot is now. */
  around(odom: Pose, mono: number): Surroundings {
    const x = new Float64Array(this.#points.length);
    const y = new Float64Array(this.#points.length);
    let count = 0;
    for (const p of this.#points) {
      const local = relativeTo(odom, { x: p.x, y: p.y, theta: 0 });
      if (Math.hypot(local.x, local.y) > FAR + this.#radius) continue;
      x[count] = local.x;
      y[count] = local.y;
      count++;
    }
    const set = { x, y, count };
    return {
      ageMs: this.#mono === null ? null : mono - this.#mono,
      clearance: clearanceAhead(set, this.#radius),
      freeWay: (motion: Twist, ignore?: (p: Point) => boolean): FreeWay =>
        freeWay(set, motion, this.#radius, this.#margin, FAR, ignore),
    };
  }

  #isReal(p: Point, i: number, all: readonly Point[]): boolean {
    const near = (q: Point | undefined) => q !== undefined && Math.hypot(q.x - p.x, q.y - p.y) < COMPANION;
    if (near(all[i - 1]) || near(all[i + 1])) return true;
    return this.#before.some(near);
  }
}
