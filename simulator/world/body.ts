/**
 * The robot's body: a round differential drive that slips a little, is stopped by what it runs into, and knows
 * of itself only what its encoders and switches say. Kinematic: masses and forces are not modelled, a wheel
 * follows its set-point with a lag and a limited acceleration.
 */
import type { Pose } from '../../config/contracts/geometry.js';
import { insidePolygon, wrapAngle } from '../../config/contracts/geometry.js';
import { type Layout, ROBOT } from './layout.js';
import type { Random } from './random.js';
import { at } from './typed.js';

/** Time constant with which a wheel follows its set-point, s, and its fastest acceleration, m/s². */
const WHEEL_LAG = 0.05;
const WHEEL_ACCELERATION = 2;
/** Wheel slip: standard deviation and time constant (s) of its slow part, as a share of the speed. */
const SLIP = 0.008;
const SLIP_TIME = 1.5;
/** Systematic error of this robot's wheels and wheel base: standard deviations, as shares. */
const WHEEL_ERROR = 0.002;
const BASE_ERROR = 0.004;
/** The bumper is pressed while something is this close, m. */
const BUMPER_TRAVEL = 0.002;
/** Beyond this bearing to one side (rad), only that side's switch closes; the bumper ends at the wheels. */
const BUMPER_MIDDLE = 0.35;
const BUMPER_END = 1.6;
/** A wheel that is held fast draws too much current after this long, ms. */
const OVERCURRENT_MS = 250;
const MAX_CONTACTS = 64;
const PUSH_ROUNDS = 4;

/** Something round that moves or was put there. */
export interface RoundThing {
  x: number;
  y: number;
  radius: number;
}

export interface Side<T> {
  left: T;
  right: T;
}

/** What can be wrong with one wheel. */
export interface WheelState {
  /** It cannot turn: a carpet fringe, a child's hand. */
  blocked: boolean;
  /** Share of its turning that does not move the robot, 0…1. */
  slip: number;
  motor: 'ok' | 'dead' | 'reversed';
  encoder: 'ok' | 'dead' | 'reversed';
}

const SOUND: Readonly<WheelState> = { blocked: false, slip: 0, motor: 'ok', encoder: 'ok' };
const OTHER = { left: 'right', right: 'left' } as const;

/** Bearings of the cliff sensors from forward, rad, counter-clockwise, on a circle of `CLIFF_REACH` metres. */
const CLIFF_SENSORS = { left: 1.05, frontLeft: 0.26, frontRight: -0.26, right: -1.05 } as const;
export type CliffSensor = keyof typeof CLIFF_SENSORS;
const CLIFF_REACH = 0.155;

export class Body {
  pose: Pose;
  /** Pose at the start of the present sub-step, for what is measured within it. */
  before: Pose;
  /** Set-points, m/s. */
  readonly command: Side<number> = { left: 0, right: 0 };
  /** Speeds of the wheels over ground as the motors turn them, m/s. */
  readonly wheels: Side<number> = { left: 0, right: 0 };
  /** Metres each wheel has turned, as its encoder sees it. */
  readonly turned: Side<number> = { left: 0, right: 0 };
  readonly bump: Side<boolean> = { left: false, right: false };
  readonly wheelDrop: Side<boolean> = { left: false, right: false };
  readonly cliff: Record<CliffSensor, boolean> = {
    left: false,
    frontLeft: false,
    frontRight: false,
    right: false,
  };
  readonly overcurrent: Side<boolean> = { left: false, right: false };
  /** Something is touched (also with the back). */
  touching = false;
  /** Held up by somebody: both wheels hang, and no sensor sees a floor. */
  lifted = false;
  /** Neither wheel can turn. */
  wheelsBlocked = false;
  readonly wheelStates: Side<WheelState> = { left: { ...SOUND }, right: { ...SOUND } };
  /** Wires that were plugged in on the other side. */
  readonly swapped = { motors: false, encoders: false };
  /** False while the battery is empty. */
  powered = true;
  /** Touching the dock in the right place does not press the bumper. */
  seated = false;

