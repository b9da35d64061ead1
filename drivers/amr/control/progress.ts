import { distance, type Pose, type Twist, wrapAngle } from '../../../config/contracts/geometry.js';

export interface ProgressParams {
  /** Moving this far (metres) or turning this much (rad) within `withinMs` of trying is progress. */
  distance: number;
  turn: number;
  withinMs: number;
  /** Wheels that are told to turn and do not for this long are held, ms. */
  wheelsHeldMs: number;
}

export const DEFAULT_PROGRESS: ProgressParams = {
  distance: 0.05,
  turn: 0.15,
  withinMs: 6000,
  wheelsHeldMs: 2000,
};

/** Commands below these do not count as trying: m/s, rad/s. */
const TRYING_SPEED = 0.02;
const TRYING_TURN = 0.08;

/** Notices that the robot is told to move and does not: held wheels, or wheels that spin on the spot. */
export class ProgressChecker {
  readonly #params: ProgressParams;
  #reference: Pose | null = null;
  #triedMs = 0;
  #heldMs = 0;

  constructor(params: ProgressParams = DEFAULT_PROGRESS) {
    this.#params = params;
  }

  reset(): void {
    this.#reference = null;
    this.#triedMs = 0;
    this.#heldMs = 0;
  }

  /**
   * One step of `dt` seconds with this command. `pose` is of the map (not of the wheels alone), null while unknown.
   * Returns what is wrong, or null.
   */
  check(
    command: Twist,
    pose: Pose | null,
    measured: Twist | null,
    dt: number,
  ): 'wheels_held' | 'no_progress' | null {
    const trying = Math.abs(command.v) > TRYING_SPEED || Math.abs(command.w) > TRYING_TURN;
    if (!trying) {
      this.#heldMs = 0;
      return null;
    }
    const turns =
      measured !== null &&
      (Math.abs(measured.v) > 0.1 * TRYING_SPEED || Math.abs(measured.w) > 0.1 * TRYING_TURN);
    this.#heldMs = turns ? 0 : this.#heldMs + dt * 1000;
    if (this.#heldMs >= this.#params.wheelsHeldMs) return 'wheels_held';
    if (pose === null) return null;
    const from = this.#reference;
    const moved =
      from === null ||
      distance(from, pose) >= this.#params.distance ||
      Math.abs(wrapAngle(pose.theta - from.theta)) >= this.#params.turn;
    if (moved) {
      this.#reference = pose;
      this.#triedMs = 0;
      return null;
    }
    this.#triedMs += dt * 1000;
    return this.#triedMs >= this.#params.withinMs ? 'no_progress' : null;
  }
}

export const STUCK_MESSAGES = {
  wheels_held: 'the wheels are told to turn and do not',
  no_progress: 'the wheels turn but the robot does not move on',
} as const;
