import { clamp } from '../../../config/contracts/geometry.js';
import { ProgressChecker, STUCK_MESSAGES } from './progress.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  failed,
  running,
  STANDSTILL,
  STILL_MS,
  succeeded,
} from './types.js';
import { obstacleInMap } from './where.js';

export interface BackwardParams {
  /** Largest speed, positive, m/s. */
  speed: number;
  /** Slowing down towards the end, m/s². */
  brake: number;
  /** Kept free behind, metres. */
  stopShort: number;
  /** How long something behind is waited for, ms. */
  patienceMs: number;
}

const NEAR_ENOUGH = 0.01;
const SLOWEST = 0.03;

/** What a straight way backwards does next; shared by backing up and undocking. Distances by the wheels, metres. */
export type BackwardStep =
  | { state: 'driving'; output: ControlOutput; done: number }
  | { state: 'done'; done: number }
  | { state: 'failed'; output: ControlOutput };

class BackwardDrive {
  readonly #params: BackwardParams;
  readonly #progress = new ProgressChecker();
  #from: number | null = null;
  #waitedMs = 0;

  constructor(params: BackwardParams) {
    this.#params = params;
  }

  /** One step on the way to `distance` metres behind the start. Looks behind and waits for what stands there. */
  step(input: ControlInput, distance: number): BackwardStep {
    this.#from ??= input.odometry.forward;
    const done = this.#from - input.odometry.forward;
    const left = distance - done;
    if (left <= NEAR_ENOUGH) {
      if (input.stillMs >= STILL_MS) return { state: 'done', done };
      return { state: 'driving', output: running(STANDSTILL, 0), done };
    }
    const p = this.#params;
    const way = input.surroundings.freeWay({ v: -p.speed, w: 0 });
    const room = way.distance - p.stopShort;
    if (room < 0.01) return this.#wait(input, way.at, left, done);
    this.#waitedMs = Math.max(0, this.#waitedMs - input.dt * 500);
    const slowing = Math.sqrt(2 * 0.5 * p.brake * Math.min(left, room));
    const v = -clamp(slowing, SLOWEST, p.speed);
    const stuck = this.#progress.check({ v, w: 0 }, input.pose, input.measured, input.dt);
    if (stuck !== null)
      return { state: 'failed', output: failed('stuck', STUCK_MESSAGES[stuck], input.pose) };
    return { state: 'driving', output: running({ v, w: 0 }, left), done };
  }

  #wait(input: ControlInput, at: { x: number; y: number } | null, left: number, done: number): BackwardStep {
    this.#waitedMs += input.dt * 1000;
    if (this.#waitedMs < this.#params.patienceMs) {
      return { state: 'driving', output: running(STANDSTILL, left, 'waiting_for_obstacle'), done };
    }
    const message = `something stands behind the robot; ${done.toFixed(2)} m of ${(done + left).toFixed(2)} m driven`;
    return { state: 'failed', output: failed('blocked', message, obstacleInMap(input.pose, at)) };
  }
}

/** Drives straight back by a distance. */
export class BackUpController implements Controller {
  readonly #drive: BackwardDrive;
  readonly #distance: number;

  constructor(distance: number, params: BackwardParams) {
    this.#distance = distance;
    this.#drive = new BackwardDrive(params);
  }

  step(input: ControlInput): ControlOutput {
    const next = this.#drive.step(input, this.#distance);
    return next.state === 'done' ? succeeded({ distance: next.done }) : next.output;
  }
}

/** The charging contacts must have opened once the robot is this far off, metres, or this much later, ms. */
const CONTACTS_OPEN_WITHIN = 0.1;
const CONTACTS_OPEN_MS = 1000;

/** Backs off the station until `clearance` metres from where it was docked, watching the contacts. */
export class UndockController implements Controller {
  readonly #drive: BackwardDrive;
  readonly #clearance: number;
  #checked = false;
  #liveSince: number | null = null;

  constructor(clearance: number, params: BackwardParams) {
    this.#clearance = clearance;
    this.#drive = new BackwardDrive(params);
  }

  step(input: ControlInput): ControlOutput {
    if (!this.#checked) {
      this.#checked = true;
      if (input.docked !== true) {
        const seen =
          input.docked === null ? 'the base has not reported its contacts' : 'its contacts are open';
        return failed('not_docked', `the robot is not on its station: ${seen}`);
      }
    }
    const next = this.#drive.step(input, this.#clearance);
    if (next.state === 'failed') return next.output;
    if (input.docked === true && next.done > CONTACTS_OPEN_WITHIN) {
      this.#liveSince ??= input.mono;
      if (input.mono - this.#liveSince >= CONTACTS_OPEN_MS || next.state === 'done') {
        return failed(
          'hardware',
          `the charging contacts are still live ${next.done.toFixed(2)} m off the station`,
        );
      }
    } else this.#liveSince = null;
    return next.state === 'done' ? succeeded({ distance: next.done }) : next.output;
  }
}
