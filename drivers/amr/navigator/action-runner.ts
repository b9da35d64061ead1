import type {
  ActionFailure,
  ActionKind,
  ActionUpdate,
  MotionAction,
  SafetyCondition,
  SafetyLevel,
} from '../../../config/contracts/amr.js';
import type { Point, Pose, Twist } from '../../../config/contracts/geometry.js';
import { DriveController } from '../control/manual.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  STANDSTILL,
  STILL_MS,
} from '../control/types.js';
import { FollowPersonController } from '../following/follow-person.js';
import type { ObstacleParams } from './config.js';
import { FollowPathController } from './follow-path.js';

/** How an action will end, once the wheels stand still. */
type Ending =
  | { status: 'stopped' }
  | { status: 'failed'; failure: ActionFailure; message: string; where: Point | null };

interface Running {
  id: string;
  action: MotionAction;
  controller: Controller;
  ending: Ending | null;
  /** When `ending` was decided, mono ms. */
  endingSince: number | null;
  staleMs: number;
}

export interface RunnerFacts {
  now: number;
  safety: SafetyLevel;
  safetyBecause: readonly SafetyCondition[];
  /** For updates: also while it is not trusted. */
  pose: Pose | null;
  localized: boolean | null;
}

const UPDATE_EVERY_MS = 200;
/** Wheels that do not come to rest do not hold an ending back longer than this, ms. */
const ENDING_WAIT_MS = 3000;
/** Ways of ending that were decided while others wait: more cannot pile up than this. */
const MAX_WAITING = 4;

/**
 * Runs one action after the other. Whatever ends one (its goal, a failure, a stop, a newer action, the safety
 * layer), its end is told once the wheels stand still, and only then the next begins.
 */
export class ActionRunner {
  readonly #obstacles: ObstacleParams;
  readonly #create: (action: MotionAction) => Controller | null;
  #running: Running | null = null;
  #next: { id: string; action: MotionAction } | null = null;
  /** Actions that were replaced before they began. */
  readonly #dropped: { id: string; kind: ActionKind }[] = [];
  #saidAt = Number.NEGATIVE_INFINITY;
  #saidNote: string | null = null;
  readonly #counters = { actions_started: 0, actions_failed: 0, replans: 0 };

  constructor(obstacles: ObstacleParams, create: (action: MotionAction) => Controller | null) {
    this.#obstacles = obstacles;
    this.#create = create;
  }

  /** The running action, also while it is being ended; then the one that waits for it. */
  get action(): { id: string; kind: ActionKind } | null {
    const shown = this.#running ?? this.#next;
    return shown === null ? null : { id: shown.id, kind: shown.action.kind };
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  /** What is left of the path being followed. */
  path(): Pose[] {
    const controller = this.#running?.controller;
    if (this.#running?.ending !== null || !hasWay(controller)) return [];
    const points = controller.rest();
    return points.map((p, i) => {
      const q = points[i + 1] ?? p;
      const before = points[i - 1] ?? p;
      const theta = q === p ? Math.atan2(p.y - before.y, p.x - before.x) : Math.atan2(q.y - p.y, q.x - p.x);
      return { x: p.x, y: p.y, theta };
    });
  }

  start(id: string, action: MotionAction): void {
    const running = this.#running;
    if (action.kind === 'drive' && running?.id === id && running.ending === null) {
      if (running.controller instanceof DriveController) {
        running.controller.renew(action.twist, action.ttlMs);
        return;
      }
    }
    // A sign of life that comes before the first control step renews what has yet to begin.
    if (action.kind === 'drive' && this.#next?.id === id) {
      this.#next = { id, action };
      return;
    }
    this.#dropNext();
    this.#next = { id, action };
    this.#end({ status: 'stopped' });
  }

  stop(_reason: string): void {
    this.#dropNext();
    this.#end({ status: 'stopped' });
  }

  /** Paths and stations of the old map mean nothing on the new one. */
  mapChanged(): void {
    const kind = this.#running?.action.kind;
    if (kind !== 'followPath' && kind !== 'dock' && kind !== 'follow') return;
    this.#end({
      status: 'failed',
      failure: 'localization_lost',
      message: 'the map was replaced',
      where: null,
    });
  }

