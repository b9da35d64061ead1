import type { MotionAction, PlanResult } from '../../../config/contracts/amr.js';
import type { Point, Pose } from '../../../config/contracts/geometry.js';
import { type FollowerGround, PathFollower } from '../control/follower.js';
import { ProgressChecker, STUCK_MESSAGES } from '../control/progress.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  failed,
  running,
  STANDSTILL,
  succeeded,
} from '../control/types.js';
import { obstacleInMap } from '../control/where.js';
import type { NavigatorConfig } from './config.js';
import type { LiveObstacles } from './live-obstacles.js';

export type FollowPathAction = Extract<MotionAction, { kind: 'followPath' }>;

/** What following a path needs from the rest of the navigator. */
export interface FollowPathParts {
  config: NavigatorConfig;
  ground: FollowerGround;
  obstacles: LiveObstacles;
  /** Plans from a pose round what is seen now; never rejects. */
  plan(from: Pose, goal: Pose): Promise<PlanResult>;
}

/** Getting this much nearer to the goal starts the patience anew, metres. */
const NEARER = 0.3;
/** Without getting that much nearer for this long, whatever it did meanwhile, the robot is stuck, ms. */
const HOPELESS_MS = 60_000;
/** Farther from its path than this the robot needs another one, metres. */
const OFF_PATH = 0.5;
/** A detour this much longer than the way left is only taken when the obstacle stays, factor and metres. */
const LONG_FACTOR = 2;
const LONG_EXTRA = 2;

/**
 * Follows a path to its goal and deals with what gets in the way: slows, waits, looks for another way in the
 * planner without stopping for it, and gives up `blocked` after a bounded wait.
 */
export class FollowPathController implements Controller {
  readonly #action: FollowPathAction;
  readonly #parts: FollowPathParts;
  readonly #follower: PathFollower;
  readonly #progress: ProgressChecker;
  /** Time spent barred since the robot last got nearer, and how near that was. */
  #barredMs = 0;
  #nearest = Number.POSITIVE_INFINITY;
  #nearerAt: number | null = null;
  #barredBy: Point | null = null;
  /** A search under way; its result is taken in at the next step. */
  #search: 'none' | 'running' | PlanResult = 'none';
  #searchedAt = Number.NEGATIVE_INFINITY;
  #blockedAheadMs = 0;
  replans = 0;

  constructor(action: FollowPathAction, parts: FollowPathParts) {
    this.#action = action;
    this.#parts = parts;
    const { config } = parts;
    const goal = { pose: action.goal, tolerance: action.tolerance, maxSpeed: action.maxSpeed };
    this.#follower = new PathFollower(action.path, goal, parts.ground, config.limits, config.follower);
    this.#progress = new ProgressChecker(config.progress);
  }

  /** The way that is left, for displays. */
  rest(): Point[] {
    return this.#follower.track.rest();
  }

