/** Wheels, their distance and the lidar's direction, from a measurement against the walls. Pure. */
import type { Calibration } from '../../config/contracts/amr.js';
import { wrapAngle } from '../../config/contracts/geometry.js';
import type { MeasuredDrive, MeasuredLeg } from './legs.js';

/** What the profile's figures are to be multiplied by, and the lidar's direction in addition to it (rad). */
export interface Estimate {
  wheelScale: number;
  wheelBaseScale: number;
  lidarYaw: number;
  /** Of the gyro against the lidar; null without one. */
  gyroScale: number | null;
}

/** What a measurement of half a metre and one turn can tell from 1, and from 0 rad. */
const TELLS = { wheelScale: 0.01, wheelBaseScale: 0.004, lidarYaw: 0.01 } as const;
/** Beyond these something is wrong that no calibration mends. */
export const LIMITS = { scale: 0.1, yaw: 0.2 } as const;

const TURN = 2 * Math.PI;

/** Null when the lidar could not follow enough of it. */
export function estimate(drive: MeasuredDrive): Estimate | null {
  const straight = drive.legs.filter((leg) => leg.asked.left === leg.asked.right && leg.lidar !== null);
  const turns = drive.legs.filter((leg) => leg.asked.left === -leg.asked.right && leg.lidar !== null);
  if (straight.length < 2 || turns.length < 2) return null;
  const wheelScale = sum(straight, lidarWay) / sum(straight, countedWay);
  const counted = (leg: MeasuredLeg) => Math.abs(countedTurn(leg, drive.wheelBase) * wheelScale);
  const seen = (leg: MeasuredLeg) => Math.abs(lidarTurn(leg, drive.wheelBase));
  const withGyro = turns.filter((leg) => leg.gyro !== null);
  return {
    wheelScale,
    wheelBaseScale: sum(turns, counted) / sum(turns, seen),
    lidarYaw: sum(straight, heading) / straight.length,
    gyroScale:
      withGyro.length < 2 ? null : sum(withGyro, seen) / sum(withGyro, (leg) => Math.abs(leg.gyro ?? 0)),
  };
}

/** The calibration in force with the estimate on top; what the measurement cannot tell from nothing stays as it was. */
export function calibrated(before: Calibration | null, found: Estimate, at: number): Calibration {
  const told = (value: number, nothing: number, tells: number) =>
    Math.abs(value - nothing) < tells ? nothing : value;
  return {
    wheelScale: (before?.wheelScale ?? 1) * told(found.wheelScale, 1, TELLS.wheelScale),
    wheelBaseScale: (before?.wheelBaseScale ?? 1) * told(found.wheelBaseScale, 1, TELLS.wheelBaseScale),
    lidarYaw: (before?.lidarYaw ?? 0) + told(-found.lidarYaw, 0, TELLS.lidarYaw),
    at,
  };
}

export function isBelievable({ wheelScale, wheelBaseScale, lidarYaw }: Calibration): boolean {
  const near = (scale: number) => Math.abs(scale - 1) <= LIMITS.scale;
  return near(wheelScale) && near(wheelBaseScale) && Math.abs(lidarYaw) <= LIMITS.yaw;
}

function sum(legs: readonly MeasuredLeg[], of: (leg: MeasuredLeg) => number): number {
  return legs.reduce((total, leg) => total + of(leg), 0);
}

function countedWay({ counted }: MeasuredLeg): number {
  return Math.abs(counted.left + counted.right) / 2;
}

function lidarWay({ lidar }: MeasuredLeg): number {
  return lidar === null ? 0 : Math.hypot(lidar.x, lidar.y);
}

/** Radians by the wheels and the profile's distance of them. */
function countedTurn({ counted }: MeasuredLeg, wheelBase: number): number {
  return (counted.right - counted.left) / wheelBase;
}

/** The lidar sees a turn but for whole turns; the wheels know how many. */
function lidarTurn(leg: MeasuredLeg, wheelBase: number): number {
  const rough = countedTurn(leg, wheelBase);
  const seen = leg.lidar?.theta ?? 0;
  return seen + TURN * Math.round((rough - seen) / TURN);
}

/**
 * Where the lidar saw the robot go when it went straight ahead or back, half its turn on the way taken off; a lidar that
 * is turned to the left sees it go to the right.
 */
function heading({ lidar, asked }: MeasuredLeg): number {
  if (lidar === null) return 0;
  const way = asked.left > 0 ? Math.atan2(lidar.y, lidar.x) : Math.atan2(-lidar.y, -lidar.x);
  return wrapAngle(way - lidar.theta / 2);
}
