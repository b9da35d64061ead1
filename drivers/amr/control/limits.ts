import { clamp, type Twist } from '../../../config/contracts/geometry.js';

/** The body's limits: m/s, m/s², rad/s, rad/s². */
export interface MotionLimits {
  maxSpeed: number;
  accel: number;
  /** Slowing down. */
  brake: number;
  maxTurn: number;
  turnAccel: number;
  /** Fastest a single wheel may turn, m/s, and the distance between the wheels, metres. */
  maxWheelSpeed: number;
  wheelBase: number;
}

export const DEFAULT_LIMITS: MotionLimits = {
  maxSpeed: 0.5,
  accel: 0.5,
  brake: 0.7,
  maxTurn: 1.5,
  turnAccel: 2.5,
  maxWheelSpeed: 0.5,
  wheelBase: 0.235,
};

/** The command may be this far ahead of what the wheels do, m/s and rad/s, before it waits for them. */
const LEAD_SPEED = 0.15;
const LEAD_TURN = 0.8;

/** Turns wished motions into ones the body can follow: within its speeds, and changing no faster than it can. */
export class TwistLimiter {
  readonly #limits: MotionLimits;
  #last: Twist = { v: 0, w: 0 };

  constructor(limits: MotionLimits) {
    this.#limits = limits;
  }

  get current(): Twist {
    return this.#last;
  }

  /** Stands at once: for a drive that has been cut. */
  halt(): void {
    this.#last = { v: 0, w: 0 };
  }

  /** The command for the next `dt` seconds. `measured`: what the wheels do; null while unknown. */
  step(wish: Twist, dt: number, measured: Twist | null): Twist {
    const from = measured === null ? this.#last : this.#tied(measured);
    const target = this.#withinSpeeds(wish);
    const l = this.#limits;
    this.#last = {
      v: approach(from.v, target.v, l.accel * dt, l.brake * dt),
      w: approach(from.w, target.w, l.turnAccel * dt, l.turnAccel * dt),
    };
    return this.#last;
  }

  /** Wheels that are held, or a drive that is not enabled yet, must not let the command run away from them. */
  #tied(measured: Twist): Twist {
    return {
      v: clamp(this.#last.v, measured.v - LEAD_SPEED, measured.v + LEAD_SPEED),
      w: clamp(this.#last.w, measured.w - LEAD_TURN, measured.w + LEAD_TURN),
    };
  }

  /** Where a wheel would be too fast both parts are scaled, so that the curve stays the same. */
  #withinSpeeds(wish: Twist): Twist {
    const l = this.#limits;
    const v = clamp(wish.v, -l.maxSpeed, l.maxSpeed);
    const w = clamp(wish.w, -l.maxTurn, l.maxTurn);
    const fastest = Math.abs(v) + (Math.abs(w) * l.wheelBase) / 2;
    const scale = fastest > l.maxWheelSpeed ? l.maxWheelSpeed / fastest : 1;
    return { v: v * scale, w: w * scale };
  }
}

/** One step of a speed from `from` towards `to`, by at most `up` or, slowing, `down`; through zero when the sign changes. */
export function approach(from: number, to: number, up: number, down: number): number {
  if (from * to < 0) return Math.abs(from) <= down ? 0 : from - Math.sign(from) * down;
  const slowing = Math.abs(to) < Math.abs(from);
  const most = slowing ? down : up;
  return Math.abs(to - from) <= most ? to : from + Math.sign(to - from) * most;
}