  step(input: ControlInput, facts: RunnerFacts): { wish: Twist; updates: ActionUpdate[] } {
    const updates: ActionUpdate[] = [];
    if (this.#running === null && this.#next !== null) this.#begin(this.#next, facts, updates);
    const running = this.#running;
    let wish = STANDSTILL;
    if (running !== null) {
      if (running.ending === null) wish = this.#control(running, input, facts, updates);
      if (running.ending !== null) {
        wish = STANDSTILL;
        this.#finishEnding(running, input, facts, updates);
      }
    }
    this.#reportDropped(input, facts, updates);
    return { wish, updates };
  }

  #begin(next: { id: string; action: MotionAction }, facts: RunnerFacts, updates: ActionUpdate[]): void {
    this.#next = null;
    this.#saidAt = Number.NEGATIVE_INFINITY;
    this.#saidNote = null;
    this.#counters.actions_started++;
    const controller = this.#create(next.action);
    if (controller === null) {
      const ending = {
        status: 'failed',
        failure: 'localization_lost',
        message: 'no map is loaded',
        where: null,
      } as const;
      this.#counters.actions_failed++;
      updates.push({ id: next.id, kind: next.action.kind, at: facts.now, ...ending, pose: facts.pose });
      return;
    }
    this.#running = { ...next, controller, ending: null, endingSince: null, staleMs: 0 };
  }

