import type { Twist } from '../../../config/contracts/geometry.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  running,
  STANDSTILL,
  STILL_MS,
  succeeded,
} from './types.js';

/** Distance at which driving by hand stops before things, metres of way. */
const STOP_SHORT = 0.06;

/** Drives as it is told while it is told: without a renewal within the time to live it stops, and that ends it. */
export class DriveController implements Controller {
  readonly #brake: number;
  #twist: Twist;
  #ttlMs: number;
  #until: number | null = null;
  #renewals = 0;

  /** `brake`: what slowing down before obstacles is planned with, m/s². */
  constructor(twist: Twist, ttlMs: number, brake: number) {
    this.#twist = twist;
    this.#ttlMs = ttlMs;
    this.#brake = brake;
  }

  /** The person is still there. The new time to live counts from the next step. */
  renew(twist: Twist, ttlMs: number): void {
    this.#twist = twist;
    this.#ttlMs = ttlMs;
    this.#until = null;
    this.#renewals++;
  }

  step(input: ControlInput): ControlOutput {
    this.#until ??= input.mono + this.#ttlMs;
    if (input.mono >= this.#until) {
      if (input.stillMs >= STILL_MS) return succeeded({ renewals: this.#renewals, expired: 1 });
      return running(STANDSTILL, null, 'expired');
    }
    const { v, w } = this.#twist;
    const room = input.surroundings.freeWay(this.#twist).distance - STOP_SHORT;
    const safe = Math.sqrt(2 * 0.5 * this.#brake * Math.max(0, room));
    if (Math.abs(v) <= safe) return running(this.#twist);
    // Turning away from what is ahead stays possible.
    return running({ v: Math.sign(v) * safe, w }, null, 'slowed_by_obstacle');
  }
}
