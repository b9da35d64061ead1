/** The true ground of a home: where a body fits, and how far it is from here to there. The robot never sees it. */
import { insidePolygon, type Point } from '../../config/contracts/geometry.js';
import type { RoundThing } from '../../simulator/world/body.js';
import { clearanceAt, type Layout, ROBOT } from '../../simulator/world/layout.js';
import { AnyAnglePaths, isOpen, type OpenGround } from '../support/any-angle-path.js';

const CELL = 0.05;
/** Beyond the hull: what it takes just to fit, and what the robot may ask for to go through. */
export const BARE = 0.005;
export const COMFORTABLE = 0.1;
/** A step down is kept away from like a wall. */
const LOOKED_AT = 1;

export class Ground {
  readonly layout: Layout;
  readonly #width: number;
  readonly #height: number;
  /** Metres from each cell's centre to the nearest thing, at most `LOOKED_AT`; 0 where nobody may be. */
  readonly #clearance: Float32Array;
  readonly #kept = new Map<number, Open>();

  constructor(layout: Layout) {
    this.layout = layout;
    const { minX, minY, maxX, maxY } = layout.bounds;
    this.#width = Math.ceil((maxX - minX) / CELL);
    this.#height = Math.ceil((maxY - minY) / CELL);
    this.#clearance = new Float32Array(this.#width * this.#height);
    for (let i = 0; i < this.#clearance.length; i++) {
      const p = this.#centre(i);
      this.#clearance[i] = this.#isNoGround(p) ? 0 : clearanceAt(layout, p.x, p.y, LOOKED_AT);
    }
  }

  clearance(p: Point): number {
    const { minX, minY } = this.layout.bounds;
    const [u, v] = [Math.floor((p.x - minX) / CELL), Math.floor((p.y - minY) / CELL)];
    if (u < 0 || v < 0 || u >= this.#width || v >= this.#height) return 0;
    return this.#clearance[v * this.#width + u] ?? 0;
  }

  /** The shortest way for a body with so much beyond its hull, round these things as well. */
  shortest(
    from: Point,
    to: Point,
    margin: number,
    things: readonly RoundThing[] = [],
  ): { metres: number; points: Point[] } | null {
    const open = this.#open(margin, things);
    const [a, b] = [nearestOpen(open.ground, from), nearestOpen(open.ground, to)];
    return a === null || b === null ? null : open.paths.shortest(a, b);
  }

  /** A free place with so much room around it, that a way leads to from `from`; null when none is found by luck. */
  spot(random: () => number, room: number, from: Point, far: { least: number; most: number }): Point | null {
    const { minX, minY, maxX, maxY } = this.layout.bounds;
    for (let tries = 0; tries < 4000; tries++) {
      const p = { x: minX + random() * (maxX - minX), y: minY + random() * (maxY - minY) };
      const beeline = Math.hypot(p.x - from.x, p.y - from.y);
      if (beeline > far.most || this.clearance(p) < ROBOT.radius + room) continue;
      const way = this.shortest(from, p, COMFORTABLE);
      if (way !== null && way.metres >= far.least && way.metres <= far.most) return p;
    }
    return null;
  }

  #open(margin: number, things: readonly RoundThing[]): Open {
    const known = things.length === 0 ? this.#kept.get(margin) : undefined;
    if (known !== undefined) return known;
    const need = ROBOT.radius + margin;
    const closed = Uint8Array.from(this.#clearance, (c, i) => {
      const p = this.#centre(i);
      return c >= need && things.every((t) => Math.hypot(t.x - p.x, t.y - p.y) >= t.radius + need) ? 0 : 1;
    });
    const { minX, minY } = this.layout.bounds;
    const ground = { width: this.#width, height: this.#height, resolution: CELL, x: minX, y: minY, closed };
    const open = { ground, paths: new AnyAnglePaths(ground) };
    if (things.length === 0) this.#kept.set(margin, open);
    return open;
  }

  #centre(i: number): Point {
    const { minX, minY } = this.layout.bounds;
    const u = i % this.#width;
    return { x: minX + (u + 0.5) * CELL, y: minY + (Math.floor(i / this.#width) + 0.5) * CELL };
  }

  #isNoGround(p: Point): boolean {
    const { survey, cliffs } = this.layout;
    if (this.layout.isOccupied(p.x, p.y)) return true;
    if (cliffs.some((cliff) => insidePolygon(p, cliff.polygon))) return true;
    if (survey === null) return false;
    const u = Math.floor((p.x - survey.origin.x) / survey.resolution);
    const v = Math.floor((p.y - survey.origin.y) / survey.resolution);
    return (survey.cells[v * survey.width + u] ?? -1) !== 0;
  }
}

interface Open {
  ground: OpenGround;
  paths: AnyAnglePaths;
}

/** A robot may stand closer to a wall than it would drive: its way begins and ends this near, m. */
const SNAP = 0.4;

function nearestOpen(ground: OpenGround, p: Point): Point | null {
  if (isOpen(ground, p)) return p;
  let best: Point | null = null;
  let nearest = SNAP;
  for (let dx = -SNAP; dx <= SNAP; dx += CELL / 2) {
    for (let dy = -SNAP; dy <= SNAP; dy += CELL / 2) {
      const away = Math.hypot(dx, dy);
      const there = { x: p.x + dx, y: p.y + dy };
      if (away >= nearest || !isOpen(ground, there)) continue;
      nearest = away;
      best = there;
    }
  }
  return best;
}
