/**
 * The signals of a Kobuki station in the characters that the docking controller reads (those of a Roomba home base:
 * 160 plus 1 near, 4 right beam, 8 left beam as the station looks out). A Kobuki station lights three regions, to its
 * left, in the middle and to its right; the middle one is what two overlapping beams are.
 */
import { IR } from './feedback.js';

const HOME_BASE = 160;
const NEAR = 1;
const RIGHT_BEAM = 4;
const LEFT_BEAM = 8;

/** The character for one receiver; 0 when it sees none of the regions. */
export function beaconCharacter(signal: number): number {
  const center = (signal & (IR.nearCenter | IR.farCenter)) !== 0;
  let code = center ? LEFT_BEAM | RIGHT_BEAM : 0;
  if ((signal & (IR.nearLeft | IR.farLeft)) !== 0) code |= LEFT_BEAM;
  if ((signal & (IR.nearRight | IR.farRight)) !== 0) code |= RIGHT_BEAM;
  if (code === 0) return 0;
  if ((signal & (IR.nearLeft | IR.nearCenter | IR.nearRight)) !== 0) code |= NEAR;
  return HOME_BASE + code;
}
