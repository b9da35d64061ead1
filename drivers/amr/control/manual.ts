import { compose, type Point, type Pose, type Twist } from '../../../config/contracts/geometry.js';
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

/** What holds for driving by hand on a known map; null where nothing is known. */
export interface DriveGround {
  /** m/s, or null where none is set. */
  speedLimitAt(p: Point): number | null;
  /** Ground that a person closed. */
  isKeepout(p: Point): boolean;
}

/** So far ahead of the middle the ground is looked at, m: what it takes to stop from full speed, and the hull. */
const LOOK_AHEAD = 0.45;

/**
 * Drives as it is told while it is told: without a renewal within the time to live it stops, and that ends it. Limits
 * near obstacles, of areas and of closed ground hold for a person's driving as well.
 */
export class DriveController implements Controller {
  readonly #brake: number;
  readonly #ground: DriveGround | null;
  #twist: Twist;
  #ttlMs: number;
  #until: number | null = null;
  #renewals = 0;
  #over = false;

  /** `brake`: what slowing down before obstacles is planned with, m/s². */
  constructor(twist: Twist, ttlMs: number, brake: number, ground: DriveGround | null = null) {
    this.#twist = twist;
    this.#ttlMs = ttlMs;
    this.#brake = brake;
    this.#ground = ground;
  }

  /** The person is still there. The new time to live counts from the next step; what is over stays over. */
  renew(twist: Twist, ttlMs: number): void {
    if (this.#over) return;
    this.#twist = twist;
    this.#ttlMs = ttlMs;
    this.#until = null;
    this.#renewals++;
  }

  step(input: ControlInput): ControlOutput {
    this.#until ??= input.mono + this.#ttlMs;
    if (this.#over || input.mono >= this.#until) {
      this.#over = true;
      if (input.stillMs >= STILL_MS) return succeeded({ renewals: this.#renewals, expired: 1 });
      return running(STANDSTILL, null, 'expired');
    }
    const { v, w } = this.#twist;
    const room = input.surroundings.freeWay(this.#twist).distance - STOP_SHORT;
    const clear = Math.sqrt(2 * 0.5 * this.#brake * Math.max(0, room));
    const allowed = this.#allowedAt(input.pose, Math.sign(v));
    const safe = Math.min(clear, allowed);
    if (Math.abs(v) <= safe) return running(this.#twist);
    if (allowed < clear) return running({ v: Math.sign(v) * safe, w }, null, 'slowed_by_area');
    // Turning away from what is ahead stays possible.
    return running({ v: Math.sign(v) * safe, w }, null, 'slowed_by_obstacle');
  }

  /** m/s that the areas of the map allow in this direction. */
  #allowedAt(pose: Pose | null, direction: number): number {
    if (this.#ground === null || pose === null) return Number.POSITIVE_INFINITY;
    const ahead = compose(pose, { x: direction * LOOK_AHEAD, y: 0, theta: 0 });
    // Out of closed ground a person may always drive.
    if (this.#ground.isKeepout(ahead) && !this.#ground.isKeepout(pose)) return 0;
    const limits = [pose, ahead].map((p) => this.#ground?.speedLimitAt(p) ?? Number.POSITIVE_INFINITY);
    return Math.min(...limits);
  }
}
