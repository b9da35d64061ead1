/**
 * How the robot moved between two scans that were taken standing, by the walls they share: searched for from coarse to
 * fine, without believing the wheels. Frame: `base_link` at the first scan; metres, radians.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import { compose, type Pose } from '../../../config/contracts/geometry.js';

export interface ScanMotion extends Pose {
  /** Mean likelihood of the second scan's points at the found pose, 0…1. */
  fit: number;
}

/** How far from `centre` is searched: metres each way, radians each way. */
export interface Search {
  centre: Pose;
  xy: number;
  theta: number;
}

/** Cells of the likelihood field, m; how far it reaches, m; and how far a point's neighbourhood does. */
const CELL = 0.02;
const REACH = 5;
const SIZE = Math.round((2 * REACH) / CELL);
const SIGMA = 0.05;
const KERNEL = 7;
const MAX_POINTS = 180;
/** Fewer points tell nothing. */
const MIN_POINTS = 40;
/** Steps of the search, from coarse to fine: metres, radians. */
const LEVELS = [
  { xy: 0.04, theta: 0.035 },
  { xy: 0.013, theta: 0.012 },
  { xy: 0.004, theta: 0.004 },
  { xy: 0.0015, theta: 0.0012 },
] as const;

interface Points {
  x: Float64Array;
  y: Float64Array;
  count: number;
}

/** Null when too little is seen to tell. Takes some ten milliseconds: not for a robot that drives. */
export function scanMotion(before: Scan, after: Scan, search: Search): ScanMotion | null {
  const from = pointsOf(before, Number.POSITIVE_INFINITY);
  const to = pointsOf(after, MAX_POINTS);
  if (from.count < MIN_POINTS || to.count < MIN_POINTS) return null;
  const field = likelihood(from);
  let best = search.centre;
  let span = { xy: search.xy, theta: search.theta };
  for (const step of LEVELS) {
    best = bestAround(field, to, best, span, step);
    span = { xy: 1.5 * step.xy, theta: 1.5 * step.theta };
  }
  return { ...best, fit: fitOf(field, to, best) };
}

function bestAround(
  field: Float32Array,
  points: Points,
  centre: Pose,
  span: { xy: number; theta: number },
  step: { xy: number; theta: number },
): Pose {
  const n = Math.ceil(span.xy / step.xy);
  const m = Math.ceil(span.theta / step.theta);
  let best = centre;
  let bestFit = -1;
  for (let t = -m; t <= m; t++) {
    for (let i = -n; i <= n; i++) {
      for (let j = -n; j <= n; j++) {
        const pose = {
          x: centre.x + i * step.xy,
          y: centre.y + j * step.xy,
          theta: centre.theta + t * step.theta,
        };
        const fit = fitOf(field, points, pose);
        if (fit <= bestFit) continue;
        bestFit = fit;
        best = pose;
      }
    }
  }
  return best;
}

/** Mean likelihood of points placed at `pose`, interpolated between cells. */
function fitOf(field: Float32Array, points: Points, pose: Pose): number {
  const c = Math.cos(pose.theta) / CELL;
  const s = Math.sin(pose.theta) / CELL;
  const ox = (pose.x + REACH) / CELL;
  const oy = (pose.y + REACH) / CELL;
  let sum = 0;
  for (let i = 0; i < points.count; i++) {
    const px = points.x[i] ?? 0;
    const py = points.y[i] ?? 0;
    const gx = ox + c * px - s * py;
    const gy = oy + s * px + c * py;
    const ix = Math.floor(gx);
    const iy = Math.floor(gy);
    if (ix < 0 || iy < 0 || ix >= SIZE - 1 || iy >= SIZE - 1) continue;
    const fx = gx - ix;
    const fy = gy - iy;
    const at = iy * SIZE + ix;
    const low = (field[at] ?? 0) * (1 - fx) + (field[at + 1] ?? 0) * fx;
    const high = (field[at + SIZE] ?? 0) * (1 - fx) + (field[at + SIZE + 1] ?? 0) * fx;
    sum += low * (1 - fy) + high * fy;
  }
  return sum / points.count;
}

/** For each cell the likelihood that a point belongs there: that of the nearest point of the scan. */
function likelihood(points: Points): Float32Array {
  const field = new Float32Array(SIZE * SIZE);
  for (let i = 0; i < points.count; i++) {
    const gx = ((points.x[i] ?? 0) + REACH) / CELL;
    const gy = ((points.y[i] ?? 0) + REACH) / CELL;
    const cx = Math.round(gx);
    const cy = Math.round(gy);
    for (let y = Math.max(0, cy - KERNEL); y <= Math.min(SIZE - 1, cy + KERNEL); y++) {
      for (let x = Math.max(0, cx - KERNEL); x <= Math.min(SIZE - 1, cx + KERNEL); x++) {
        const d2 = ((x - gx) ** 2 + (y - gy) ** 2) * CELL * CELL;
        const value = Math.exp(-d2 / (2 * SIGMA * SIGMA));
        if (value > (field[y * SIZE + x] ?? 0)) field[y * SIZE + x] = value;
      }
    }
  }
  return field;
}

function pointsOf(scan: Scan, limit: number): Points {
  const { ranges } = scan;
  const seen: number[] = [];
  for (let i = 0; i < ranges.length; i++) {
    const range = ranges[i] ?? Number.NaN;
    if (range >= scan.rangeMin && range < Math.min(scan.rangeMax, REACH - 0.5)) seen.push(i);
  }
  const count = Math.min(limit, seen.length);
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    const i = seen[Math.floor((k * seen.length) / count)] ?? 0;
    const end = compose(
      { x: 0, y: 0, theta: scan.angleMin + i * scan.angleIncrement },
      { x: ranges[i] ?? 0, y: 0, theta: 0 },
    );
    x[k] = end.x;
    y[k] = end.y;
  }
  return { x, y, count };
}
