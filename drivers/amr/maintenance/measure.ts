/**
 * Turns the wheels leg by leg and writes down what each source makes of it: what was commanded, what the encoders
 * counted, what the motors drew, how far gyro and lidar say the robot moved. Judges nothing; stands still in between.
 */
import type { MeasureLeg, Scan } from '../../../config/contracts/amr.js';
import { wrapAngle } from '../../../config/contracts/geometry.js';
import {
  type ControlInput,
  type Controller,
  type ControlOutput,
  failed,
  running,
  STANDSTILL,
  STILL_MS,
  succeeded,
} from '../control/types.js';
import { obstacleInMap } from '../control/where.js';
import { scanMotion } from './scan-motion.js';

/** A scan that arrives this long after the wheels came to rest shows the robot standing, ms. */
const SETTLED_MS = STILL_MS + 250;
/** Without one for this long the leg is measured without the lidar, ms. */
const SCAN_PATIENCE_MS = 2000;
/** Wheels that do not come to rest end the measurement, ms. */
const STOP_PATIENCE_MS = 3000;
/** Kept free the way a leg goes beyond its own length, m. */
const SPARE = 0.06;
/** A wheel has answered once its encoder moved so far, m. */
const ANSWERED = 0.002;
/** How far the lidar looks for the robot: near where it was, or about where the wheels say. */
const NEAR = { xy: 0.16, theta: 0.6 };
const ABOUT = { xy: 0.12, theta: 0.3 };

/** Where everything stood when a leg began. */
interface Mark {
  mono: number;
  left: number;
  right: number;
  odometry: { forward: number; heading: number };
}

type Phase = 'settling' | 'driving' | 'stopping';

export class MeasureController implements Controller {
  readonly #legs: readonly MeasureLeg[];
  readonly #wheelBase: number;
  readonly #detail: Record<string, number> = {};
  #index = 0;
  #phase: Phase = 'settling';
  #phaseSince: number | null = null;
  #mark: Mark | null = null;
  #reference: Scan | null = null;
  #gyro = 0;
  #lastGyro: number | null = null;

  constructor(legs: readonly MeasureLeg[], wheelBase: number) {
    this.#legs = legs;
    this.#wheelBase = wheelBase;
  }

  step(input: ControlInput): ControlOutput {
    this.#phaseSince ??= input.mono;
    this.#follow(input);
    switch (this.#phase) {
      case 'settling':
        return this.#settle(input);
      case 'driving':
        return this.#drive(input);
      case 'stopping':
        return this.#stop(input);
    }
  }

