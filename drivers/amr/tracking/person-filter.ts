/**
 * Where a person is and how they move: a Kalman filter of constant velocity, the same for x and y. State (position,
 * speed), acceleration as white noise; measured are positions. R. E. Kalman, 1960; the discrete noise as in
 * Y. Bar-Shalom et al., "Estimation with Applications to Tracking and Navigation", 2001, §6.3.
 */

/** One axis: position and speed, and their covariance. */
interface Axis {
  p: number;
  v: number;
  pp: number;
  pv: number;
  vv: number;
}

/** m/s²: how suddenly people start, stop and turn. */
const ACCELERATION = 1.6;
/** Nobody walks faster through a home, m/s. */
const MAX_SPEED = 2.5;
/** A new track may move this fast, m/s. */
const FIRST_SPEED = 0.5;

export class PersonFilter {
  readonly #x: Axis;
  readonly #y: Axis;

  constructor(x: number, y: number, deviation: number) {
    const axis = (p: number): Axis => ({ p, v: 0, pp: deviation ** 2, pv: 0, vv: FIRST_SPEED ** 2 });
    this.#x = axis(x);
    this.#y = axis(y);
  }

  get x(): number {
    return this.#x.p;
  }
  get y(): number {
    return this.#y.p;
  }
  get vx(): number {
    return this.#x.v;
  }
  get vy(): number {
    return this.#y.v;
  }
  /** One standard deviation of the position, m. */
  get spread(): number {
    return Math.sqrt(Math.max(this.#x.pp, this.#y.pp));
  }

  /** `dt` seconds later. */
  predict(dt: number): void {
    const q = ACCELERATION ** 2;
    for (const a of [this.#x, this.#y]) {
      a.p += a.v * dt;
      a.pp += 2 * dt * a.pv + dt * dt * a.vv + (q * dt ** 4) / 4;
      a.pv += dt * a.vv + (q * dt ** 3) / 2;
      a.vv += q * dt * dt;
    }
  }

  /** Out of sight people slow down as likely as not: the prediction must not run away through walls. */
  damp(dt: number): void {
    const keep = Math.exp(-dt / 1.0);
    this.#x.v *= keep;
    this.#y.v *= keep;
  }

  /** Squared distance of a measurement in standard deviations. */
  distance2(x: number, y: number, deviation: number): number {
    const r = deviation ** 2;
    return (x - this.#x.p) ** 2 / (this.#x.pp + r) + (y - this.#y.p) ** 2 / (this.#y.pp + r);
  }

  measure(x: number, y: number, deviation: number): void {
    const r = deviation ** 2;
    for (const [a, z] of [
      [this.#x, x],
      [this.#y, y],
    ] as const) {
      const s = a.pp + r;
      const kp = a.pp / s;
      const kv = a.pv / s;
      const off = z - a.p;
      a.p += kp * off;
      a.v += kv * off;
      a.vv -= kv * a.pv;
      a.pv -= kp * a.pv;
      a.pp -= kp * a.pp;
    }
    const speed = Math.hypot(this.#x.v, this.#y.v);
    if (speed <= MAX_SPEED) return;
    this.#x.v *= MAX_SPEED / speed;
    this.#y.v *= MAX_SPEED / speed;
  }
}
