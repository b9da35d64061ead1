/**
 * Following a person: keeps about a metre behind them, goes where they went, round furniture and through doors by the
 * planner, and stops for whatever is in the way. Out of sight the robot slows, goes to where it saw them last, looks
 * round once, and gives up after a bounded wait.
 */
import type { MotionAction, PlanResult } from '../../../config/contracts/amr.js';
import {
  distance,
  type Point,
  type Pose,
  type Twist,
  wrapAngle,
} from '../../../config/contracts/geometry.js';
import { type FollowerGround, PathFollower } from '../control/follower.js';
import { ProgressChecker, STUCK_MESSAGES } from '../control/progress.js';
import { turnRate } from '../control/turning.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  failed,
  running,
  STANDSTILL,
  STILL_MS,
  succeeded,
} from '../control/types.js';
import { obstacleInMap } from '../control/where.js';
import type { NavigatorConfig } from '../navigator/config.js';
import type { PersonTrack } from '../tracking/types.js';
import { type CameraHint, Target } from './target.js';
import { Trail } from './trail.js';

export type FollowAction = Extract<MotionAction, { kind: 'follow' }>;

export interface FollowPersonParts {
  config: NavigatorConfig;
  ground: FollowerGround;
  /** Plans from a pose round what is seen now; never rejects. */
  plan(from: Pose, goal: Pose): Promise<PlanResult>;
  /** Who is near, in the `map` frame. */
  people(): readonly PersonTrack[];
  /** What a camera adds; null without one. */
  hint?(): CameraHint | null;
}

/** Nobody was seen for this long at the start, or the person has been out of sight for this long, ms. */
const SEEK_MS = 10_000;
const LOST_MS = 20_000;
/** Out of sight for this long the robot looks for them, ms; before that it goes on slowly. */
const LOOK_AFTER_MS = 1500;
/** A new way is planned at most this often, ms, and when the goal has moved so far, m. */
const PLAN_EVERY_MS = 600;
const GOAL_MOVED = 0.25;
/** Nearer to the wished distance than this it stands, and farther than that it goes on, m. */
const STAND_WITHIN = 0.1;
const GO_BEYOND = 0.25;
/** The way to the person may be barred for this long, ms. */
const PATIENCE_MS = 20_000;
const SLOW = 0.15;
/** Bearing of the person that a standing robot does not turn for, rad. */
const FACING = 0.15;
/** How fast it looks round, rad/s: legs have to be seen in several scans. */
const LOOK_TURN = 0.7;

interface Way {
  follower: PathFollower;
  goal: Pose;
}

export class FollowPersonController implements Controller {
  readonly #action: FollowAction;
  readonly #parts: FollowPersonParts;
  readonly #target = new Target();
  readonly #trail = new Trail();
  readonly #progress: ProgressChecker;
  #began: number | null = null;
  #way: Way | null = null;
  #search: 'none' | 'running' | { result: PlanResult; goal: Pose } = 'none';
  #plannedAt = Number.NEGATIVE_INFINITY;
  #barredMs = 0;
  #barredBy: Point | null = null;
  #standing = true;
  /** Radians looked round since the person went out of sight, and the heading at the last step. */
  #looked = 0;
  #heading: number | null = null;

  constructor(action: FollowAction, parts: FollowPersonParts) {
    this.#action = action;
    this.#parts = parts;
    this.#progress = new ProgressChecker(parts.config.progress);
  }

  /** The way that is left, for displays. */
  rest(): Point[] {
    return this.#way?.follower.track.rest() ?? [];
  }

