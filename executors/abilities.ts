/** A method that the robot's back end cannot carry out is refused before it starts, and says what can be done. */
import type { AmrAbility, AmrDriver } from '../config/contracts/amr.js';
import { Refusal } from '../config/contracts/errors.js';

const LACKS: Readonly<Record<AmrAbility, string>> = {
  mapping: 'this robot does not make maps from here: map with its own tools, then import the map',
  follow: 'this robot does not follow people: send it to a room instead',
  manualDrive:
    'this robot cannot be driven by hand from here: set ros2.topics.cmd_vel, or use its own remote control',
  relocalizeAnywhere:
    'this robot does not find itself on the whole map: put it on its station, or tell it its pose',
  diagnostics: 'this robot does not test its motors and sensors from here: use its own diagnostics',
  calibration: 'this robot is not calibrated from here: use its own calibration',
};

/**
 * Throws a `Refusal`: `CAPABILITY_UNAVAILABLE` where the back end lacks the ability, `HARDWARE_FAULT` while no motion
 * process has said what it can.
 */
export function requireAbility(amr: Pick<AmrDriver, 'abilities'>, ability: AmrAbility): void {
  const abilities = amr.abilities();
  if (abilities === null) {
    throw new Refusal('HARDWARE_FAULT', 'the motion process has not said yet what the robot can do');
  }
  if (!abilities[ability]) throw new Refusal('CAPABILITY_UNAVAILABLE', LACKS[ability]);
}