  #control(running: Running, input: ControlInput, facts: RunnerFacts, updates: ActionUpdate[]): Twist {
    const stop = this.#mustEnd(running, input, facts);
    if (stop !== null) {
      running.ending = stop;
      return STANDSTILL;
    }
    if (this.#isBlind(running, input)) {
      this.#say(running, facts, updates, null, 'waiting_for_scan', input.mono);
      return STANDSTILL;
    }
    const output = running.controller.step(input);
    this.#takeStatus(running, output, facts, updates, input);
    return output.twist;
  }

  /** What ends an action from outside its controller. */
  #mustEnd(running: Running, input: ControlInput, facts: RunnerFacts): Ending | null {
    // A dock action expects to touch things: the safety layer has stopped it, and it backs off by itself.
    const touching = running.action.kind === 'dock' && input.bumped;
    if (facts.safety !== 'OK' && !touching) {
      const because = facts.safetyBecause.join(', ') || facts.safety;
      const message = `the safety layer stopped the robot: ${because}`;
      return { status: 'failed', failure: 'safety_stop', message, where: facts.pose };
    }
    // What is measured may be just that: a wheel that does not do what it is told.
    if (input.driveFault !== null && running.action.kind !== 'measure') {
      return { status: 'failed', failure: 'drive_fault', message: input.driveFault, where: facts.pose };
    }
    const needsPose = ['followPath', 'dock', 'follow'].includes(running.action.kind);
    if (needsPose && (facts.localized === false || facts.pose === null)) {
      const message =
        facts.pose === null
          ? 'the robot has not been told where it is'
          : 'scans no longer fit the believed pose';
      return { status: 'failed', failure: 'localization_lost', message, where: facts.pose };
    }
    if (running.staleMs > this.#obstacles.staleEndsMs) {
      return {
        status: 'failed',
        failure: 'sensors_stale',
        message: blindness(running.action, input, this.#obstacles.staleMs),
        where: facts.pose,
      };
    }
    return null;
  }

  /** Motions over ground look first; turning on the spot and a person's own driving do not need to. */
  #isBlind(running: Running, input: ControlInput): boolean {
    if (running.action.kind === 'spin' || running.action.kind === 'drive') return false;
    const ageMs = lookAge(running.action, input);
    const blind = ageMs === null || ageMs > this.#obstacles.staleMs;
    running.staleMs = blind ? running.staleMs + input.dt * 1000 : 0;
    return blind;
  }

  #takeStatus(
    running: Running,
    { status }: ControlOutput,
    facts: RunnerFacts,
    updates: ActionUpdate[],
    input: ControlInput,
  ): void {
    switch (status.state) {
      case 'running':
        this.#say(running, facts, updates, status.remaining, status.note, input.mono);
        return;
      case 'failed': {
        const { failure, message, where } = status;
        running.ending = {
          status: 'failed',
          failure,
          message,
          where: where === null ? null : { x: where.x, y: where.y },
        };
        return;
      }
      case 'succeeded': {
        const { detail } = status;
        const { docked } = input;
        updates.push({
          ...this.#head(running, facts),
          status: 'succeeded',
          pose: facts.pose,
          docked,
          detail,
        });
        this.#done(running);
      }
    }
  }

  #say(
    running: Running,
    facts: RunnerFacts,
    updates: ActionUpdate[],
    remaining: number | null,
    note: string | null,
    mono: number,
  ): void {
    if (note === this.#saidNote && mono - this.#saidAt < UPDATE_EVERY_MS) return;
    this.#saidAt = mono;
    this.#saidNote = note;
    updates.push({ ...this.#head(running, facts), status: 'running', pose: facts.pose, remaining, note });
  }

  #finishEnding(running: Running, input: ControlInput, facts: RunnerFacts, updates: ActionUpdate[]): void {
    const { ending } = running;
    if (ending === null) return;
    running.endingSince ??= input.mono;
    const waited = input.mono - running.endingSince;
    if (input.stillMs < STILL_MS && waited < ENDING_WAIT_MS) return;
    const head = this.#head(running, facts);
    if (input.stillMs < STILL_MS) {
      const message = 'the wheels were told to stop and still turn, or report nothing';
      updates.push({
        ...head,
        status: 'failed',
        failure: 'hardware',
        message,
        where: null,
        pose: facts.pose,
      });
    } else if (ending.status === 'stopped') {
      updates.push({ ...head, status: 'stopped', pose: facts.pose, stoppedForMs: input.stillMs });
    } else updates.push({ ...head, ...ending, pose: facts.pose });
    if (ending.status === 'failed') this.#counters.actions_failed++;
    this.#done(running);
  }

  #done(running: Running): void {
    if (running.controller instanceof FollowPathController)
      this.#counters.replans += running.controller.replans;
    this.#running = null;
  }

  #end(ending: Ending): void {
    if (this.#running !== null) this.#running.ending ??= ending;
  }

  #dropNext(): void {
    if (this.#next === null) return;
    if (this.#dropped.length < MAX_WAITING)
      this.#dropped.push({ id: this.#next.id, kind: this.#next.action.kind });
    this.#next = null;
  }

  #reportDropped(input: ControlInput, facts: RunnerFacts, updates: ActionUpdate[]): void {
    if (this.#dropped.length === 0 || input.stillMs < STILL_MS) return;
    for (const { id, kind } of this.#dropped.splice(0)) {
      const { pose } = facts;
      updates.push({ id, kind, at: facts.now, status: 'stopped', pose, stoppedForMs: input.stillMs });
    }
  }

  #head(running: Running, facts: RunnerFacts): { id: string; kind: ActionKind; at: number } {
    return { id: running.id, kind: running.action.kind, at: facts.now };
  }
}

function hasWay(
  controller: Controller | undefined,
): controller is FollowPathController | FollowPersonController {
  return controller instanceof FollowPathController || controller instanceof FollowPersonController;
}

/** How old the newest look is the way the action goes. */
function lookAge(action: MotionAction, { surroundings }: ControlInput): number | null {
  return goesBackwards(action) ? surroundings.behindAgeMs : surroundings.aheadAgeMs;
}

function goesBackwards({ kind }: MotionAction): boolean {
  return kind === 'undock' || kind === 'backUp';
}

function blindness(action: MotionAction, { surroundings }: ControlInput, staleMs: number): string {
  const { ageMs } = surroundings;
  if (ageMs === null || ageMs > staleMs) return 'no lidar scan arrives';
  return `the lidar sees nothing ${goesBackwards(action) ? 'behind' : 'ahead'}: is it covered?`;
}
