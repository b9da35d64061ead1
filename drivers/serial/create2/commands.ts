/** Commands of the Create 2 Open Interface as bytes. Source: iRobot Create 2 Open Interface Specification. */

/** Starts the interface, in passive mode. */
export const START = Uint8Array.of(128);
/** Safe mode: the base drives, and falls back to passive at a cliff, a wheel drop or a plugged-in charger. */
export const SAFE = Uint8Array.of(131);
/** Full mode: the base drives whatever its sensors say. */
export const FULL = Uint8Array.of(132);
/** Ends the interface and the sensor stream. */
export const STOP_INTERFACE = Uint8Array.of(173);
/** Both wheels stop. */
export const STOP_WHEELS = driveDirect(0, 0);

/** Wheel speeds, mm/s, −500…500. On the wire the right wheel comes first. */
export function driveDirect(leftMmS: number, rightMmS: number): Uint8Array {
  return Uint8Array.of(145, (rightMmS >> 8) & 0xff, rightMmS & 0xff, (leftMmS >> 8) & 0xff, leftMmS & 0xff);
}

/** Asks for `packets` every 15 ms. */
export function stream(packets: readonly number[]): Uint8Array {
  return Uint8Array.of(148, packets.length, ...packets);
}
