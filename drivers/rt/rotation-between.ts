/** How much more the robot turned between two scans than was predicted: cheap enough for a control cycle. */
import type { Scan } from '../../config/contracts/amr.js';
import { type Pose, relativeTo } from '../../config/contracts/geometry.js';

const BINS = 360;
const TURN = 2 * Math.PI;
/** Looked for this many bins (degrees) each way. */
const REACH = 45;
/** Ranges that differ by more than this differ, m: something else is seen there. */
const WORST = 0.5;
/** Compared in at least so many bins; and the best turn has to explain the scan so much better than none. */
const LEAST = 60;
const BETTER = 0.7;

/** Radians, positive to the left; 0 where the prediction fits as well; null when too little is seen. */
export function rotationBetween(before: Scan, after: Scan, predicted: Pose): number | null {
  const expected = profile(before, predicted);
  const seen = profile(after, { x: 0, y: 0, theta: 0 });
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  const none = difference(expected, seen, 0);
  if (none === null) return null;
  for (let shift = -REACH; shift <= REACH; shift++) {
    const found = difference(expected, seen, shift);
    if (found === null || found >= least) continue;
    least = found;
    best = shift;
  }
  return least < BETTER * none ? (best * TURN) / BINS : 0;
}

/** Nearest range by bearing, of a scan as it would be seen from `pose`. */
function profile(scan: Scan, pose: Pose): Float64Array {
  const out = new Float64Array(BINS).fill(Number.NaN);
  for (let i = 0; i < scan.ranges.length; i++) {
    const range = scan.ranges[i] ?? Number.NaN;
    if (!(range >= scan.rangeMin && range < scan.rangeMax)) continue;
    const bearing = scan.angleMin + i * scan.angleIncrement;
    const p = relativeTo(pose, { x: range * Math.cos(bearing), y: range * Math.sin(bearing), theta: 0 });
    const bin = Math.floor(((Math.atan2(p.y, p.x) + Math.PI) / TURN) * BINS) % BINS;
    const known = out[bin] ?? Number.NaN;
    const there = Math.hypot(p.x, p.y);
    if (!(known <= there)) out[bin] = there;
  }
  return out;
}

/** Mean difference when the robot turned by `shift` bins more to the left: everything is seen farther to the right. */
function difference(expected: Float64Array, seen: Float64Array, shift: number): number | null {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < BINS; i++) {
    const a = expected[i] ?? Number.NaN;
    const b = seen[(i - shift + BINS) % BINS] ?? Number.NaN;
    const off = Math.abs(a - b);
    if (Number.isNaN(off)) continue;
    sum += Math.min(WORST, off);
    count += 1;
  }
  return count < LEAST ? null : sum / count;
}