  /** Gyro and currents, whatever goes on. */
  #follow({ drive }: ControlInput): void {
    const heading = drive?.gyroHeading ?? null;
    if (heading !== null && this.#lastGyro !== null) this.#gyro += wrapAngle(heading - this.#lastGyro);
    this.#lastGyro = heading;
    if (this.#phase === 'settling') return;
    this.#keepHighest('current_left', drive?.motorCurrentLeftMa ?? null);
    this.#keepHighest('current_right', drive?.motorCurrentRightMa ?? null);
  }

  /** Stands, and waits for a scan that shows it standing; then the leg before is done and the next begins. */
  #settle(input: ControlInput): ControlOutput {
    const waited = input.mono - (this.#phaseSince ?? input.mono);
    const scan = input.stillMs >= SETTLED_MS ? input.scan : null;
    if (scan === null && waited < SCAN_PATIENCE_MS) return running(STANDSTILL, null, 'measuring');
    if (scan === null && input.stillMs < STILL_MS) return notStill();
    if (this.#mark !== null) this.#finishLeg(input, scan);
    this.#reference = scan;
    const leg = this.#legs[this.#index];
    if (leg === undefined) return succeeded({ ...this.#detail, wheel_base: this.#wheelBase });
    return this.#begin(leg, input);
  }

  #begin(leg: MeasureLeg, input: ControlInput): ControlOutput {
    const { wheels } = input;
    if (wheels === null) return failed('hardware', 'the base reports no wheels');
    const barred = this.#barred(
      leg,
      input,
      (Math.abs(leg.left + leg.right) / 2) * (leg.forMs / 1000) + SPARE,
    );
    if (barred !== null) return barred;
    this.#mark = {
      mono: input.mono,
      left: wheels.left,
      right: wheels.right,
      odometry: { ...input.odometry },
    };
    this.#gyro = 0;
    this.#enter('driving', input.mono);
    return this.#drive(input);
  }

  #drive(input: ControlInput): ControlOutput {
    const leg = this.#legs[this.#index];
    const mark = this.#mark;
    if (leg === undefined || mark === null) return running(STANDSTILL, null, 'measuring');
    const barred = this.#barred(leg, input, SPARE);
    if (barred !== null) return barred;
    this.#noteAnswer(input, mark);
    const driven = input.mono - mark.mono;
    if (driven >= leg.forMs) {
      this.#enter('stopping', input.mono);
      return this.#stop(input);
    }
    const v = (leg.left + leg.right) / 2;
    const w = (leg.right - leg.left) / this.#wheelBase;
    return running({ v, w }, this.#legs.length - this.#index, `leg_${this.#index + 1}`);
  }

  #stop(input: ControlInput): ControlOutput {
    const since = input.mono - (this.#phaseSince ?? input.mono);
    if (input.stillMs < STILL_MS) {
      return since > STOP_PATIENCE_MS ? notStill() : running(STANDSTILL, null, 'stopping');
    }
    this.#note('stop_ms', Math.max(0, since - input.stillMs));
    this.#enter('settling', input.mono);
    return running(STANDSTILL, null, 'measuring');
  }

  /** Something in the way ahead, or, for wires may be swapped, behind. */
  #barred(leg: MeasureLeg, input: ControlInput, needed: number): ControlOutput | null {
    const ways = leg.expect === 'near' ? [1, -1] : [Math.sign(leg.left + leg.right)];
    for (const way of ways) {
      if (way === 0) continue;
      const free = input.surroundings.freeWay({ v: 0.1 * way, w: 0 });
      if (free.distance >= needed) continue;
      const where = free.at === null ? null : obstacleInMap(input.pose, free.at);
      const side = way > 0 ? 'ahead of' : 'behind';
      return failed(
        'blocked',
        `${free.distance.toFixed(2)} m are free ${side} the robot, and it needs ${needed.toFixed(2)} m: clear the floor around it`,
        where,
      );
    }
    return null;
  }

  #noteAnswer(input: ControlInput, mark: Mark): void {
    const { wheels } = input;
    if (wheels === null) return;
    const key = this.#key('response_ms');
    const moved = Math.max(Math.abs(wheels.left - mark.left), Math.abs(wheels.right - mark.right));
    if (moved >= ANSWERED && this.#detail[key] === undefined) this.#detail[key] = input.mono - mark.mono;
  }

  #finishLeg(input: ControlInput, scan: Scan | null): void {
    const leg = this.#legs[this.#index];
    const mark = this.#mark;
    const { wheels } = input;
    if (leg === undefined || mark === null || wheels === null) return;
    this.#note('asked_left', leg.left * (leg.forMs / 1000));
    this.#note('asked_right', leg.right * (leg.forMs / 1000));
    this.#note('left', wheels.left - mark.left);
    this.#note('right', wheels.right - mark.right);
    if (this.#lastGyro !== null) this.#note('gyro', this.#gyro);
    this.#noteLidar(leg, mark, input, scan);
    this.#mark = null;
    this.#index += 1;
  }

  #noteLidar(leg: MeasureLeg, mark: Mark, input: ControlInput, scan: Scan | null): void {
    if (scan === null || this.#reference === null) return;
    const forward = input.odometry.forward - mark.odometry.forward;
    const turned = wrapAngle(input.odometry.heading - mark.odometry.heading);
    const search =
      leg.expect === 'near'
        ? { centre: { x: 0, y: 0, theta: 0 }, ...NEAR }
        : { centre: { x: forward, y: 0, theta: turned }, ...ABOUT };
    const motion = scanMotion(this.#reference, scan, search);
    if (motion === null) return;
    this.#note('lidar_x', motion.x);
    this.#note('lidar_y', motion.y);
    this.#note('lidar_theta', motion.theta);
    this.#note('lidar_fit', motion.fit);
  }

  #enter(phase: Phase, mono: number): void {
    this.#phase = phase;
    this.#phaseSince = mono;
  }

  #key(name: string): string {
    return `${this.#index}_${name}`;
  }

  #note(name: string, value: number): void {
    this.#detail[this.#key(name)] = value;
  }

  #keepHighest(name: string, value: number | null): void {
    if (value === null) return;
    const key = this.#key(name);
    this.#detail[key] = Math.max(this.#detail[key] ?? 0, value);
  }
}

function notStill(): ControlOutput {
  return failed('hardware', 'the wheels were told to stand still and go on turning');
}
