import {
  clamp,
  distance,
  type Point,
  type Pose,
  relativeTo,
  type Twist,
  wrapAngle,
} from '../../../config/contracts/geometry.js';
import type { MotionLimits } from './limits.js';
import { PathTrack } from './path-track.js';
import { DEFAULT_TURN, type TurnParams, turnRate } from './turning.js';
import { type ControlInput, type FreeWay, STANDSTILL, STILL_MS } from './types.js';
import { obstacleInMap } from './where.js';

export interface FollowerParams {
  /** The robot steers for the point this many seconds ahead on the path, within these lengths (metres). */
  lookaheadTime: number;
  minLookahead: number;
  maxLookahead: number;
  /** Curves tighter than this radius are driven slower in proportion, metres. */
  easyRadius: number;
  /** Bearing of the point ahead from which on the robot turns on the spot first, and where that ends, rad. */
  turnFrom: number;
  turnUntil: number;
  /** With less clearance than this the robot is slower, down to `nearSpeed` at contact: metres, m/s. */
  nearClearance: number;
  nearSpeed: number;
  /** Distance kept from whatever is in the way, metres of way. */
  stopShort: number;
  /** What stands in the way and is not in the map may be somebody who comes towards the robot this fast, m/s. */
  strangerSpeed: number;
  /** Slowest approach to the goal, m/s. */
  creep: number;
  turn: TurnParams;
}

export const DEFAULT_FOLLOWER: FollowerParams = {
  lookaheadTime: 1.1,
  minLookahead: 0.2,
  maxLookahead: 0.5,
  easyRadius: 0.5,
  turnFrom: 0.8,
  turnUntil: 0.12,
  nearClearance: 0.25,
  nearSpeed: 0.1,
  stopShort: 0.06,
  strangerSpeed: 0.5,
  creep: 0.05,
  turn: DEFAULT_TURN,
};

export interface FollowerGoal {
  pose: Pose;
  tolerance: { xy: number; theta: number };
  maxSpeed: number;
}

/** What the follower needs of the map. */
export interface FollowerGround {
  /** Speed limit at a point, m/s, or null. */
  speedLimitAt(p: Point): number | null;
  /** Whether the robot's centre may be at a point, by the map. */
  isFree(p: Point): boolean;
  /** Whether the map has something where the lidar sees something. */
  isMapped(p: Point): boolean;
}

export interface FollowerStep {
  twist: Twist;
  /** `turning` on the spot towards the path, `driving`, `aligning` with the goal's heading, `arrived` and still. */
  phase: 'turning' | 'driving' | 'aligning' | 'arrived' | 'missed';
  /** Metres of path left. */
  remaining: number;
  /** What keeps the robot from driving on; null when nothing does. */
  obstructed: FreeWay | null;
}

/** Fresh starts towards a goal that was missed. */
const MAX_APPROACHES = 4;
/** Curvature beyond which a differential drive had better turn on the spot, 1/m. */
const MAX_CURVATURE = 6;

/**
 * Follows a path by regulated pure pursuit (S. Macenski et al., "Regulated Pure Pursuit for Robot Path Tracking",
 * 2023; R. C. Coulter, 1992): steers along the arc to a point ahead, slower in curves, near things and in speed
 * areas, and turns on the spot where the path leaves sideways and at the goal.
 */
export class PathFollower {
  readonly #params: FollowerParams;
  readonly #limits: MotionLimits;
  readonly #ground: FollowerGround;
  readonly #goal: FollowerGoal;
  #track: PathTrack;
  #phase: 'turning' | 'driving' | 'aligning' = 'driving';
  #approaches = 0;

  constructor(
    path: readonly Point[],
    goal: FollowerGoal,
    ground: FollowerGround,
    limits: MotionLimits,
    params: FollowerParams,
  ) {
    this.#track = new PathTrack([...path, goal.pose]);
    this.#goal = goal;
    this.#ground = ground;
    this.#limits = limits;
    this.#params = params;
  }

  get track(): PathTrack {
    return this.#track;
  }

  /** Takes another way to the same goal. */
  replacePath(path: readonly Point[]): void {
    this.#track = new PathTrack([...path, this.#goal.pose]);
    this.#phase = 'driving';
  }

