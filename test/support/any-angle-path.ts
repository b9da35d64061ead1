/**
 * The shortest way a point can take over a grid, at any angle: the yardstick for planned paths and driven missions.
 * A shortest way bends only at convex corners of closed ground, so it is found exactly by A* over those corners
 * (a visibility graph, walked lazily). Slower than any planner has to be, and nothing of the product is in it.
 */
import type { Point } from '../../config/contracts/geometry.js';

/** Rows from the bottom; `closed` holds 1 where the point must not be. Metres; (x, y) is the lower left corner. */
export interface OpenGround {
  width: number;
  height: number;
  resolution: number;
  x: number;
  y: number;
  closed: Uint8Array;
}

/** Corners are passed this far outside of the closed cell, in cells. */
const OFF_CORNER = 0.01;

export function isOpen(ground: OpenGround, { x, y }: Point): boolean {
  const [u, v] = toCells(ground, { x, y });
  return openCell(ground, Math.floor(u), Math.floor(v));
}

/** The ways over one ground; finding its corners is done once. */
export class AnyAnglePaths {
  readonly #ground: OpenGround;
  readonly #u: Float64Array;
  readonly #v: Float64Array;

  constructor(ground: OpenGround) {
    this.#ground = ground;
    const corners = cornersOf(ground);
    this.#u = new Float64Array(corners.length / 2 + 2);
    this.#v = new Float64Array(corners.length / 2 + 2);
    for (let i = 0; i < corners.length / 2; i++) {
      this.#u[i + 2] = corners[2 * i] ?? 0;
      this.#v[i + 2] = corners[2 * i + 1] ?? 0;
    }
  }

  /** Metres of the shortest way and its bends; null when there is none. */
  shortest(from: Point, to: Point): { metres: number; points: Point[] } | null {
    const [us, vs] = [this.#u, this.#v];
    [us[0] = 0, vs[0] = 0] = toCells(this.#ground, from);
    [us[1] = 0, vs[1] = 0] = toCells(this.#ground, to);
    if (!isOpen(this.#ground, from) || !isOpen(this.#ground, to)) return null;
    const before = this.#search();
    if (before === null) return null;
    const points: Point[] = [];
    let metres = 0;
    for (let i = 1; ; i = before[i] ?? 0) {
      points.push(fromCells(this.#ground, us[i] ?? 0, vs[i] ?? 0));
      if (i === 0) break;
      const j = before[i] ?? 0;
      metres += Math.hypot((us[i] ?? 0) - (us[j] ?? 0), (vs[i] ?? 0) - (vs[j] ?? 0));
    }
    return { metres: metres * this.#ground.resolution, points: points.reverse() };
  }

  /** A* from node 0 to node 1; who came before each node on its best way, or null without a way. */
  #search(): Int32Array | null {
    const n = this.#u.length;
    const cost = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
    const before = new Int32Array(n);
    const done = new Uint8Array(n);
    const open: number[] = [0];
    cost[0] = 0;
    while (open.length > 0) {
      const at = takeBest(open, (i) => (cost[i] ?? 0) + this.#between(i, 1));
      if (at === 1) return before;
      done[at] = 1;
      this.#expand(at, cost, before, done, open);
    }
    return null;
  }

  #expand(at: number, cost: Float64Array, before: Int32Array, done: Uint8Array, open: number[]): void {
    const bound = cost[1] ?? Number.POSITIVE_INFINITY;
    for (let i = 1; i < this.#u.length; i++) {
      if (done[i] === 1) continue;
      const there = (cost[at] ?? 0) + this.#between(at, i);
      if (there >= (cost[i] ?? 0) || there + this.#between(i, 1) >= bound) continue;
      if (!this.#sees(at, i)) continue;
      if (cost[i] === Number.POSITIVE_INFINITY) open.push(i);
      cost[i] = there;
      before[i] = at;
    }
  }

  #between(i: number, j: number): number {
    return Math.hypot((this.#u[i] ?? 0) - (this.#u[j] ?? 0), (this.#v[i] ?? 0) - (this.#v[j] ?? 0));
  }

  /** No closed cell is touched between two nodes. */
  #sees(i: number, j: number): boolean {
    const [u0, v0, u1, v1] = [this.#u[i] ?? 0, this.#v[i] ?? 0, this.#u[j] ?? 0, this.#v[j] ?? 0];
    const [du, dv] = [u1 - u0, v1 - v0];
    const [su, sv] = [Math.sign(du), Math.sign(dv)];
    let [cu, cv] = [Math.floor(u0), Math.floor(v0)];
    const [eu, ev] = [Math.floor(u1), Math.floor(v1)];
    const perU = su === 0 ? Number.POSITIVE_INFINITY : 1 / Math.abs(du);
    const perV = sv === 0 ? Number.POSITIVE_INFINITY : 1 / Math.abs(dv);
    let atU = su === 0 ? Number.POSITIVE_INFINITY : perU * (su > 0 ? cu + 1 - u0 : u0 - cu);
    let atV = sv === 0 ? Number.POSITIVE_INFINITY : perV * (sv > 0 ? cv + 1 - v0 : v0 - cv);
    for (let left = Math.abs(eu - cu) + Math.abs(ev - cv); ; left--) {
      if (!openCell(this.#ground, cu, cv)) return false;
      if (left <= 0) return true;
      if (atU < atV) {
        cu += su;
        atU += perU;
      } else {
        cv += sv;
        atV += perV;
      }
    }
  }
}

/** Convex corners of closed ground, in cells: lattice points with one closed cell around, or two across. */
function cornersOf(ground: OpenGround): number[] {
  const found: number[] = [];
  for (let v = 1; v < ground.height; v++) {
    for (let u = 1; u < ground.width; u++) {
      const around = [
        [-1, -1],
        [0, -1],
        [-1, 0],
        [0, 0],
      ].filter(([du = 0, dv = 0]) => !openCell(ground, u + du, v + dv));
      const [a, b] = around;
      const across = a !== undefined && b !== undefined && a[0] !== b[0] && a[1] !== b[1];
      if (around.length !== 1 && !(around.length === 2 && across)) continue;
      const [du = 0, dv = 0] = a ?? [];
      const signs = around.length === 1 ? [1] : [1, -1];
      // Away from the one closed cell; between two, to both sides of the line through them.
      for (const sign of signs) {
        const out =
          around.length === 1
            ? [du < 0 ? 1 : -1, dv < 0 ? 1 : -1]
            : [du < 0 ? sign : -sign, dv < 0 ? -sign : sign];
        found.push(u + OFF_CORNER * (out[0] ?? 0), v + OFF_CORNER * (out[1] ?? 0));
      }
    }
  }
  return found;
}

function takeBest(open: number[], rank: (i: number) => number): number {
  let best = 0;
  for (let i = 1; i < open.length; i++) if (rank(open[i] ?? 0) < rank(open[best] ?? 0)) best = i;
  return open.splice(best, 1)[0] ?? 0;
}

function openCell({ width, height, closed }: OpenGround, u: number, v: number): boolean {
  return u >= 0 && v >= 0 && u < width && v < height && closed[v * width + u] === 0;
}

function toCells({ x, y, resolution }: OpenGround, p: Point): [number, number] {
  return [(p.x - x) / resolution, (p.y - y) / resolution];
}

function fromCells({ x, y, resolution }: OpenGround, u: number, v: number): Point {
  return { x: x + u * resolution, y: y + v * resolution };
}
