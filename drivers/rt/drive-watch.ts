/**
 * Notices, while the robot drives, a wheel that does not do what it is told: one that does not turn or whose encoder is
 * dead, one that goes backwards, and one that turns without moving the robot. What both wheels do alike (held, carried,
 * before a wall) is not judged here.
 */
import type { Scan } from '../../config/contracts/amr.js';
import { wrapAngle } from '../../config/contracts/geometry.js';
import { rotationBetween } from './rotation-between.js';

export interface DriveSample {
  mono: number;
  /** Last commanded, m/s, by wheel. */
  commanded: { left: number; right: number };
  /** Ways of the wheels, m. */
  counted: { left: number; right: number };
  /** rad; null without a gyro. */
  gyroHeading: number | null;
}

/** A wheel is judged after it was told to go this far, m. */
const WINDOW_WAY = 0.15;
/** Less of it than this share is none; and more than this is going along. */
const NONE = 0.15;
const GOES = 0.6;
const BACKWARDS = -0.5;
/** A turn that the encoders do not know of: over this time and way, at least this much, so often in a row. */
const SLIP_WINDOW_MS = 800;
const SLIP_WAY = 0.08;
const SLIP_TURN = 0.14;
const SLIPS = 3;
/** After a pause of this much what was begun means nothing, ms. */
const PAUSE_MS = 400;

interface Window {
  asked: { left: number; right: number };
  left: number;
  right: number;
}

/** Where wheels and headings stood when a window of slip began. */
interface Mark {
  mono: number;
  left: number;
  right: number;
  gyro: number | null;
  scan: Scan | null;
}

export class DriveWatch {
  readonly #wheelBase: number;
  #last: DriveSample | null = null;
  #window: Window | null = null;
  #mark: Mark | null = null;
  #scan: Scan | null = null;
  /** Windows in a row in which the robot turned more to the left (or less to the right) than its encoders say. */
  #slips = 0;
  #fault: string | null = null;

  constructor(wheelBase: number) {
    this.#wheelBase = wheelBase;
  }

  /** One sentence, until `reset`. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Something new begins: what was found is told, and looked for anew. */
  reset(): void {
    this.#fault = null;
    this.#last = null;
    this.#window = null;
    this.#mark = null;
    this.#slips = 0;
  }

  onScan(scan: Scan): void {
    this.#scan = scan;
  }

  /** Once in each control cycle. */
  step(sample: DriveSample): void {
    const last = this.#last;
    this.#last = sample;
    const driving = sample.commanded.left !== 0 || sample.commanded.right !== 0;
    if (!driving || last === null || sample.mono - last.mono > PAUSE_MS) {
      this.#window = null;
      this.#mark = null;
      if (!driving) this.#slips = 0;
      return;
    }
    this.#weighWheels(sample, last);
    this.#weighTurn(sample);
  }

  #weighWheels(sample: DriveSample, last: DriveSample): void {
    const dt = (sample.mono - last.mono) / 1000;
    const { left, right } = last.counted;
    const turnedRound =
      Math.sign(sample.commanded.left) !== Math.sign(last.commanded.left) ||
      Math.sign(sample.commanded.right) !== Math.sign(last.commanded.right);
    // Wheels lag behind a change of direction.
    if (turnedRound) this.#window = null;
    this.#window ??= { asked: { left: 0, right: 0 }, left, right };
    const { asked } = this.#window;
    asked.left += last.commanded.left * dt;
    asked.right += last.commanded.right * dt;
    if (Math.min(Math.abs(asked.left), Math.abs(asked.right)) < WINDOW_WAY) return;
    const share = {
      left: (sample.counted.left - this.#window.left) / asked.left,
      right: (sample.counted.right - this.#window.right) / asked.right,
    };
    this.#window = null;
    this.#fault ??=
      wheelFault('left', share.left, share.right) ?? wheelFault('right', share.right, share.left);
  }

  #weighTurn(sample: DriveSample): void {
    const scan = sample.gyroHeading === null ? this.#scan : null;
    const mark = this.#mark;
    if (mark === null) {
      this.#begin(sample, scan);
      return;
    }
    if (sample.mono - mark.mono < SLIP_WINDOW_MS) return;
    if (sample.gyroHeading === null && scan === mark.scan) return;
    const left = sample.counted.left - mark.left;
    const right = sample.counted.right - mark.right;
    const forward = (left + right) / 2;
    const counted = (right - left) / this.#wheelBase;
    const unknown = this.#unknownTurn(sample, mark, scan, forward, counted);
    this.#begin(sample, scan);
    if (unknown === null || Math.abs(forward) < SLIP_WAY || Math.abs(unknown) < SLIP_TURN) {
      this.#slips = 0;
      return;
    }
    const way = Math.sign(unknown) * Math.sign(forward);
    this.#slips = Math.sign(this.#slips) === way ? this.#slips + way : way;
    if (Math.abs(this.#slips) < SLIPS) return;
    const side = way > 0 ? 'left' : 'right';
    this.#fault ??= `the ${side} wheel slips: it turns, and the robot does not go as far; look at its tyre, and at the floor`;
  }

  /** What gyro or lidar saw of a turn beyond what the encoders counted; null when they cannot tell. */
  #unknownTurn(
    sample: DriveSample,
    mark: Mark,
    scan: Scan | null,
    forward: number,
    counted: number,
  ): number | null {
    if (sample.gyroHeading !== null) {
      return mark.gyro === null ? null : wrapAngle(sample.gyroHeading - mark.gyro - counted);
    }
    if (scan === null || mark.scan === null) return null;
    const along = counted / 2;
    const predicted = { x: forward * Math.cos(along), y: forward * Math.sin(along), theta: counted };
    return rotationBetween(mark.scan, scan, predicted);
  }

  #begin({ mono, counted, gyroHeading }: DriveSample, scan: Scan | null): void {
    this.#mark = { mono, ...counted, gyro: gyroHeading, scan };
  }
}

function wheelFault(side: 'left' | 'right', share: number, other: number): string | null {
  if (other < GOES) return null;
  if (share < BACKWARDS) {
    return `the ${side} wheel goes, or is counted, backwards: check its wires (runMotorDiagnostics tells which)`;
  }
  if (Math.abs(share) > NONE) return null;
  return `the ${side} wheel is told to turn and its encoder does not count: it is held, or a wire of its motor or encoder is off (runMotorDiagnostics tells which)`;
}
