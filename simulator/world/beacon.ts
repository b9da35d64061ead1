/**
 * The home base's infrared: a red and a green beam side by side, overlapping in the middle, and a force field
 * around it; and the robot's three receivers. Codes are those of the Roomba 600 home base in the Create 2 Open
 * Interface specification; widths of the beams, the reach of the force field and the sides (red to the left as
 * the base looks into the room, so to the right of a robot that faces it) are those iRobot's own Create 3
 * simulation gives.
 */
import { wrapAngle } from '../../config/contracts/geometry.js';
import type { Body, RoundThing } from './body.js';
import { type Layout, ROBOT } from './layout.js';
import { toCircle } from './lidar.js';

const FORCE_FIELD = 1;
const GREEN = 4;
const RED = 8;
const HOME_BASE = 160;

const DEG = Math.PI / 180;
/** The beams reach this far to their own side and this far over the middle, rad. */
const BEAM_OUTER = 25 * DEG;
const BEAM_INNER = 5 * DEG;
/** m */
const BEAM_REACH = 2.0;
const FORCE_FIELD_REACH = 0.61;
/** The receivers sit together behind the front of the bumper, m from the middle. */
const RECEIVER_AHEAD = ROBOT.radius - 0.02;
/** The directional receivers see from this far across the middle to this far to their own side, rad. */
const ACROSS = 15 * DEG;
const OUTWARD = 90 * DEG;

/** Infrared characters; 0 where nothing is received. */
export interface Infrared {
  omni: number;
  left: number;
  right: number;
}

export const NO_INFRARED: Infrared = { omni: 0, left: 0, right: 0 };

export function receiveInfrared(layout: Layout, body: Body, things: readonly RoundThing[]): Infrared {
  if (layout.dock === null) return NO_INFRARED;
  const { face } = layout.dock;
  const { pose } = body;
  const x = pose.x + RECEIVER_AHEAD * Math.cos(pose.theta);
  const y = pose.y + RECEIVER_AHEAD * Math.sin(pose.theta);
  const dx = x - face.x;
  const dy = y - face.y;
  const distance = Math.hypot(dx, dy);
  if (distance > BEAM_REACH) return NO_INFRARED;
  const heading = Math.atan2(dy, dx);
  const azimuth = wrapAngle(heading - face.theta);
  let code = 0;
  if (Math.abs(azimuth) <= Math.PI / 2) {
    if (azimuth > -BEAM_INNER && azimuth < BEAM_OUTER) code |= RED;
    if (azimuth < BEAM_INNER && azimuth > -BEAM_OUTER) code |= GREEN;
    if (distance < FORCE_FIELD_REACH) code |= FORCE_FIELD;
  }
  if (code === 0 || hidden(layout, face, dx, dy, distance, things)) return NO_INFRARED;
  const char = HOME_BASE + code;
  const bearing = distance < 1e-6 ? 0 : wrapAngle(heading + Math.PI - pose.theta);
  return {
    omni: char,
    left: bearing > -ACROSS && bearing < OUTWARD ? char : 0,
    right: bearing < ACROSS && bearing > -OUTWARD ? char : 0,
  };
}

/** The beams as a shiny front shows them: red where green is, and no force field. */
export function mirrored({ omni, left, right }: Infrared): Infrared {
  const turn = (char: number) => {
    const code = char - HOME_BASE;
    const swapped = ((code & RED) !== 0 ? GREEN : 0) | ((code & GREEN) !== 0 ? RED : 0);
    return swapped === 0 ? 0 : HOME_BASE + swapped;
  };
  return { omni: turn(omni), left: turn(right), right: turn(left) };
}

/** Whether something stands between a beam's origin and where it is received. */
export function hidden(
  layout: Layout,
  from: { x: number; y: number },
  dx: number,
  dy: number,
  distance: number,
  things: readonly RoundThing[],
): boolean {
  if (distance < 0.02) return false;
  const ux = dx / distance;
  const uy = dy / distance;
  if (layout.seen.cast(from.x, from.y, ux, uy, distance) < distance) return true;
  return things.some((thing) => toCircle(from.x, from.y, ux, uy, thing) < distance);
}
