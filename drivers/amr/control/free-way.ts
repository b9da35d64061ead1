import type { Point, Twist } from '../../../config/contracts/geometry.js';
import type { FreeWay } from './types.js';

/** Points in `base_link`, metres. */
export interface PointSet {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly count: number;
}

const NOTHING: FreeWay = { distance: Number.POSITIVE_INFINITY, at: null };
/** Curves wider than this are taken as straight, 1/m. */
const STRAIGHT = 0.02;

/**
 * How far a disc of radius `hull` with `margin` around it (metres) can follow the arc of a motion before it touches
 * one of the points; exact, by the circle the centre moves on. Things within the margin already count for the hull
 * alone, so that the robot can drive on beside them. `far`: nothing farther along the way is looked at, metres.
 */
export function freeWay(
  points: PointSet,
  motion: Twist,
  hull: number,
  margin: number,
  far: number,
  ignore?: (p: Point) => boolean,
): FreeWay {
  if (Math.abs(motion.v) < 1e-3) return NOTHING;
  const side = motion.v > 0 ? 1 : -1;
  const curvature = motion.w / motion.v;
  let best = far;
  let found = -1;
  for (let i = 0; i < points.count; i++) {
    // Driving backwards is driving forwards with the x axis turned round, at the same curvature.
    const x = side * (points.x[i] ?? 0);
    const y = points.y[i] ?? 0;
    // Not `Math.hypot`, which is slow: this runs for every point at every step.
    const away = Math.sqrt(x * x + y * y);
    const radius = away < hull + margin ? hull : hull + margin;
    // Nothing on this way is nearer than the straight line to it.
    if (away - radius >= best) continue;
    const d =
      Math.abs(curvature) < STRAIGHT ? straightWay(x, y, radius) : arcWay(x, y, radius, 1 / curvature);
    if (d >= best) continue;
    if (ignore?.({ x: points.x[i] ?? 0, y }) === true) continue;
    best = d;
    found = i;
  }
  if (found < 0) return NOTHING;
  return { distance: best, at: { x: points.x[found] ?? 0, y: points.y[found] ?? 0 } };
}

function straightWay(x: number, y: number, radius: number): number {
  if (x <= 0 || Math.abs(y) >= radius) return Number.POSITIVE_INFINITY;
  return Math.max(0, x - Math.sqrt(radius * radius - y * y));
}

/** `turn`: signed radius of the centre's circle, its middle at (0, `turn`). */
function arcWay(x: number, y: number, radius: number, turn: number): number {
  if (x * x + y * y < radius * radius) return x > 0 ? 0 : Number.POSITIVE_INFINITY;
  const r = Math.abs(turn);
  const fromMiddle = Math.sqrt(x * x + (y - turn) ** 2);
  if (Math.abs(fromMiddle - r) >= radius || fromMiddle < 1e-9) return Number.POSITIVE_INFINITY;
  // Angle, in the sense of the motion, at which the centre passes the point, and how much before it touches.
  const direction = turn > 0 ? Math.atan2(x, turn - y) : Math.atan2(x, y - turn);
  const passes = direction < 0 ? direction + 2 * Math.PI : direction;
  const cosine = (r * r + fromMiddle * fromMiddle - radius * radius) / (2 * r * fromMiddle);
  const before = Math.acos(Math.min(1, Math.max(-1, cosine)));
  return Math.max(0, passes - before) * r;
}

/** Distance from the hull of a disc of `radius` to the nearest point ahead or beside, metres. */
export function clearanceAhead(points: PointSet, radius: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < points.count; i++) {
    const x = points.x[i] ?? 0;
    const y = points.y[i] ?? 0;
    if (x > -0.05) nearest = Math.min(nearest, x * x + y * y);
  }
  return Math.max(0, Math.sqrt(nearest) - radius);
}
