import { ProgressChecker, STUCK_MESSAGES } from './progress.js';
import { DEFAULT_TURN, type TurnParams, turnRate } from './turning.js';
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

/** Turns by an angle on the spot, measured by the wheels, so that more than one full turn is possible. */
export class SpinController implements Controller {
  readonly #angle: number;
  readonly #tolerance: number;
  readonly #turn: TurnParams;
  readonly #progress = new ProgressChecker();
  #from: number | null = null;
  #started: number | null = null;

  /** `angle`: positive counter-clockwise, rad; `tolerance`: rad. */
  constructor(angle: number, tolerance: number, turn: TurnParams = DEFAULT_TURN) {
    this.#angle = angle;
    this.#tolerance = tolerance;
    this.#turn = turn;
  }

  step(input: ControlInput): ControlOutput {
    this.#from ??= input.odometry.heading;
    this.#started ??= input.mono;
    const turned = input.odometry.heading - this.#from;
    const left = this.#angle - turned;
    const w = turnRate(left, 0.5 * this.#tolerance, this.#turn);
    if (w === 0 && input.stillMs >= STILL_MS) return succeeded({ turned });
    const stuck = this.#progress.check({ v: 0, w }, input.pose, input.measured, input.dt);
    if (stuck !== null) return failed('stuck', STUCK_MESSAGES[stuck], input.pose);
    // Twice what the turn takes at its slowest mean rate, and a little for starting.
    const limitMs = 10_000 + (Math.abs(this.#angle) / 0.2) * 1000;
    if (input.mono - this.#started > limitMs) {
      return failed(
        'timeout',
        `${left.toFixed(2)} rad of the turn were left after ${Math.round(limitMs / 1000)} s`,
      );
    }
    return w === 0 ? running(STANDSTILL, 0) : running({ v: 0, w }, Math.abs(left));
  }
}
