/** From a wished twist to wheel speeds that are allowed: limits, ramps, and the wheels of a differential drive. */
import type { Scan } from '../../config/contracts/amr.js';
import { clamp, type Twist } from '../../config/contracts/geometry.js';
import { approach } from '../amr/control/limits.js';
import type { DirectionLimits } from './safety/failsafe-table.js';

/** Largest speeds and changes of speed: m/s, rad/s, m/s², rad/s². */
export interface DriveLimits {
  maxSpeed: number;
  maxTurn: number;
  maxAccel: number;
  maxDecel: number;
  maxTurnAccel: number;
}

/** Room straight ahead and behind in the robot's own width, metres from its hull; null without a scan. */
export interface StraightWay {
  forward: number | null;
  backward: number | null;
}

export function isStandstill(twist: Twist): boolean {
  return twist.v === 0 && twist.w === 0;
}

/** Keeps a twist within the body's limits and within what the safety layer allows in each direction. */
export function limitTwist(twist: Twist, body: DriveLimits, allowed: DirectionLimits): Twist {
  const forward = Math.min(body.maxSpeed, allowed.forward ?? body.maxSpeed);
  const backward = Math.min(body.maxSpeed, allowed.backward ?? body.maxSpeed);
  const turn = Math.min(body.maxTurn, allowed.turn ?? body.maxTurn);
  return { v: clamp(twist.v, -backward, forward), w: clamp(twist.w, -turn, turn) };
}

/**
 * One step from `from` towards `to` over `dt` seconds. Slowing down may be harder than speeding up; a change of
 * direction passes through zero.
 */
export function rampTwist(from: Twist, to: Twist, limits: DriveLimits, dt: number): Twist {
  return {
    v: approach(from.v, to.v, limits.maxAccel * dt, limits.maxDecel * dt),
    w: approach(from.w, to.w, limits.maxTurnAccel * dt, limits.maxTurnAccel * dt),
  };
}

/**
 * Wheel speeds, m/s, of a twist for wheels `wheelBase` metres apart. Where a wheel would be too fast both are
 * slowed alike, so that the curve stays the same.
 */
export function wheelSpeeds(
  twist: Twist,
  wheelBase: number,
  maxWheelSpeed: number,
): { left: number; right: number } {
  const left = twist.v - (twist.w * wheelBase) / 2;
  const right = twist.v + (twist.w * wheelBase) / 2;
  const fastest = Math.max(Math.abs(left), Math.abs(right));
  const scale = fastest > maxWheelSpeed ? maxWheelSpeed / fastest : 1;
  return { left: left * scale, right: right * scale };
}

/** Slowest that nearness alone makes the robot go, m/s: contact at this speed is the bumper's business. */
const CREEP = 0.12;
/** Where it wants to stand before an obstacle, metres from the hull. */
const STOP_SHORT = 0.03;

/** Limits the speed towards an obstacle to one from which half the braking power stops in time. */
export function slowNearObstacles(twist: Twist, way: StraightWay, maxDecel: number): Twist {
  const free = twist.v >= 0 ? way.forward : way.backward;
  if (free === null) return twist;
  const safe = Math.max(CREEP, Math.sqrt(maxDecel * Math.max(0, free - STOP_SHORT)));
  return { v: clamp(twist.v, -safe, safe), w: twist.w };
}

/**
 * Measures the corridor that a round robot of this radius (m) needs, straight ahead and behind, in one scan. How far an
 * arc is free in the navigator's view is `freeWay` in `drivers/amr/control`.
 */
export function straightWay(scan: Scan, radius: number): StraightWay {
  let forward = Number.POSITIVE_INFINITY;
  let backward = Number.POSITIVE_INFINITY;
  for (let i = 0; i < scan.ranges.length; i++) {
    const range = scan.ranges[i];
    // Nothing real lies inside the hull; NaN fails the comparison too.
    if (range === undefined || !(range > radius && range <= scan.rangeMax)) continue;
    const angle = scan.angleMin + i * scan.angleIncrement;
    const y = range * Math.sin(angle);
    if (Math.abs(y) >= radius) continue;
    const x = range * Math.cos(angle);
    const gap = Math.abs(x) - Math.sqrt(radius * radius - y * y);
    if (x > 0) forward = Math.min(forward, gap);
    else backward = Math.min(backward, gap);
  }
  return { forward, backward };
}