  readonly #layout: Layout;
  readonly #random: Random;
  readonly #slip: Side<number> = { left: 0, right: 0 };
  readonly #scale: Side<number>;
  readonly #wheelBase: number;
  readonly #stalledMs: Side<number> = { left: 0, right: 0 };
  readonly #near = new Int32Array(MAX_CONTACTS);
  readonly #pressedUntil: Record<'bumpLeft' | 'bumpRight' | 'cliff', number> = {
    bumpLeft: 0,
    bumpRight: 0,
    cliff: 0,
  };
  #timeMs = 0;

  /** `wheelBase`: distance of the wheels by design, m. */
  constructor(layout: Layout, random: Random, wheelBase: number = ROBOT.wheelBase) {
    this.#layout = layout;
    this.#random = random;
    this.pose = { ...layout.start };
    this.before = this.pose;
    this.#scale = { left: 1 + WHEEL_ERROR * random.gauss(), right: 1 + WHEEL_ERROR * random.gauss() };
    this.#wheelBase = wheelBase * (1 + BASE_ERROR * random.gauss());
  }

  /** Somebody presses a bumper switch, or holds paper under all cliff sensors, for `ms`. */
  stimulate(what: 'bumpLeft' | 'bumpRight' | 'cliff', ms: number): void {
    this.#pressedUntil[what] = this.#timeMs + ms;
  }

  /** Metres that the encoder wired to this side has counted. */
  encoderTravel(side: keyof Side<number>): number {
    return this.turned[this.swapped.encoders ? OTHER[side] : side];
  }

  isBlocked(side: keyof Side<number>): boolean {
    return this.wheelsBlocked || this.wheelStates[side].blocked;
  }

  /** Encoder counts of a wheel as the base reports them: 16 bits that wrap around. */
  encoder(side: keyof Side<number>): number {
    const revolutions = this.encoderTravel(side) / (Math.PI * ROBOT.wheelDiameter);
    return Math.floor(revolutions * ROBOT.countsPerRev) & 0xffff;
  }

  step(dtMs: number, things: readonly RoundThing[]): void {
    this.#timeMs += dtMs;
    const dt = dtMs / 1000;
    this.#turn('left', dt);
    this.#turn('right', dt);
    this.before = this.pose;
    const left = this.#grip('left', dt);
    const right = this.#grip('right', dt);
    const v = (left + right) / 2;
    const w = (right - left) / this.#wheelBase;
    const middle = this.pose.theta + (w * dt) / 2;
    const x = this.pose.x + v * dt * Math.cos(middle);
    const y = this.pose.y + v * dt * Math.sin(middle);
    const theta = wrapAngle(this.pose.theta + w * dt);
    this.pose = this.#pushedOut(x, y, theta, things);
    this.#feel(things);
    this.#watchCurrent('left', dtMs);
    this.#watchCurrent('right', dtMs);
  }

  /** Moves a wheel's speed towards its set-point, and its encoder with it. */
  #turn(side: keyof Side<number>, dt: number): void {
    const target = this.powered ? this.#driven(side) : 0;
    if (this.isBlocked(side)) {
      this.wheels[side] = 0;
      return;
    }
    const speed = this.wheels[side];
    const limit = WHEEL_ACCELERATION * dt;
    const change = (target - speed) * (1 - Math.exp(-dt / WHEEL_LAG));
    const next = speed + Math.max(-limit, Math.min(limit, change));
    this.wheels[side] = target === 0 && Math.abs(next) < 0.002 ? 0 : next;
    const { encoder } = this.wheelStates[side];
    if (encoder !== 'dead') this.turned[side] += (encoder === 'reversed' ? -1 : 1) * this.wheels[side] * dt;
  }

  /** What the motor on this side is driven with, m/s. */
  #driven(side: keyof Side<number>): number {
    const { motor } = this.wheelStates[side];
    if (motor === 'dead') return 0;
    const command = this.command[this.swapped.motors ? OTHER[side] : side];
    return motor === 'reversed' ? -command : command;
  }

  /** Speed over ground that a wheel's turning gives: none in the air, a little more or less on the floor. */
  #grip(side: keyof Side<number>, dt: number): number {
    const speed = this.wheels[side];
    if (this.wheelDrop[side]) return 0;
    if (speed === 0) return 0;
    const keep = Math.exp(-dt / SLIP_TIME);
    const slip = this.#slip[side] * keep + SLIP * Math.sqrt(1 - keep * keep) * this.#random.gauss();
    this.#slip[side] = slip;
    return speed * (this.#scale[side] + slip) * (1 - this.wheelStates[side].slip);
  }

  /** The pose nearest to the wished one that touches nothing more than with the hull; sliding along walls. */
  #pushedOut(wishedX: number, wishedY: number, theta: number, things: readonly RoundThing[]): Pose {
    let x = wishedX;
    let y = wishedY;
    for (let round = 0; round < PUSH_ROUNDS; round++) {
      const push = this.#deepest(x, y, things);
      if (push === null) return { x, y, theta };
      x += push.x;
      y += push.y;
    }
    return this.#deepest(x, y, things) === null ? { x, y, theta } : { x: this.pose.x, y: this.pose.y, theta };
  }

  /** The shortest way out of what is penetrated most; null when nothing is. */
  #deepest(x: number, y: number, things: readonly RoundThing[]): { x: number; y: number } | null {
    const { solid } = this.#layout;
    let depth = 1e-9;
    let nx = 0;
    let ny = 0;
    const n = solid.near(x, y, ROBOT.radius, this.#near);
    for (let i = 0; i < n; i++) {
      const { dx, dy, distance } = this.#toSegment(at(this.#near, i), x, y);
      if (distance === 0 || ROBOT.radius - distance <= depth) continue;
      depth = ROBOT.radius - distance;
      nx = dx / distance;
      ny = dy / distance;
    }
    for (const thing of things) {
      const dx = x - thing.x;
      const dy = y - thing.y;
      const distance = Math.hypot(dx, dy);
      const overlap = ROBOT.radius + thing.radius - distance;
      if (distance === 0 || overlap <= depth) continue;
      depth = overlap;
      nx = dx / distance;
      ny = dy / distance;
    }
    return nx === 0 && ny === 0 ? null : { x: nx * depth, y: ny * depth };
  }

  /** From the nearest point of a segment to (x, y). */
  #toSegment(s: number, x: number, y: number): { dx: number; dy: number; distance: number } {
    const { ends } = this.#layout.solid;
    const ax = at(ends, 4 * s);
    const ay = at(ends, 4 * s + 1);
    const sx = at(ends, 4 * s + 2) - ax;
    const sy = at(ends, 4 * s + 3) - ay;
    const length2 = sx * sx + sy * sy;
    const along = length2 === 0 ? 0 : ((x - ax) * sx + (y - ay) * sy) / length2;
    const t = Math.max(0, Math.min(1, along));
    const dx = x - ax - t * sx;
    const dy = y - ay - t * sy;
    return { dx, dy, distance: Math.sqrt(dx * dx + dy * dy) };
  }

  /** Reads the switches and sensors that touch or see the floor and what is around. */
  #feel(things: readonly RoundThing[]): void {
    const { x, y } = this.pose;
    this.touching = false;
    let left = this.#timeMs <= this.#pressedUntil.bumpLeft;
    let right = this.#timeMs <= this.#pressedUntil.bumpRight;
    const press = (dx: number, dy: number) => {
      this.touching = true;
      if (this.seated) return;
      const bearing = wrapAngle(Math.atan2(dy, dx) - this.pose.theta);
      if (Math.abs(bearing) > BUMPER_END) return;
      if (bearing > -BUMPER_MIDDLE) left = true;
      if (bearing < BUMPER_MIDDLE) right = true;
    };
    const n = this.#layout.solid.near(x, y, ROBOT.radius + BUMPER_TRAVEL, this.#near);
    for (let i = 0; i < n; i++) {
      const { dx, dy } = this.#toSegment(at(this.#near, i), x, y);
      press(-dx, -dy);
    }
    for (const thing of things) {
      const dx = thing.x - x;
      const dy = thing.y - y;
      if (Math.hypot(dx, dy) < ROBOT.radius + thing.radius + BUMPER_TRAVEL) press(dx, dy);
    }
    this.bump.left = left;
    this.bump.right = right;
    this.#feelFloor();
  }

  #feelFloor(): void {
    const { cliffs } = this.#layout;
    const held = this.lifted || this.#timeMs <= this.#pressedUntil.cliff;
    for (const sensor of Object.keys(CLIFF_SENSORS) as CliffSensor[]) {
      this.cliff[sensor] = held || (cliffs.length > 0 && this.#overStep(CLIFF_SENSORS[sensor], CLIFF_REACH));
    }
    const hangs = (bearing: number) =>
      this.lifted || (cliffs.length > 0 && this.#overStep(bearing, ROBOT.wheelBase / 2));
    this.wheelDrop.left = hangs(Math.PI / 2);
    this.wheelDrop.right = hangs(-Math.PI / 2);
  }

  #overStep(bearing: number, reach: number): boolean {
    const angle = this.pose.theta + bearing;
    const p = { x: this.pose.x + reach * Math.cos(angle), y: this.pose.y + reach * Math.sin(angle) };
    return this.#layout.cliffs.some((cliff) => insidePolygon(p, cliff.polygon));
  }

  #watchCurrent(side: keyof Side<number>, dtMs: number): void {
    const stalled = this.isBlocked(side) && this.powered && Math.abs(this.#driven(side)) > 0.01;
    this.#stalledMs[side] = stalled ? this.#stalledMs[side] + dtMs : 0;
    this.overcurrent[side] = this.#stalledMs[side] >= OVERCURRENT_MS;
  }
}
