/**
 * Where a scan fits into a field: a search over shifts and turns that finds the best one within a window for certain
 * (branch and bound on a pyramid, after Hess et al., "Real-Time Loop Closure in 2D LIDAR SLAM", 2016), and a
 * Gauss-Newton refinement below the size of a cell (after Kohlbrecher et al., "A Flexible and Scalable SLAM System
 * with Full 3D Motion Estimation", 2011).
 */
import { type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import { type ScanPoints, thinOut } from '../localisation/scan-points.js';
import type { MatchField } from './match-field.js';

export interface SearchWindow {
  /** Metres and radians to either side. */
  xy: number;
  theta: number;
}

export interface Match {
  pose: Pose;
  /** Mean likelihood of the points, 0…1; those off the field count as 0. */
  score: number;
  /** How sharply the fit falls off around the pose: x, y, theta; row-major, symmetric. */
  information: Float64Array;
}

/** Points that the search looks at; the refinement uses all. */
const SEARCH_POINTS = 160;
/** A shift by the whole window costs so much likelihood: of two places that fit alike the nearer one is meant. */
const FAR_PENALTY = 0.04;
const REFINE_STEPS = 12;
/** An end of the refinement, metres and radians. */
const SETTLED = 1e-4;
/** The refinement does not leave the neighbourhood that the search found, m and rad. */
const REFINE_REACH = { xy: 0.12, theta: 0.08 };

interface Turned {
  theta: number;
  /** Penalty of the turn. */
  penalty: number;
  /** Columns and rows of the points for the shift 0. */
  columns: Int32Array;
  rows: Int32Array;
}

interface Candidate {
  turned: Turned;
  /** Shift in cells. */
  dx: number;
  dy: number;
  score: number;
}

/** The best pose within the window around `start` whose score is at least `floor`; null when there is none. */
export function searchMatch(
  field: MatchField,
  points: ScanPoints,
  start: Pose,
  window: SearchWindow,
  floor: number,
): Pose | null {
  const sparse = thinOut(points, SEARCH_POINTS);
  if (sparse.count === 0) return null;
  const search = new Search(field, sparse, start, window);
  const best = search.run(floor);
  if (best === null) return null;
  return {
    x: start.x + best.dx * field.resolution,
    y: start.y + best.dy * field.resolution,
    theta: wrapAngle(best.turned.theta),
  };
}

class Search {
  readonly #field: MatchField;
  readonly #turns: Turned[];
  readonly #reach: number;
  readonly #count: number;

  constructor(field: MatchField, points: ScanPoints, start: Pose, window: SearchWindow) {
    this.#field = field;
    this.#count = points.count;
    this.#reach = Math.max(1, Math.ceil(window.xy / field.resolution));
    this.#turns = turnsOf(field, points, start, window.theta);
  }

  run(floor: number): Candidate | null {
    const level = Math.min(this.#field.levels, Math.max(0, Math.ceil(Math.log2(this.#reach))));
    const step = 1 << level;
    const first: Candidate[] = [];
    for (const turned of this.#turns) {
      for (let dy = -this.#reach; dy <= this.#reach; dy += step) {
        for (let dx = -this.#reach; dx <= this.#reach; dx += step) {
          first.push(this.#candidate(turned, dx, dy, level));
        }
      }
    }
    first.sort((a, b) => b.score - a.score);
    return this.#branch(first, level, floor, null);
  }

  /** `candidates` by falling bound. */
  #branch(
    candidates: readonly Candidate[],
    level: number,
    floor: number,
    known: Candidate | null,
  ): Candidate | null {
    let best = known;
    for (const one of candidates) {
      if (one.score <= (best?.score ?? floor)) break;
      if (level === 0) {
        best = one;
        continue;
      }
      best = this.#branch(this.#halves(one, level - 1), level - 1, floor, best);
    }
    return best;
  }

  #halves({ turned, dx, dy }: Candidate, level: number): Candidate[] {
    const step = 1 << level;
    const halves: Candidate[] = [];
    for (const y of [dy, dy + step]) {
      for (const x of [dx, dx + step]) {
        if (x <= this.#reach && y <= this.#reach) halves.push(this.#candidate(turned, x, y, level));
      }
    }
    return halves.sort((a, b) => b.score - a.score);
  }

  /** What the shifts from (dx, dy) to 2^level − 1 further can reach at most; exact at level 0. */
  #candidate(turned: Turned, dx: number, dy: number, level: number): Candidate {
    const { width, height } = this.#field;
    const cells = this.#field.coarse(level);
    const reach = (1 << level) - 1;
    const { columns, rows } = turned;
    let sum = 0;
    for (let i = 0; i < this.#count; i++) {
      let x = (columns[i] ?? 0) + dx;
      let y = (rows[i] ?? 0) + dy;
      // A square that begins outside may still reach in.
      if (x < 0 && x + reach >= 0) x = 0;
      if (y < 0 && y + reach >= 0) y = 0;
      if (x >= 0 && y >= 0 && x < width && y < height) sum += cells[y * width + x] ?? 0;
    }
    const nearest = (d: number) => Math.max(0, d > 0 ? d : -d - reach);
    const away = (nearest(dx) ** 2 + nearest(dy) ** 2) / this.#reach ** 2;
    return { turned, dx, dy, score: sum / (255 * this.#count) - FAR_PENALTY * away - turned.penalty };
  }
}

/** The points turned by each angle of the window; one step moves no point by more than about a cell. */
function turnsOf(field: MatchField, points: ScanPoints, start: Pose, window: number): Turned[] {
  let far = 0.5;
  for (let i = 0; i < points.count; i++) {
    far = Math.max(far, Math.hypot(points.x[i] ?? 0, points.y[i] ?? 0));
  }
  const step = Math.min(0.05, field.resolution / Math.min(far, 6));
  const steps = Math.ceil(window / step);
  const turns: Turned[] = [];
  for (let k = -steps; k <= steps; k++) {
    const theta = start.theta + (steps === 0 ? 0 : (k / steps) * window);
    const cos = Math.cos(theta);
    const sin = Math.sin(theta);
    const columns = new Int32Array(points.count);
    const rows = new Int32Array(points.count);
    for (let i = 0; i < points.count; i++) {
      const px = points.x[i] ?? 0;
      const py = points.y[i] ?? 0;
      columns[i] = Math.floor((start.x + cos * px - sin * py - field.originX) / field.resolution);
      rows[i] = Math.floor((start.y + sin * px + cos * py - field.originY) / field.resolution);
    }
    const away = steps === 0 ? 0 : (k / steps) ** 2;
    turns.push({ theta, penalty: FAR_PENALTY * away, columns, rows });
  }
  return turns;
}

/** Weights that hold a pose to where odometry expects it, 1/m² and 1/rad² in units of the fit; 0: none. */
export interface Prior {
  xy: number;
  theta: number;
}

/** Moves the pose to where the points fit best, starting close to it. */
export function refineMatch(field: MatchField, points: ScanPoints, start: Pose, prior: Prior): Match {
  let pose = start;
  let fit = fitAt(field, points, pose);
  for (let k = 0; k < REFINE_STEPS && points.count > 0; k++) {
    const step = solve3(withPrior(fit, pose, start, prior));
    if (step === null) break;
    const next = {
      x: start.x + limited(pose.x + step[0] - start.x, REFINE_REACH.xy),
      y: start.y + limited(pose.y + step[1] - start.y, REFINE_REACH.xy),
      theta: start.theta + limited(wrapAngle(pose.theta + step[2] - start.theta), REFINE_REACH.theta),
    };
    const there = fitAt(field, points, next);
    if (there.score < fit.score - 1e-3) break;
    const moved = Math.max(
      Math.abs(next.x - pose.x),
      Math.abs(next.y - pose.y),
      Math.abs(next.theta - pose.theta),
    );
    pose = next;
    fit = there;
    if (moved < SETTLED) break;
  }
  return {
    pose: { ...pose, theta: wrapAngle(pose.theta) },
    score: fit.score,
    information: fit.hessian,
  };
}

interface Fit {
  /** Mean likelihood. */
  score: number;
  hessian: Float64Array;
  gradient: [number, number, number];
}

/** Likelihoods read between cell centres, and how they change with the pose. */
function fitAt(field: MatchField, points: ScanPoints, pose: Pose): Fit {
  const { width, height, cells, resolution } = field;
  const cos = Math.cos(pose.theta);
  const sin = Math.sin(pose.theta);
  const h = new Float64Array(9);
  const gradient: [number, number, number] = [0, 0, 0];
  let sum = 0;
  for (let i = 0; i < points.count; i++) {
    const px = points.x[i] ?? 0;
    const py = points.y[i] ?? 0;
    const rx = cos * px - sin * py;
    const ry = sin * px + cos * py;
    const gx = (pose.x + rx - field.originX) / resolution - 0.5;
    const gy = (pose.y + ry - field.originY) / resolution - 0.5;
    const x0 = Math.floor(gx);
    const y0 = Math.floor(gy);
    if (x0 < 0 || y0 < 0 || x0 + 1 >= width || y0 + 1 >= height) continue;
    const at = y0 * width + x0;
    const [a, b] = [(cells[at] ?? 0) / 255, (cells[at + 1] ?? 0) / 255];
    const [c, d] = [(cells[at + width] ?? 0) / 255, (cells[at + width + 1] ?? 0) / 255];
    const fx = gx - x0;
    const fy = gy - y0;
    const value = (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy;
    const dx = ((b - a) * (1 - fy) + (d - c) * fy) / resolution;
    const dy = ((c - a) * (1 - fx) + (d - b) * fx) / resolution;
    const dt = -dx * ry + dy * rx;
    sum += value;
    const rest = 1 - value;
    gradient[0] += dx * rest;
    gradient[1] += dy * rest;
    gradient[2] += dt * rest;
    h[0] = (h[0] ?? 0) + dx * dx;
    h[1] = (h[1] ?? 0) + dx * dy;
    h[2] = (h[2] ?? 0) + dx * dt;
    h[4] = (h[4] ?? 0) + dy * dy;
    h[5] = (h[5] ?? 0) + dy * dt;
    h[8] = (h[8] ?? 0) + dt * dt;
  }
  h[3] = h[1] ?? 0;
  h[6] = h[2] ?? 0;
  h[7] = h[5] ?? 0;
  return { score: points.count === 0 ? 0 : sum / points.count, hessian: h, gradient };
}

function withPrior(fit: Fit, pose: Pose, start: Pose, prior: Prior): { h: Float64Array; g: number[] } {
  const h = Float64Array.from(fit.hessian);
  const weights = [prior.xy, prior.xy, prior.theta];
  const away = [start.x - pose.x, start.y - pose.y, wrapAngle(start.theta - pose.theta)];
  const g = fit.gradient.map((value, k) => value + (weights[k] ?? 0) * (away[k] ?? 0));
  for (let k = 0; k < 3; k++) h[4 * k] = (h[4 * k] ?? 0) + (weights[k] ?? 0) + 1e-6;
  return { h, g };
}

/** Cramer's rule; null for a system without one solution. */
function solve3({ h, g }: { h: Float64Array; g: readonly number[] }): [number, number, number] | null {
  const [a = 0, b = 0, c = 0, , e = 0, f = 0, , , i = 0] = h;
  const [x = 0, y = 0, z = 0] = g;
  const ei = e * i - f * f;
  const det = a * ei - b * (b * i - f * c) + c * (b * f - e * c);
  if (!(Math.abs(det) > 1e-12)) return null;
  return [
    (x * ei - b * (y * i - f * z) + c * (y * f - e * z)) / det,
    (a * (y * i - f * z) - x * (b * i - f * c) + c * (b * z - y * c)) / det,
    (a * (e * z - y * f) - b * (b * z - y * c) + x * (b * f - e * c)) / det,
  ];
}

function limited(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