  step(input: ControlInput): ControlOutput {
    const { pose } = input;
    if (pose === null) return failed('localization_lost', 'the robot does not know where it is');
    this.#takeSearchResult();
    const next = this.#follower.step(input, pose);
    if (next.phase === 'arrived') return this.#arrived(pose);
    if (next.phase === 'missed') return failed('stuck', 'cannot come within tolerance of the goal', pose);
    const ahead = next.phase === 'driving' ? this.#blockedAhead(input) : null;
    const offPath = this.#follower.track.off > OFF_PATH;
    const tooNear = ahead !== null && ahead.along < this.#parts.config.follower.stopShort;
    const barred = offPath || tooNear || next.obstructed !== null;
    this.#countPatience(input, next.remaining, barred);
    if (next.obstructed !== null) this.#barredBy = obstacleInMap(pose, next.obstructed.at);
    else if (ahead !== null) this.#barredBy = ahead.at;
    const { patienceMs, detourAfterMs } = this.#parts.config.obstacles;
    if (this.#barredMs >= patienceMs) return this.#givesUp(patienceMs, offPath);
    if (input.mono - (this.#nearerAt ?? input.mono) > HOPELESS_MS) {
      return failed('stuck', `no nearer to the goal for ${HOPELESS_MS / 1000} s`, pose);
    }
    if (offPath || this.#barredMs >= detourAfterMs || this.#blockedAheadMs >= 500)
      this.#searchDetour(input, pose);
    if (barred) return running(STANDSTILL, next.remaining, 'waiting_for_obstacle');
    const stuck = this.#progress.check(next.twist, pose, input.measured, input.dt);
    if (stuck !== null) return failed('stuck', STUCK_MESSAGES[stuck], pose);
    return running(this.#slowed(next.twist, ahead), next.remaining, this.#note(next.phase));
  }

  #givesUp(waitedMs: number, offPath: boolean): ControlOutput {
    const seconds = Math.round(waitedMs / 1000);
    const why = offPath ? 'the robot is off its path' : 'the way is blocked';
    return failed('blocked', `${why}, and no other way was found in ${seconds} s`, this.#barredBy);
  }

  #arrived(pose: Pose): ControlOutput {
    const { goal } = this.#action;
    const off = Math.hypot(pose.x - goal.x, pose.y - goal.y);
    const turn = Math.abs(Math.atan2(Math.sin(pose.theta - goal.theta), Math.cos(pose.theta - goal.theta)));
    return succeeded({ error_xy: off, error_theta: turn, replans: this.replans });
  }

  #note(phase: 'turning' | 'driving' | 'aligning'): string {
    if (phase === 'aligning') return 'arriving';
    return this.#blockedAheadMs > 0 || this.#barredMs > 0 ? 'avoiding' : 'driving';
  }

  /** A live obstacle on the path ahead, and for how long one has been there. */
  #blockedAhead(input: ControlInput): { at: Point; along: number } | null {
    const ahead = this.#parts.obstacles.firstOn(this.#follower.track, this.#parts.config.obstacles.lookAhead);
    this.#blockedAheadMs = ahead === null ? 0 : this.#blockedAheadMs + input.dt * 1000;
    return ahead;
  }

  /** Slow enough to stop before a blocked stretch of path; the way round is being looked for. */
  #slowed(twist: { v: number; w: number }, ahead: { along: number } | null): { v: number; w: number } {
    if (ahead === null || twist.v <= 0) return twist;
    const { limits, follower } = this.#parts.config;
    const room = Math.max(0, ahead.along - follower.stopShort);
    const v = Math.min(twist.v, Math.sqrt(2 * 0.5 * limits.brake * room));
    return { v, w: (twist.w * v) / twist.v };
  }

  #countPatience(input: ControlInput, remaining: number, barred: boolean): void {
    if (remaining < this.#nearest - NEARER) {
      this.#nearest = remaining;
      this.#nearerAt = input.mono;
      if (!barred) this.#barredMs = 0;
    }
    if (barred) this.#barredMs += input.dt * 1000;
  }

  #searchDetour(input: ControlInput, pose: Pose): void {
    const { replanEveryMs, maxReplans } = this.#parts.config.obstacles;
    if (this.#search !== 'none' || this.replans >= maxReplans) return;
    if (input.mono - this.#searchedAt < replanEveryMs) return;
    this.#searchedAt = input.mono;
    this.replans++;
    this.#search = 'running';
    void this.#parts.plan(pose, this.#action.goal).then((result) => {
      this.#search = result;
    });
  }

  #takeSearchResult(): void {
    const result = this.#search;
    if (result === 'none' || result === 'running') return;
    this.#search = 'none';
    if (!result.ok) return;
    const { remaining } = this.#follower.track;
    const long = result.length > LONG_FACTOR * remaining + LONG_EXTRA;
    const offPath = this.#follower.track.off > OFF_PATH;
    if (long && !offPath && this.#barredMs < this.#parts.config.obstacles.patienceMs / 2) return;
    this.#follower.replacePath(result.path);
    this.#blockedAheadMs = 0;
    this.#nearest = Math.max(this.#nearest, result.length);
  }
}
