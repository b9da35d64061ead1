import type { Scan } from '../../../config/contracts/amr.js';
import { type Pose, relativeTo } from '../../../config/contracts/geometry.js';

/** Ends of the rays that hit something, in `base_link` at the scan's time stamp, metres; by bearing. */
export interface ScanPoints {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly count: number;
}

/** When within a turn of the lidar each bearing is measured. The turn ends at the scan's time stamp. */
export interface ScanTiming {
  /** How long a turn takes, ms; 0: all rays at once. */
  turnMs: number;
  clockwise: boolean;
  /** Bearing in `base_link` at which the turn begins, rad. */
  startBearing: number;
}

/** LDROBOT LD19: ten turns a second, clockwise, from straight ahead. */
export const LD19_TIMING: ScanTiming = { turnMs: 100, clockwise: true, startBearing: 0 };

/** The robot's motion during a turn is taken as this many straight pieces. */
const PIECES = 8;

/**
 * The points a scan saw. A ray is measured while the robot moves: at 1.5 rad/s the first and the last of a turn
 * are 9° apart, so each is taken back to the time stamp along the odometry. `poseAt`: `base_link` in `odom` by time.
 */
export function scanPoints(
  scan: Scan,
  mono: number,
  poseAt: (mono: number) => Pose,
  timing: ScanTiming = LD19_TIMING,
): ScanPoints {
  const x = new Float64Array(scan.ranges.length);
  const y = new Float64Array(scan.ranges.length);
  const knots = motionKnots(mono, poseAt, timing);
  let count = 0;
  for (let i = 0; i < scan.ranges.length; i++) {
    const r = scan.ranges[i] ?? Number.NaN;
    // False for NaN as well.
    if (!(r >= scan.rangeMin && r < scan.rangeMax)) continue;
    const bearing = scan.angleMin + i * scan.angleIncrement;
    const at = turnShare(bearing, timing) * PIECES;
    const k = Math.min(PIECES - 1, Math.floor(at));
    const share = at - k;
    const [a, b] = [knots[k], knots[k + 1]];
    if (a === undefined || b === undefined) continue;
    const angle = a.theta + (b.theta - a.theta) * share + bearing;
    x[count] = a.x + (b.x - a.x) * share + r * Math.cos(angle);
    y[count] = a.y + (b.y - a.y) * share + r * Math.sin(angle);
    count++;
  }
  return { x, y, count };
}

/** At most `limit` of the points, evenly. */
export function thinOut(points: ScanPoints, limit: number): ScanPoints {
  if (points.count <= limit) return points;
  const x = new Float64Array(limit);
  const y = new Float64Array(limit);
  for (let k = 0; k < limit; k++) {
    const i = Math.floor((k * points.count) / limit);
    x[k] = points.x[i] ?? 0;
    y[k] = points.y[i] ?? 0;
  }
  return { x, y, count: limit };
}

/** The distance that this share of the points exceeds, metres; 0 without points. */
export function reachOf(points: ScanPoints, share: number): number {
  const ranges = new Float64Array(points.count);
  for (let i = 0; i < points.count; i++) ranges[i] = Math.hypot(points.x[i] ?? 0, points.y[i] ?? 0);
  ranges.sort();
  return ranges[Math.floor(points.count * (1 - share))] ?? 0;
}

/** How much of the turn has passed when a bearing is measured, 0…1. */
function turnShare(bearing: number, timing: ScanTiming): number {
  const turned = timing.clockwise ? timing.startBearing - bearing : bearing - timing.startBearing;
  const turns = turned / (2 * Math.PI);
  return turns - Math.floor(turns);
}

/** Poses during the turn, in `base_link` at its end. */
function motionKnots(mono: number, poseAt: (mono: number) => Pose, timing: ScanTiming): Pose[] {
  const end = poseAt(mono);
  return Array.from({ length: PIECES + 1 }, (_, k) =>
    relativeTo(end, poseAt(mono - timing.turnMs * (1 - k / PIECES))),
  );
}