  step(input: ControlInput): ControlOutput {
    const { pose, mono } = input;
    if (pose === null) return failed('localization_lost', 'the robot does not know where it is');
    this.#began ??= mono;
    if (mono - this.#began >= this.#action.maxDurationMs) return this.#timeOver(input);
    this.#takeSearchResult();
    const before = this.#target.lostMs(mono);
    this.#target.update(this.#parts.people(), pose, mono, mono - this.#began, this.#parts.hint?.() ?? null);
    const person = this.#target.last;
    if (person === null) return this.#seek(mono);
    const lostMs = this.#target.lostMs(mono);
    if (lostMs > LOST_MS) {
      return failed('person_lost', `the person has been out of sight for ${LOST_MS / 1000} s`, pose);
    }
    if (lostMs > LOOK_AFTER_MS) return this.#look(input, pose, person);
    if (before > LOOK_AFTER_MS) this.#foundAgain();
    if (lostMs === 0 || lostMs < this.#lostFromMs) this.#trail.add(person);
    return this.#follow(input, pose, person, lostMs);
  }

  /** Within a scan or two nothing is lost. */
  get #lostFromMs(): number {
    return 400;
  }

  #timeOver(input: ControlInput): ControlOutput {
    if (input.stillMs < STILL_MS) return running(STANDSTILL, null, 'time_over');
    return succeeded({ followed_ms: this.#action.maxDurationMs });
  }

  #seek(mono: number): ControlOutput {
    if (mono - (this.#began ?? mono) > SEEK_MS) {
      return failed('no_person', `nobody to follow was seen in ${SEEK_MS / 1000} s`);
    }
    return running(STANDSTILL, null, 'seeking_person');
  }

  #foundAgain(): void {
    this.#looked = 0;
    this.#heading = null;
    this.#way = null;
    this.#barredMs = 0;
  }

  #follow(input: ControlInput, pose: Pose, person: PersonTrack, lostMs: number): ControlOutput {
    const keep = this.#action.distance;
    const away = distance(pose, person);
    const stands = away <= keep + (this.#standing ? GO_BEYOND : STAND_WITHIN);
    this.#standing = stands;
    if (stands) {
      this.#way = null;
      this.#barredMs = 0;
      return running(this.#facing(pose, person), away, 'person_near');
    }
    this.#planTo(pose, this.#goalBehind(pose, person), input.mono);
    const fastest = lostMs > this.#lostFromMs ? SLOW : this.#fastest(person, away - keep);
    return this.#drive(input, pose, fastest, away, 'following', person);
  }

  /** As fast as it takes to come up to the wished distance, and the person is. */
  #fastest(person: PersonTrack, gap: number): number {
    return Math.max(SLOW, 0.7 * gap + 0.8 * Math.hypot(person.vx, person.vy));
  }

  /** Where they were when they had gone this far ahead; otherwise on the straight line to them. */
  #goalBehind(pose: Pose, person: PersonTrack): Pose {
    const keep = this.#action.distance;
    const away = distance(pose, person);
    const onLine = (metres: number): Point => ({
      x: person.x + ((pose.x - person.x) / away) * metres,
      y: person.y + ((pose.y - person.y) / away) * metres,
    });
    const wished = [
      this.#trail.behind(person, keep),
      onLine(keep),
      this.#trail.behind(person, keep + 0.4),
      onLine(keep + 0.4),
    ];
    const free = wished.find((p) => p !== null && this.#parts.ground.isFree(p)) ?? onLine(keep);
    return { ...free, theta: Math.atan2(person.y - free.y, person.x - free.x) };
  }

  #planTo(pose: Pose, goal: Pose, mono: number): void {
    if (this.#search !== 'none' || mono - this.#plannedAt < PLAN_EVERY_MS) return;
    const moved = this.#way === null || distance(this.#way.goal, goal) > GOAL_MOVED;
    const barred = this.#barredMs > 1000;
    if (!moved && !barred) return;
    this.#plannedAt = mono;
    this.#search = 'running';
    void this.#parts.plan(pose, goal).then((result) => {
      this.#search = { result, goal };
    });
  }

  #takeSearchResult(): void {
    const found = this.#search;
    if (found === 'none' || found === 'running') return;
    this.#search = 'none';
    // Without a new way the robot keeps the one it has; the person may stand where no way leads.
    if (!found.result.ok) {
      if (found.result.where !== undefined) this.#barredBy = found.result.where;
      return;
    }
    const { config, ground } = this.#parts;
    const goal = { pose: found.goal, tolerance: { xy: 0.15, theta: 0.6 }, maxSpeed: this.#action.maxSpeed };
    const follower = new PathFollower(found.result.path, goal, ground, config.limits, config.follower);
    this.#way = { follower, goal: found.goal };
  }

  #drive(
    input: ControlInput,
    pose: Pose,
    fastest: number,
    remaining: number,
    note: string,
    person: Point,
  ): ControlOutput {
    const next = this.#way?.follower.step(input, pose) ?? null;
    if (next === null) return this.#barred(input, pose, remaining, null, person);
    if (next.phase === 'arrived' || next.phase === 'aligning' || next.phase === 'missed') {
      return running(this.#facing(pose, person), remaining, note);
    }
    if (next.obstructed !== null) {
      return this.#barred(input, pose, remaining, obstacleInMap(pose, next.obstructed.at), person);
    }
    this.#barredMs = Math.max(0, this.#barredMs - input.dt * 500);
    const twist = slowed(next.twist, fastest);
    const stuck = this.#progress.check(twist, pose, input.measured, input.dt);
    if (stuck !== null) return failed('stuck', STUCK_MESSAGES[stuck], pose);
    return running(twist, remaining, note);
  }

  /** No way now: it stands, looks at the person, and waits for one. */
  #barred(
    input: ControlInput,
    pose: Pose,
    remaining: number,
    by: Point | null,
    person: Point,
  ): ControlOutput {
    this.#barredMs += input.dt * 1000;
    if (by !== null) this.#barredBy = by;
    if (this.#barredMs > PATIENCE_MS) {
      const message = `no way to the person was found in ${PATIENCE_MS / 1000} s`;
      return failed('blocked', message, this.#barredBy ?? pose);
    }
    const note = this.#barredMs > 1500 ? 'waiting_for_obstacle' : 'following';
    return running(this.#facing(pose, person), remaining, note);
  }

  /** To where they were seen last, slowly; there once round. */
  #look(input: ControlInput, pose: Pose, person: PersonTrack): ControlOutput {
    this.#standing = false;
    const place = { x: person.x, y: person.y, theta: Math.atan2(person.vy, person.vx) };
    if (distance(pose, place) > 0.4 && this.#looked === 0 && this.#barredMs < 4000) {
      const free = this.#parts.ground.isFree(place);
      this.#planTo(pose, free ? place : this.#goalBehind(pose, person), input.mono);
      const output = this.#drive(input, pose, SLOW, distance(pose, place), 'looking', person);
      const there = this.#way !== null && distance(pose, this.#way.goal) < 0.25;
      if (output.status.state === 'failed') return output;
      if (!there) return { ...output, status: { state: 'running', remaining: null, note: 'looking' } };
    }
    return this.#turnRound(pose);
  }

  #turnRound(pose: Pose): ControlOutput {
    this.#looked += this.#heading === null ? 1e-6 : Math.abs(wrapAngle(pose.theta - this.#heading));
    this.#heading = pose.theta;
    const done = this.#looked >= 2 * Math.PI;
    return running(done ? STANDSTILL : { v: 0, w: LOOK_TURN }, null, done ? 'waiting_for_person' : 'looking');
  }

  #facing(pose: Pose, person: Point): Twist {
    const left = wrapAngle(Math.atan2(person.y - pose.y, person.x - pose.x) - pose.theta);
    if (Math.abs(left) <= FACING) return STANDSTILL;
    return { v: 0, w: turnRate(left, FACING / 2, this.#parts.config.follower.turn) };
  }
}

function slowed(twist: Twist, fastest: number): Twist {
  if (twist.v <= fastest || twist.v <= 0) return twist;
  return { v: fastest, w: (twist.w * fastest) / twist.v };
}
