/** Which safety conditions are reported, from what the motion process knows at one moment. Pure. */
import type { SafetyCondition } from '../../../config/contracts/amr.js';
import { DAEMON_SILENT_MS } from '../../../config/contracts/rt-protocol.js';

/** What a base frame says about contact with the world; null in `SafetyInputs` before the first frame. */
export interface ContactFlags {
  bumpLeft: boolean;
  bumpRight: boolean;
  cliff: boolean;
  wheelDrop: boolean;
  overcurrent: boolean;
  /** Null for a base without a tilt sensor. */
  tilt: boolean | null;
}

/** Ages in ms on the monotonic clock; null where nothing was received yet. */
export interface SafetyInputs {
  mono: number;
  contact: ContactFlags | null;
  frameAge: number | null;
  odometryAge: number | null;
  scanAge: number | null;
  heartbeatAge: number | null;
  /** The daemon's channel or its heartbeat line is closed. */
  daemonGone: boolean;
  estopLatched: boolean;
  localized: boolean | null;
  /** Null when unknown, or when the base is on its charger. */
  batteryPercent: number | null;
  /** Wheels commanded to turn, or measured turning. */
  moving: boolean;
  /** A path on the map is being followed. */
  followingPath: boolean;
  /** Nothing is commanded and fresh frames show both wheels standing still. */
  stillProven: boolean;
}

export interface SafetyThresholds {
  /** ms */
  baseSilentMs: number;
  odometryStaleMs: number;
  lidarStaleMs: number;
  daemonSilentMs: number;
  /** Percent of charge. */
  batteryCritical: number;
}

export const DEFAULT_THRESHOLDS: SafetyThresholds = {
  baseSilentMs: 400,
  odometryStaleMs: 250,
  lidarStaleMs: 300,
  daemonSilentMs: DAEMON_SILENT_MS,
  batteryCritical: 3,
};

/** The conditions reported right now, before the table's onset and clearing times. */
export function reportedConditions(
  inputs: SafetyInputs,
  limits: SafetyThresholds,
): Record<SafetyCondition, boolean> {
  const { contact } = inputs;
  return {
    estop: inputs.estopLatched,
    bumper_left: contact?.bumpLeft === true,
    bumper_right: contact?.bumpRight === true,
    cliff: contact?.cliff === true,
    wheel_drop: contact?.wheelDrop === true,
    overcurrent: contact?.overcurrent === true,
    tilt: contact?.tilt === true,
    base_silent: olderThan(inputs.frameAge, limits.baseSilentMs),
    lidar_stale: olderThan(inputs.scanAge, limits.lidarStaleMs),
    odometry_stale: olderThan(inputs.odometryAge, limits.odometryStaleMs),
    daemon_silent: inputs.daemonGone || olderThan(inputs.heartbeatAge, limits.daemonSilentMs),
    localization_lost: inputs.localized === false,
    battery_critical: inputs.batteryPercent !== null && inputs.batteryPercent <= limits.batteryCritical,
  };
}

/** Never received counts as too old; so does an age that is not a number. */
function olderThan(age: number | null, limit: number): boolean {
  return age === null || !(age < limit);
}

/** In how many ms the first of the age limits will be reached if nothing arrives; null when all are passed. */
export function msToNextDeadline(inputs: SafetyInputs, limits: SafetyThresholds): number | null {
  const ages: [number | null, number][] = [
    [inputs.frameAge, limits.baseSilentMs],
    [inputs.odometryAge, limits.odometryStaleMs],
    [inputs.scanAge, limits.lidarStaleMs],
    [inputs.heartbeatAge, limits.daemonSilentMs],
  ];
  const left = ages.flatMap(([age, limit]) => (age !== null && age < limit ? [limit - age] : []));
  return left.length === 0 ? null : Math.min(...left);
}
