/** The legs of a measurement, as the motion process reports them, and where each wheel really went. */
import type { MeasureLeg } from '../../config/contracts/amr.js';

/** Metres, radians, mA, ms; null where nothing says so. */
export interface MeasuredLeg {
  asked: { left: number; right: number };
  /** By the encoders. */
  counted: { left: number; right: number };
  current: { left: number | null; right: number | null };
  gyro: number | null;
  lidar: { x: number; y: number; theta: number; fit: number } | null;
  responseMs: number | null;
  stopMs: number | null;
}

export interface MeasuredDrive {
  legs: MeasuredLeg[];
  wheelBase: number;
}

/** Below this the scans do not belong together, and what the lidar says of a leg means nothing. */
const LEAST_FIT = 0.45;

export function readLegs(
  asked: readonly MeasureLeg[],
  detail: Readonly<Record<string, number>>,
): MeasuredDrive {
  return {
    wheelBase: detail.wheel_base ?? 0,
    legs: asked.map((leg, i) => {
      const value = (name: string): number | null => detail[`${i}_${name}`] ?? null;
      const seconds = leg.forMs / 1000;
      return {
        asked: { left: leg.left * seconds, right: leg.right * seconds },
        counted: { left: value('left') ?? 0, right: value('right') ?? 0 },
        current: { left: value('current_left'), right: value('current_right') },
        gyro: value('gyro'),
        lidar: lidarOf(value),
        responseMs: value('response_ms'),
        stopMs: value('stop_ms'),
      };
    }),
  };
}

function lidarOf(value: (name: string) => number | null): MeasuredLeg['lidar'] {
  const [x, y, theta, fit] = [value('lidar_x'), value('lidar_y'), value('lidar_theta'), value('lidar_fit')];
  if (x === null || y === null || theta === null || fit === null || fit < LEAST_FIT) return null;
  return { x, y, theta, fit };
}

/** Metres each wheel really went over ground; null without a lidar to tell. A gyro knows a turn better than it does. */
export function overGround(leg: MeasuredLeg, wheelBase: number): { left: number; right: number } | null {
  const { lidar } = leg;
  if (lidar === null) return null;
  const theta = leg.gyro ?? lidar.theta;
  const forward = lidar.x * Math.cos(lidar.theta / 2) + lidar.y * Math.sin(lidar.theta / 2);
  return { left: forward - (theta * wheelBase) / 2, right: forward + (theta * wheelBase) / 2 };
}
