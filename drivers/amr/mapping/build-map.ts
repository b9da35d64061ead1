/** A map out of a recorded drive. */
import type { Pose } from '../../../config/contracts/geometry.js';
import { Odometry } from '../localisation/odometry.js';
import { type ScanPoints, type ScanTiming, scanPoints } from '../localisation/scan-points.js';
import type { OccupancyGrid } from '../types.js';
import type { LogRecord, LogRobot } from './breezy-log.js';
import { GridMapper } from './grid-mapper.js';
import { DEFAULT_MAPPER, type MapperQuality } from './types.js';

/** Hokuyo URG-04LX: ten turns a second, counter-clockwise; its blind quarter lies behind. */
const URG_TIMING: ScanTiming = { turnMs: 100, clockwise: false, startBearing: -Math.PI };
/** No robot that carries such a lidar is faster; more is a counter that was reset. */
const MAX_WHEEL_SPEED = 5;

export interface BuiltMap {
  grid: OccupancyGrid;
  path: Pose[];
  quality: MapperQuality;
  /** Between the first and the last scan, s. */
  duration: number;
}

/** `onScan` is told after each scan how many there were; null when no scan could be used. */
export function buildMap(
  records: readonly LogRecord[],
  robot: LogRobot,
  options: { odometry: boolean; resolution: number },
  onScan: (done: number) => void,
): BuiltMap | null {
  const odometry = new Odometry({ wheelBase: robot.wheelBase, maxWheelSpeed: MAX_WHEEL_SPEED });
  const farthest = Math.max(...records.slice(0, 1).map(({ scan }) => scan.rangeMax));
  const mapper = new GridMapper({
    ...DEFAULT_MAPPER,
    resolution: options.resolution,
    maxRange: Math.min(DEFAULT_MAPPER.maxRange, farthest),
    sensor: { x: robot.lidarX, y: 0 },
  });
  for (const [i, { mono, scan, wheels }] of records.entries()) {
    odometry.add(wheels);
    const seen = scanPoints(scan, mono, (at) => odometry.poseAt(at), URG_TIMING);
    mapper.addScan(shifted(seen, robot.lidarX), options.odometry ? odometry.poseAt(mono) : null);
    onScan(i + 1);
  }
  mapper.finish();
  const grid = mapper.grid();
  if (grid === null) return null;
  const duration = ((records.at(-1)?.mono ?? 0) - (records[0]?.mono ?? 0)) / 1000;
  return { grid, path: mapper.path(), quality: mapper.quality(), duration };
}

/** From the lidar's place to that of the robot. */
function shifted(points: ScanPoints, x: number): ScanPoints {
  return { ...points, x: points.x.map((value) => value + x) };
}
