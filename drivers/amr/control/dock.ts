import { clamp, compose, type Point, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import { correctOffset, readBeacon } from './infrared.js';
import { ProgressChecker } from './progress.js';
import { turnRate } from './turning.js';
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
import { obstacleInMap } from './where.js';

export interface DockParams {
  /** Speeds of the approach: from afar, near, and for the last centimetres, m/s. */
  speed: number;
  nearSpeed: number;
  contactSpeed: number;
  /** The point on the middle line that is steered for lies this far ahead, metres. */
  lookahead: number;
  /** How far beyond the docked pose the robot may push without contact, metres. */
  overshoot: number;
  /** Backed off after a touch without contact, metres. */
  backOff: number;
  /** Contacts must stay live this long, ms. */
  contactMs: number;
  /** How long something between robot and station is waited for, ms, and the whole approach may take. */
  patienceMs: number;
  timeoutMs: number;
}

export const DEFAULT_DOCK: DockParams = {
  speed: 0.15,
  nearSpeed: 0.08,
  contactSpeed: 0.05,
  lookahead: 0.25,
  overshoot: 0.06,
  backOff: 0.15,
  contactMs: 500,
  patienceMs: 8000,
  timeoutMs: 60_000,
};

/** Where an approach starts: in front of the station and facing it. */
export function stagingPose(station: Pose, distance = 0.7): Pose {
  return compose(station, { x: -distance, y: 0, theta: 0 });
}

/** From here on the last slow bit begins, metres before the docked pose. */
const CONTACT_ZONE = 0.06;
const NEAR_ZONE = 0.3;
/** The receivers sit behind the front of the bumper, this far in from the hull, metres. */
const RECEIVER_INSET = 0.02;
/** Within this of the station's face its beams are believed, and by how much, metres. */
const IR_RANGE = 0.5;
const MAX_CORRECTION = 0.12;
/** Points nearer than this to the docked hull's front belong to the station or the wall, metres. */
const STATION_DEPTH = 0.06;
/** A contact that opens again while settling gets this much more push, metres. */
const NUDGE = 0.02;

type Phase = 'approach' | 'contact' | 'retreat';

/**
 * The last part of docking: along the station's middle line by the pose, corrected by the station's infrared, until
 * the charging contacts are live. Touching without contact, or driving too far, backs off and ends `no_contact`.
 */
export class DockController implements Controller {
  readonly #station: Pose;
  readonly #params: DockParams;
  readonly #robotRadius: number;
  readonly #progress = new ProgressChecker({ distance: 0.02, turn: 0.1, withinMs: 4000, wheelsHeldMs: 2500 });
  #phase: Phase = 'approach';
  #why = '';
  #started: number | null = null;
  #turning = true;
  #waitedMs = 0;
  #liveSince: number | null = null;
  #openSince: number | null = null;
  #retreatFrom = 0;
  #nudges = 0;

  constructor(station: Pose, robotRadius: number, params: DockParams = DEFAULT_DOCK) {
    this.#station = station;
    this.#robotRadius = robotRadius;
    this.#params = params;
  }

  step(input: ControlInput): ControlOutput {
    this.#started ??= input.mono;
    if (input.docked === true && this.#phase !== 'contact') {
      this.#phase = 'contact';
      this.#liveSince = null;
      this.#openSince = null;
    }
    switch (this.#phase) {
      case 'contact':
        return this.#settle(input);
      case 'retreat':
        return this.#retreat(input);
      case 'approach':
        return this.#approach(input);
    }
  }

  #approach(input: ControlInput): ControlOutput {
    const { pose } = input;
    if (pose === null)
      return failed('localization_lost', 'the robot does not know where it is before the station');
    const at = relativeTo(this.#station, pose);
    if (input.bumped)
      return this.#giveUp(input, `touched something ${Math.max(0, -at.x).toFixed(2)} m before contact`);
    if (at.x > this.#params.overshoot)
      return this.#giveUp(input, 'drove past the docked place without contact');
    if (input.mono - (this.#started ?? 0) > this.#params.timeoutMs) {
      return this.#giveUp(input, `no contact within ${Math.round(this.#params.timeoutMs / 1000)} s`);
    }
    const aim = this.#steer(input, at);
    if (this.#mustTurn(aim.bearing, at)) {
      const w = turnRate(aim.bearing, 0.03);
      return this.#watched(input, { v: 0, w }, -at.x, 'aligning');
    }
    const blocked = this.#blockedBy(input, at);
    if (blocked !== null) return this.#wait(input, blocked, -at.x);
    this.#waitedMs = 0;
    const v = this.#speedAt(-at.x);
    return this.#watched(
      input,
      { v, w: clamp(v * aim.curvature, -0.6, 0.6) },
      Math.max(0, -at.x),
      'approaching',
    );
  }

  /** Bearing of, and curvature to, a point ahead on the middle line. */
  #steer(input: ControlInput, at: Pose): { bearing: number; curvature: number } {
    const y = at.y + this.#correction(input, at);
    const aim = relativeTo(
      { x: at.x, y, theta: at.theta },
      { x: at.x + this.#params.lookahead, y: 0, theta: 0 },
    );
    const squared = aim.x * aim.x + aim.y * aim.y;
    return { bearing: Math.atan2(aim.y, aim.x), curvature: (2 * aim.y) / squared };
  }

  /** What the station's beams add to the lateral offset; only near, where they are narrower than a pose is wrong. */
  #correction(input: ControlInput, at: Pose): number {
    const receiver = compose(at, { x: this.#robotRadius - RECEIVER_INSET, y: 0, theta: 0 });
    const toFace = this.#robotRadius - receiver.x;
    // While turning the receiver sweeps through the beams, and steering by them would chase its own motion.
    if (this.#turning || toFace > IR_RANGE) return 0;
    const offset = correctOffset(receiver.y, toFace, readBeacon(input.ir)) - receiver.y;
    return clamp(offset, -MAX_CORRECTION, MAX_CORRECTION);
  }

  /** Turns on the spot at the start, and again when far off; not in the contact zone, where contacts would bend. */
  #mustTurn(bearing: number, at: Pose): boolean {
    const size = Math.abs(bearing);
    if (this.#turning) this.#turning = size > 0.05;
    else if (size > 0.6 && at.x < -CONTACT_ZONE) this.#turning = true;
    return this.#turning;
  }

  #speedAt(left: number): number {
    const p = this.#params;
    if (left < CONTACT_ZONE) return p.contactSpeed;
    const slowing = (from: number, zone: number) => Math.sqrt(from * from + 2 * 0.15 * (left - zone));
    if (left < NEAR_ZONE) return Math.min(p.nearSpeed, slowing(p.contactSpeed, CONTACT_ZONE));
    return Math.min(p.speed, slowing(p.nearSpeed, NEAR_ZONE));
  }

  /** What stands between the robot and the station; the station itself and the wall behind it do not count. */
  #blockedBy(input: ControlInput, at: Pose): Point | null {
    const limit = this.#robotRadius - STATION_DEPTH;
    const ofStation = (p: Point) => compose(at, { x: p.x, y: p.y, theta: 0 }).x > limit;
    const way = input.surroundings.freeWay({ v: this.#params.speed, w: 0 }, ofStation);
    return way.distance < 0.08 ? (way.at ?? { x: 0, y: 0 }) : null;
  }

  #wait(input: ControlInput, at: Point, remaining: number): ControlOutput {
    this.#waitedMs += input.dt * 1000;
    if (this.#waitedMs < this.#params.patienceMs)
      return running(STANDSTILL, remaining, 'waiting_for_obstacle');
    return failed('blocked', 'something stands before the station', obstacleInMap(input.pose, at));
  }

  #watched(
    input: ControlInput,
    twist: { v: number; w: number },
    remaining: number,
    note: string,
  ): ControlOutput {
    const stuck = this.#progress.check(twist, input.pose, input.measured, input.dt);
    if (stuck === null) return running(twist, remaining, note);
    return this.#giveUp(input, `does not come nearer (${remaining.toFixed(2)} m left)`);
  }

  /** On the contacts: stand, and see that they stay live. */
  #settle(input: ControlInput): ControlOutput {
    if (input.docked === true) {
      this.#liveSince ??= input.mono;
      this.#openSince = null;
      const held = input.mono - this.#liveSince >= this.#params.contactMs;
      return held && input.stillMs >= STILL_MS ? this.#report(input) : running(STANDSTILL, 0, 'contact');
    }
    this.#liveSince = null;
    this.#openSince ??= input.mono;
    if (input.mono - this.#openSince < 300) return running(STANDSTILL, 0, 'contact');
    // Bounced off: a little more push, not more than a few times.
    this.#nudges++;
    if (this.#nudges > 3) return this.#giveUp(input, 'the contacts do not stay live');
    this.#phase = 'approach';
    this.#turning = false;
    return running({ v: Math.min(this.#params.contactSpeed, NUDGE / 0.5), w: 0 }, 0, 'pushing');
  }

  #report(input: ControlInput): ControlOutput {
    if (input.pose === null) return succeeded({});
    const off = relativeTo(this.#station, input.pose);
    return succeeded({ offset_x: off.x, offset_y: off.y, offset_theta: off.theta });
  }

  #giveUp(input: ControlInput, why: string): ControlOutput {
    this.#phase = 'retreat';
    this.#why = why;
    this.#retreatFrom = input.odometry.forward;
    this.#started = input.mono;
    this.#progress.reset();
    return running(STANDSTILL, null, 'backing_off');
  }

  /** Off whatever was touched, so that the next approach can begin. */
  #retreat(input: ControlInput): ControlOutput {
    const { backOff, nearSpeed } = this.#params;
    const done = this.#retreatFrom - input.odometry.forward;
    const room = input.surroundings.freeWay({ v: -nearSpeed, w: 0 }).distance;
    const late = input.mono - (this.#started ?? 0) > 6000;
    if (done >= backOff - 0.01 || room < 0.05 || late) {
      if (input.stillMs < STILL_MS && !late) return running(STANDSTILL, null, 'backing_off');
      return failed(
        'no_contact',
        `no contact with the station: ${this.#why}; backed off ${done.toFixed(2)} m`,
      );
    }
    return running({ v: -nearSpeed, w: 0 }, null, 'backing_off');
  }
}
