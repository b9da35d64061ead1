/** How turns on the spot are driven: rad/s and rad/s². */
import { clamp } from '../../../config/contracts/geometry.js';
export interface TurnParams {
  maxTurn: number;
  /** Slowing down towards the end of a turn is planned with this. */
  slowing: number;
  /** Slower than this the wheels do not turn evenly. */
  minTurn: number;
}

export const DEFAULT_TURN: TurnParams = { maxTurn: 1.2, slowing: 1.2, minTurn: 0.12 };

/** Turn rate for an angle that is left, signed; 0 within `done` (rad). */
export function turnRate(left: number, done: number, params: TurnParams = DEFAULT_TURN): number {
  const size = Math.abs(left);
  if (size <= done) return 0;
  const rate = Math.sqrt(2 * params.slowing * (size - 0.5 * done));
  return Math.sign(left) * clamp(rate, params.minTurn, params.maxTurn);
}
