import { distance, type Point } from '../../../config/contracts/geometry.js';

/** How far back and ahead along the path the robot may be from where it was at the last step, metres. */
const BACK = 0.3;
const AHEAD = 1;
/** Farther off than this the whole path is searched again, metres. */
const LOST_TRACK = 0.5;

/** A path by the length along it, and where on it the robot is. */
export class PathTrack {
  readonly points: readonly Point[];
  readonly #along: Float64Array;
  readonly length: number;
  /** Length along the path at the robot, and its distance from the path, metres. */
  at = 0;
  off = 0;

  /** Needs at least one pose. */
  constructor(path: readonly Point[]) {
    // Points on top of one another have no direction between them.
    const points: Point[] = [];
    for (const p of path) {
      const last = points[points.length - 1];
      if (last === undefined || distance(last, p) > 1e-4) points.push({ x: p.x, y: p.y });
    }
    this.points = points;
    this.#along = new Float64Array(points.length);
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]];
      if (a !== undefined && b !== undefined) this.#along[i] = (this.#along[i - 1] ?? 0) + distance(a, b);
    }
    this.length = this.#along[points.length - 1] ?? 0;
  }

  get remaining(): number {
    return this.length - this.at;
  }

  /** Moves to the nearest place on the path within reach of the last one. */
  advance(robot: Point): void {
    this.#nearest(robot, this.at - BACK, this.at + AHEAD);
    if (this.off > LOST_TRACK) this.#nearest(robot, 0, this.length);
  }

  /** The point at a length along the path. Beyond the end the path goes on straight, for a steady heading. */
  pointAt(along: number): Point {
    if (this.points.length < 2) return this.points[0] ?? { x: 0, y: 0 };
    const i = along >= this.length ? this.points.length - 2 : this.#segmentAt(along);
    const a = this.points[i] ?? { x: 0, y: 0 };
    const b = this.points[i + 1] ?? a;
    const start = this.#along[i] ?? 0;
    const piece = (this.#along[i + 1] ?? 0) - start;
    const t = piece > 0 ? (along - start) / piece : 0;
    return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
  }

  /** What is left of the path, from the robot on. */
  rest(): Point[] {
    const rest = [this.pointAt(this.at)];
    for (let i = 0; i < this.points.length; i++) {
      const p = this.points[i];
      if (p !== undefined && (this.#along[i] ?? 0) > this.at) rest.push(p);
    }
    return rest;
  }

  #segmentAt(along: number): number {
    let low = 0;
    let high = this.points.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#along[middle] ?? 0) <= along) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #nearest(robot: Point, from: number, to: number): void {
    let best = Number.POSITIVE_INFINITY;
    if (this.points.length === 1) best = distance(robot, this.points[0] ?? robot);
    for (let i = 0; i + 1 < this.points.length; i++) {
      const start = this.#along[i] ?? 0;
      const end = this.#along[i + 1] ?? 0;
      if (end < from || start > to) continue;
      const a = this.points[i] ?? robot;
      const b = this.points[i + 1] ?? robot;
      const t =
        ((robot.x - a.x) * (b.x - a.x) + (robot.y - a.y) * (b.y - a.y)) / ((end - start) * (end - start));
      const on = Math.min(1, Math.max(0, t));
      const dx = a.x + (b.x - a.x) * on - robot.x;
      const dy = a.y + (b.y - a.y) * on - robot.y;
      const d = Math.sqrt(dx * dx + dy * dy);
      if (d >= best) continue;
      best = d;
      this.at = start + on * (end - start);
    }
    this.off = best;
  }
}
