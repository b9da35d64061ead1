/** Steers the simulated robot along a way, turns it, and moves it straight: the controller of the simulated Nav2. */
import {
  clamp,
  distance,
  type Point,
  type Pose,
  relativeTo,
  wrapAngle,
} from '../../config/contracts/geometry.js';
import type { RoundThing } from '../world/body.js';
import { ROBOT } from '../world/layout.js';

export interface Speeds {
  v: number;
  w: number;
}

const LOOK_AHEAD = 0.35;
const MAX_TURN = 1.0;
const NEAR = 0.03;
/** Radians: heading errors beyond which it turns on the spot, and that are good enough at the goal. */
const TURN_FIRST = 0.7;
const HEADING = 0.04;
const STILL: Speeds = { v: 0, w: 0 };

/** Along a path to its end, then to the goal's heading. Null: it is there. */
export class PathDriver {
  readonly #path: readonly Point[];
  readonly #heading: number;
  #at = 0;
  #arrived = false;

  constructor(path: readonly Point[], heading: number) {
    this.#path = path;
    this.#heading = heading;
  }

  remaining(pose: Pose): number {
    let length = 0;
    let before: Point = pose;
    for (const p of this.#path.slice(this.#at + 1)) {
      length += distance(before, p);
      before = p;
    }
    return length;
  }

  step(pose: Pose, maxSpeed: number): Speeds | null {
    const end = this.#path[this.#path.length - 1];
    if (end === undefined) return null;
    if (!this.#arrived && distance(pose, end) <= NEAR) this.#arrived = true;
    if (this.#arrived) return turnTo(pose, this.#heading);
    const target = this.target(pose);
    const error = relativeTo(pose, { ...target, theta: 0 });
    const bearing = Math.atan2(error.y, error.x);
    if (Math.abs(bearing) > TURN_FIRST) return { v: 0, w: clamp(2 * bearing, -MAX_TURN, MAX_TURN) };
    const left = this.remaining(pose);
    const v = Math.min(maxSpeed, Math.max(0.04, 0.8 * left)) * Math.max(0.2, 1 - Math.abs(bearing));
    return { v, w: clamp(2.5 * bearing, -MAX_TURN, MAX_TURN) };
  }

  /** The point steered for: a little ahead on the path. */
  target(pose: Pose): Point {
    const path = this.#path;
    while (this.#at < path.length - 1 && distance(pose, path[this.#at + 1] ?? pose) < LOOK_AHEAD) this.#at++;
    return path[Math.min(this.#at + 1, path.length - 1)] ?? pose;
  }
}

/** Null once it faces that way. */
export function turnTo(pose: Pose, theta: number): Speeds | null {
  const error = wrapAngle(theta - pose.theta);
  if (Math.abs(error) <= HEADING) return null;
  return { v: 0, w: Math.sign(error) * clamp(2 * Math.abs(error), 0.12, MAX_TURN) };
}

/** The nearest thing in the corridor ahead, within `reach` metres of the hull; null when there is none. */
export function inTheWay(pose: Pose, things: readonly RoundThing[], reach: number): RoundThing | null {
  for (const thing of things) {
    const p = relativeTo(pose, { x: thing.x, y: thing.y, theta: 0 });
    if (p.x < 0 || Math.abs(p.y) > ROBOT.radius + thing.radius) continue;
    if (Math.hypot(p.x, p.y) - thing.radius - ROBOT.radius < reach) return thing;
  }
  return null;
}

export { STILL };
