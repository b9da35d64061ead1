/**
 * How a person's legs stand and walk, as a lidar at the height of a shin sees them: two cylinders that swing past each
 * other. The swing grows with the speed and follows the way walked, so that the same walk always looks the same.
 */
import type { Point } from '../../config/contracts/geometry.js';
import type { RoundThing } from './body.js';

/** Radius of a shin with a trouser leg, and how far each stands from the middle, m. */
export const LEG_RADIUS = 0.06;
const LEG_ASIDE = 0.1;
/** A step's length at a speed: `STEP + STEP_PER_SPEED · v`, m; the shin swings this share of it to the front. */
const STEP = 0.3;
const STEP_PER_SPEED = 0.35;
const SWING_SHARE = 0.4;
/** Standing still, the legs come side by side at this speed, m/s. */
const SETTLE_SPEED = 0.4;
/** Facing changes at most this fast while walking, rad/s. */
const TURN_SPEED = 4;

export interface Gait {
  readonly legs: readonly [RoundThing, RoundThing];
  /** Where the person faces, rad. */
  facing: number;
  /** Half steps taken, in radians. */
  phase: number;
  /** How far the swing reaches now, m. */
  swing: number;
}

export function standing(at: Point, facing: number): Gait {
  const gait: Gait = {
    legs: [
      { x: at.x, y: at.y, radius: LEG_RADIUS },
      { x: at.x, y: at.y, radius: LEG_RADIUS },
    ],
    facing,
    phase: 0,
    swing: 0,
  };
  place(gait, at);
  return gait;
}

/** The gait after a stretch of way to `at` within `dtMs`. */
export function walked(gait: Gait, at: Point, heading: number, metres: number, dtMs: number): Gait {
  const speed = (metres / dtMs) * 1000;
  const step = STEP + STEP_PER_SPEED * speed;
  const next: Gait = {
    legs: [{ ...gait.legs[0] }, { ...gait.legs[1] }],
    facing: turnedTowards(gait.facing, heading, (TURN_SPEED * dtMs) / 1000),
    phase: (gait.phase + (Math.PI * metres) / step) % (2 * Math.PI),
    swing: towards(gait.swing, SWING_SHARE * step, (speed * dtMs) / 1000),
  };
  place(next, at);
  return next;
}

/** The gait of somebody who stopped there. */
export function settled(gait: Gait, at: Point, dtMs: number): Gait {
  if (gait.swing === 0) return gait;
  const next: Gait = {
    ...gait,
    legs: [{ ...gait.legs[0] }, { ...gait.legs[1] }],
    swing: towards(gait.swing, 0, (SETTLE_SPEED * dtMs) / 1000),
  };
  place(next, at);
  return next;
}

function place(gait: Gait, at: Point): void {
  const c = Math.cos(gait.facing);
  const s = Math.sin(gait.facing);
  const ahead = gait.swing * Math.sin(gait.phase);
  for (const [i, leg] of gait.legs.entries()) {
    const side = i === 0 ? 1 : -1;
    leg.x = at.x + side * (c * ahead - s * LEG_ASIDE);
    leg.y = at.y + side * (s * ahead + c * LEG_ASIDE);
  }
}

function towards(value: number, goal: number, most: number): number {
  return Math.abs(goal - value) <= most ? goal : value + Math.sign(goal - value) * most;
}

function turnedTowards(angle: number, goal: number, most: number): number {
  const left = Math.atan2(Math.sin(goal - angle), Math.cos(goal - angle));
  return Math.abs(left) <= most ? goal : angle + Math.sign(left) * most;
}
