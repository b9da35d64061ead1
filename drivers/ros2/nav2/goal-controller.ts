/**
 * Controllers that leave the driving to Nav2: they send a goal, look at what becomes of it, and believe only what is
 * measured. Nav2's word that it arrived counts once the pose says so and the wheels stand still.
 */
import { distance, type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  failed,
  running,
  STANDSTILL,
  STILL_MS,
  succeeded,
} from '../../amr/control/types.js';
import { obstacleInMap } from '../../amr/control/where.js';
import type { GoalEnd, RosGoal } from '../types.js';
import { type Outcome, outcomeOf } from './outcome.js';

export interface GoalResult {
  error_code: number;
  error_msg: string;
  /** Of docking. */
  success?: boolean;
}

export interface GoalEvents {
  onProgress(remaining: number | null, note: string | null): void;
  onEnd(end: GoalEnd<GoalResult>): void;
}

export interface GoalPlan {
  /** Sends the goal; null: it cannot be sent, and why is what `refused` says. */
  send(events: GoalEvents): RosGoal;
  /** Why the robot cannot be sent now; null: it can. */
  refused(): string | null;
  /** Null: reached as measured; otherwise what is missing. */
  missing(input: ControlInput): string | null;
  /** When it is missed all the same. */
  missed: Outcome['failure'];
  detail(input: ControlInput): Record<string, number>;
  /** From the first step, ms. */
  timeoutMs: number;
}

/** Between Nav2's word and the measurement, ms: transforms and contacts come later than results. */
const CONFIRM_MS = 2_000;
/** Something this near ahead bars the way, m. */
const BARRED = 0.5;

export class GoalController implements Controller {
  readonly #plan: GoalPlan;
  #goal: RosGoal | null = null;
  #end: GoalEnd<GoalResult> | null = null;
  #progress: { remaining: number | null; note: string | null } = { remaining: null, note: null };
  #startedMono: number | null = null;
  #saidSoMono: number | null = null;
  /** The control step in which it was last looked at; others than those mean that somebody wants it to end. */
  #stepped = false;
  #cancelled = false;

  constructor(plan: GoalPlan) {
    this.#plan = plan;
  }

  /** Whether Nav2 has the wheels. */
  get driving(): boolean {
    return this.#goal !== null && this.#end === null && !this.#cancelled;
  }

  /** Nothing is open at the robot. */
  get settled(): boolean {
    return this.#goal === null || this.#end !== null;
  }

  /** To be asked after each step of the runner: true when this controller was not looked at in it. */
  wasLeftAlone(): boolean {
    const alone = !this.#stepped;
    this.#stepped = false;
    return alone;
  }

  /** The runner ends the action, or waits for a scan: Nav2 must not drive meanwhile. */
  giveUp(): void {
    if (this.#goal === null || this.#end !== null) return;
    this.#cancelled = true;
    this.#goal.cancel();
  }

  step(input: ControlInput): ControlOutput {
    this.#stepped = true;
    this.#startedMono ??= input.mono;
    if (input.mono - this.#startedMono > this.#plan.timeoutMs) {
      this.giveUp();
      return failed('timeout', `not reached within ${Math.round(this.#plan.timeoutMs / 1000)} s`, input.pose);
    }
    const end = this.#end;
    if (this.#cancelled) return this.#afterGivingUp(end);
    if (end !== null) return this.#ended(end, input);
    if (this.#goal === null) {
      const refused = this.#plan.refused();
      if (refused !== null) return failed('hardware', refused);
      this.#goal = this.#send();
    }
    return running(STANDSTILL, this.#progress.remaining, this.#progress.note);
  }

  #send(): RosGoal {
    return this.#plan.send({
      onProgress: (remaining, note) => {
        this.#progress = { remaining, note };
      },
      onEnd: (end) => {
        this.#end = end;
      },
    });
  }

  /** What made it give up is over, and the server has said so too: the goal is sent again. */
  #afterGivingUp(end: GoalEnd<GoalResult> | null): ControlOutput {
    if (end !== null) {
      this.#goal = null;
      this.#end = null;
      this.#cancelled = false;
    }
    return running(STANDSTILL, this.#progress.remaining, 'cancelling');
  }

  #ended(end: GoalEnd<GoalResult>, input: ControlInput): ControlOutput {
    if (end.kind !== 'result') return failed(end.kind === 'silent' ? 'timeout' : 'hardware', end.message);
    if (end.status === 'canceled')
      return failed('stuck', 'somebody else cancelled the goal at the robot', input.pose);
    const { error_code: code, error_msg: text } = end.result;
    if (end.status === 'aborted' || end.result.success === false) {
      const way = input.surroundings.freeWay({ v: 0.2, w: 0 });
      const barred = way.distance < BARRED;
      const outcome = outcomeOf(code, text, barred);
      // Docking that failed without a code is a failed contact, whatever is in front: that is the station.
      const uncoded = code === 0 && end.result.success !== undefined;
      const { failure, message } = uncoded ? { ...outcome, failure: this.#plan.missed } : outcome;
      const where = failure === 'blocked' && barred ? obstacleInMap(input.pose, way.at) : null;
      return failed(failure, message, where ?? input.pose);
    }
    this.#saidSoMono ??= input.mono;
    const missing = input.stillMs < STILL_MS ? 'the wheels still turn' : this.#plan.missing(input);
    if (missing === null) return succeeded(this.#plan.detail(input));
    if (input.mono - this.#saidSoMono < CONFIRM_MS) return running(STANDSTILL, 0, 'arriving');
    return failed(this.#plan.missed, `Nav2 says that it is done, and ${missing}`, input.pose);
  }
}

/** Null within the tolerance. */
export function missingTo(
  goal: Pose,
  tolerance: { xy: number; theta: number },
  pose: Pose | null,
): string | null {
  if (pose === null) return 'the robot does not know where it is';
  const off = distance(goal, pose);
  const turned = Math.abs(wrapAngle(goal.theta - pose.theta));
  if (off > tolerance.xy) return `the robot is ${off.toFixed(2)} m off (allowed: ${tolerance.xy} m)`;
  if (turned > tolerance.theta) {
    return `the robot is turned by ${turned.toFixed(2)} rad (allowed: ${tolerance.theta} rad)`;
  }
  return null;
}
