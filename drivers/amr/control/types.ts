/** What a controller sees at one step, and what it answers. Controllers know neither ports nor actions' ids. */
import type { ActionFailure, Scan } from '../../../config/contracts/amr.js';
import type { Point, Pose, Twist } from '../../../config/contracts/geometry.js';
import type { DriveDetails, WheelSample } from '../types.js';

/** How far the robot can go before it touches something. */
export interface FreeWay {
  /** Metres of the robot's way; `Infinity` when nothing is in it. */
  distance: number;
  /** What it would touch, in `base_link`; null when nothing. */
  at: Point | null;
}

/** What the lidar sees around the robot now, in `base_link`. */
export interface Surroundings {
  /** Age of the newest scan, ms; null before the first. */
  readonly ageMs: number | null;
  /** Age of the newest scan that saw anything at all this way, ms; null before the first. */
  readonly aheadAgeMs: number | null;
  readonly behindAgeMs: number | null;
  /** Along the arc of a motion, for the body and a margin. Points for which `ignore` holds do not count. */
  freeWay(motion: Twist, ignore?: (p: Point) => boolean): FreeWay;
  /** Metres from the hull to the nearest thing ahead or beside; `Infinity` when nothing is seen. */
  readonly clearance: number;
}

export interface ControlInput {
  /** Monotonic ms, and seconds since the last step. */
  readonly mono: number;
  readonly dt: number;
  /** `base_link` in `map`; null when not known or not to be trusted. */
  readonly pose: Pose | null;
  /** Ways of the wheels since the start, signed: metres forward, radians counter-clockwise. */
  readonly odometry: { readonly forward: number; readonly heading: number };
  /** Measured from the wheels; null while unknown. */
  readonly measured: Twist | null;
  /** How long both wheels have stood still, ms; 0 while they turn or nothing is known of them. */
  readonly stillMs: number;
  readonly surroundings: Surroundings;
  /** Infrared characters received (0: none). */
  readonly ir: { readonly omni: number; readonly left: number; readonly right: number };
  readonly docked: boolean | null;
  readonly bumped: boolean;
  /** For measuring: ways of the wheels one by one, what the base reports besides, and a scan that has just come. */
  readonly wheels: WheelSample | null;
  readonly drive: DriveDetails | null;
  readonly scan: Scan | null;
  readonly driveFault: string | null;
}

export type ControlStatus =
  | { state: 'running'; remaining: number | null; note: string | null }
  /** The goal is reached and the wheels stand still. */
  | { state: 'succeeded'; detail: Record<string, number> }
  /** `where`: in the `map` frame. The wheels may still turn. */
  | { state: 'failed'; failure: ActionFailure; message: string; where: Point | null };

export interface ControlOutput {
  /** Wished motion; whoever drives limits speeds and accelerations. */
  twist: Twist;
  status: ControlStatus;
}

export interface Controller {
  step(input: ControlInput): ControlOutput;
}

/** A standstill of this long is a stop. */
export const STILL_MS = 300;

export const STANDSTILL: Twist = { v: 0, w: 0 };

export function running(
  twist: Twist,
  remaining: number | null = null,
  note: string | null = null,
): ControlOutput {
  return { twist, status: { state: 'running', remaining, note } };
}

export function failed(failure: ActionFailure, message: string, where: Point | null = null): ControlOutput {
  return { twist: STANDSTILL, status: { state: 'failed', failure, message, where } };
}

export function succeeded(detail: Record<string, number>): ControlOutput {
  return { twist: STANDSTILL, status: { state: 'succeeded', detail } };
}