  step(input: ControlInput, pose: Pose): FollowerStep {
    this.#track.advance(pose);
    if (this.#phase !== 'aligning' && this.#isAtGoal(pose)) this.#phase = 'aligning';
    if (this.#phase === 'aligning') return this.#align(input, pose);
    return this.#follow(input, pose);
  }

  /** At the goal, or past it and within tolerance: then going on would only lead away. */
  #isAtGoal(pose: Pose): boolean {
    if (this.#track.remaining > 2 * this.#goal.tolerance.xy) return false;
    const off = distance(pose, this.#goal.pose);
    if (off <= Math.min(0.03, 0.3 * this.#goal.tolerance.xy)) return true;
    return this.#track.remaining < 0.01 && off <= this.#goal.tolerance.xy;
  }

  #align(input: ControlInput, pose: Pose): FollowerStep {
    const { tolerance } = this.#goal;
    const left = wrapAngle(this.#goal.pose.theta - pose.theta);
    const off = distance(pose, this.#goal.pose);
    const twist: Twist = { v: 0, w: turnRate(left, 0.4 * tolerance.theta, this.#params.turn) };
    // First to a stop: turning while rolling would leave the goal.
    const rolling = Math.abs(input.measured?.v ?? 0) > 0.03;
    if (rolling) return this.#answer(STANDSTILL, 'aligning', off);
    if (twist.w !== 0 || input.stillMs < STILL_MS) return this.#answer(twist, 'aligning', off);
    if (off <= tolerance.xy && Math.abs(left) <= tolerance.theta)
      return this.#answer(STANDSTILL, 'arrived', off);
    return this.#tryAgain(pose, off);
  }

  #tryAgain(pose: Pose, off: number): FollowerStep {
    this.#approaches++;
    if (this.#approaches >= MAX_APPROACHES) return this.#answer(STANDSTILL, 'missed', off);
    this.#track = new PathTrack([pose, this.#goal.pose]);
    this.#phase = 'turning';
    return this.#answer(STANDSTILL, 'turning', off);
  }

  #follow(input: ControlInput, pose: Pose): FollowerStep {
    const { remaining } = this.#track;
    const off = distance(pose, this.#goal.pose);
    // Past the end and beside the goal: driving on would only lead away.
    if (remaining < 0.005 && off > this.#goal.tolerance.xy) return this.#tryAgain(pose, off);
    const carrot = relativeTo(pose, { ...this.#carrot(input, pose), theta: 0 });
    const bearing = Math.atan2(carrot.y, carrot.x);
    const turnFrom = this.#phase === 'turning' ? this.#params.turnUntil : this.#params.turnFrom;
    if (Math.abs(bearing) > turnFrom) {
      this.#phase = 'turning';
      const w = turnRate(bearing, 0.5 * this.#params.turnUntil, this.#params.turn);
      return this.#answer({ v: 0, w }, 'turning', remaining);
    }
    this.#phase = 'driving';
    const squared = carrot.x * carrot.x + carrot.y * carrot.y;
    const curvature = clamp((2 * carrot.y) / Math.max(squared, 1e-4), -MAX_CURVATURE, MAX_CURVATURE);
    const wished = this.#speed(input, pose, curvature);
    const way = input.surroundings.freeWay({ v: wished, w: wished * curvature });
    const room = way.distance - this.#params.stopShort;
    const v = Math.min(wished, this.#stoppableFrom(Math.max(0, room), this.#comesAtMost(way, pose)));
    // Less than this is not worth starting for, and a sign that it is about to touch something.
    const obstructed = room < 0.02 && remaining > this.#params.stopShort;
    // Round as it is, the robot can always turn on the spot; facing its way it may well pass.
    if (obstructed && Math.abs(bearing) > this.#params.turnUntil) {
      this.#phase = 'turning';
      return this.#answer(
        { v: 0, w: turnRate(bearing, 0.5 * this.#params.turnUntil, this.#params.turn) },
        'turning',
        remaining,
      );
    }
    const twist = obstructed ? STANDSTILL : { v, w: v * curvature };
    return this.#answer(twist, 'driving', remaining, obstructed ? way : null);
  }

  /** Fastest that still comes to a stop within `room` metres when what is there comes on at `towards` m/s meanwhile. */
  #stoppableFrom(room: number, towards: number): number {
    const brake = 0.7 * this.#limits.brake;
    return Math.sqrt(towards * towards + 2 * brake * room) - towards;
  }

  #comesAtMost(way: FreeWay, pose: Pose): number {
    const at = way.at === null ? null : obstacleInMap(pose, way.at);
    return at === null || this.#ground.isMapped(at) ? 0 : this.#params.strangerSpeed;
  }

  /** The point to steer for: as far ahead as the speed asks, but not so far that the way there cuts a corner. */
  #carrot(input: ControlInput, pose: Pose): Point {
    const p = this.#params;
    const speed = Math.abs(input.measured?.v ?? 0);
    let ahead = clamp(p.lookaheadTime * speed, p.minLookahead, p.maxLookahead);
    for (; ahead > p.minLookahead; ahead -= 0.05) {
      if (this.#isClear(pose, this.#track.pointAt(this.#track.at + ahead))) break;
    }
    return this.#track.pointAt(this.#track.at + ahead);
  }

  #isClear(from: Point, to: Point): boolean {
    const steps = Math.max(1, Math.ceil(distance(from, to) / 0.04));
    for (let k = 1; k <= steps; k++) {
      const p = { x: from.x + ((to.x - from.x) * k) / steps, y: from.y + ((to.y - from.y) * k) / steps };
      if (!this.#ground.isFree(p)) return false;
    }
    return true;
  }

  #speed(input: ControlInput, pose: Pose, curvature: number): number {
    const p = this.#params;
    const bend = Math.abs(curvature);
    let v = Math.min(this.#goal.maxSpeed, this.#limits.maxSpeed);
    const ahead = this.#track.pointAt(this.#track.at + 0.3);
    for (const limit of [this.#ground.speedLimitAt(pose), this.#ground.speedLimitAt(ahead)]) {
      if (limit !== null) v = Math.min(v, limit);
    }
    if (bend * p.easyRadius > 1) v *= Math.max(0.35, 1 / (bend * p.easyRadius));
    const near = clamp(input.surroundings.clearance / p.nearClearance, 0, 1);
    v = Math.min(v, p.nearSpeed + (Math.max(v, p.nearSpeed) - p.nearSpeed) * near);
    if (bend > 0) v = Math.min(v, (0.7 * this.#limits.maxTurn) / bend);
    const left = Math.max(0, this.#track.remaining - 0.01);
    return Math.min(v, p.creep + Math.sqrt(2 * 0.6 * this.#limits.brake * left));
  }

  #answer(
    twist: Twist,
    phase: FollowerStep['phase'],
    remaining: number,
    obstructed: FreeWay | null = null,
  ): FollowerStep {
    return { twist, phase, remaining, obstructed };
  }
}
