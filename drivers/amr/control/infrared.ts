/**
 * What the home base's infrared says about where the robot is. Characters of the Roomba 600 home base after the
 * iRobot Create 2 Open Interface specification ("Characters sent by dock"): 160 plus 1 force field, 4 green buoy,
 * 8 red buoy. To a robot that faces the station the green beam lies to the left and the red to the right of the
 * middle, where they overlap (as in iRobot's Create 3 simulation: the red emitter is on the station's left).
 */

const BASE = 160;
const FORCE_FIELD = 1;
const GREEN = 4;
const RED = 8;
/** The beams reach this far over the middle line, rad. */
const OVERLAP = (5 * Math.PI) / 180;

export interface Beacon {
  green: boolean;
  red: boolean;
  /** Within about 0.6 m of the station. */
  near: boolean;
}

/** Decodes the characters of all receivers together; null when none comes from a home base. */
export function readBeacon(ir: { omni: number; left: number; right: number }): Beacon | null {
  let code = 0;
  for (const char of [ir.omni, ir.left, ir.right]) {
    if (char > BASE && char <= BASE + 15) code |= char - BASE;
  }
  if (code === 0) return null;
  return { green: (code & GREEN) !== 0, red: (code & RED) !== 0, near: (code & FORCE_FIELD) !== 0 };
}

/**
 * Corrects a lateral offset (metres, positive to the left of the middle line as the robot faces the station) by
 * what is received at `distance` metres from the station's face. Both beams: near the middle; one: beyond its edge.
 */
export function correctOffset(offset: number, distance: number, beacon: Beacon | null): number {
  if (beacon === null || distance <= 0) return offset;
  const edge = distance * Math.tan(OVERLAP);
  if (beacon.green && beacon.red) return Math.min(edge, Math.max(-edge, offset));
  if (beacon.green) return Math.max(edge, offset);
  if (beacon.red) return Math.min(-edge, offset);
  return offset;
}
