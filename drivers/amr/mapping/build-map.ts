/** A map out of a recorded drive. */
import type { Pose } from '../../../config/contracts/geometry.js';
import { Odometry } from '../localisation/odometry.js';
import { type ScanPoints, type ScanTiming, scanPoints } from '../localisation/scan-points.js';
import type { OccupancyGrid } from '../types.js';
import type { LogEntry, LogRobot } from './breezy-log.js';
import { GridMapper } from './grid-mapper.js';
import { wallThickness } from './map-measures.js';
import { DEFAULT_MAPPER, type MapperQuality } from './types.js';

/** Hokuyo URG-04LX: ten turns a second, counter-clockwise; its blind quarter lies behind. */
const URG_TIMING: ScanTiming = { turnMs: 100, clockwise: false, startBearing: -Math.PI };
/** No robot that carries such a lidar is faster; more is a counter that was reset. */
const MAX_WHEEL_SPEED = 5;

export interface BuildOptions {
  /** False: the wheels are not believed, as if there were none. */
  odometry: boolean;
  /** Metres per cell. */
  resolution: number;
}

export interface BuiltMap {
  grid: OccupancyGrid;
  /** The way of the robot, one pose for each scan that is part of the map. */
  path: Pose[];
  quality: MapperQuality;
  /** How thick a wall is drawn, m: a cell or two; more where it was seen in two places. Null without a wall. */
  wallThickness: number | null;
  /** How sure the cells are, bits: 0 when all are, 1 when none is. */
  entropy: number | null;
}

/** How far it is: scans so far, and the share of the log. */
export interface BuildProgress {
  scans: number;
  share: number;
}

/** Makes the map scan by scan, so that its caller can tell how far it is, and stop. Null when no scan could be used. */
export function* buildMap(
  entries: Iterable<LogEntry>,
  robot: LogRobot,
  options: BuildOptions,
): Generator<BuildProgress, BuiltMap | null> {
  const odometry = new Odometry({ wheelBase: robot.wheelBase, maxWheelSpeed: MAX_WHEEL_SPEED });
  let mapper: GridMapper | null = null;
  let scans = 0;
  for (const { record, share } of entries) {
    const { mono, scan, wheels } = record;
    odometry.add(wheels);
    mapper ??= new GridMapper({
      ...DEFAULT_MAPPER,
      resolution: options.resolution,
      maxRange: Math.min(DEFAULT_MAPPER.maxRange, scan.rangeMax),
      sensor: { x: robot.lidarX, y: 0 },
    });
    // Without odometry that can be believed nothing is known of the motion during a turn either.
    const known = options.odometry && mapper.odometryBelieved;
    const poseAt = known ? (at: number) => odometry.poseAt(at) : () => STILL;
    const seen = scanPoints(scan, mono, poseAt, URG_TIMING);
    mapper.addScan(shifted(seen, robot.lidarX), options.odometry ? odometry.poseAt(mono) : null);
    yield { scans: ++scans, share };
  }
  mapper?.finish();
  const grid = mapper?.grid() ?? null;
  if (mapper === null || grid === null) return null;
  return {
    grid,
    path: mapper.path(),
    quality: mapper.quality(),
    wallThickness: wallThickness(grid),
    entropy: mapper.entropy(),
  };
}

const STILL: Pose = { x: 0, y: 0, theta: 0 };

/** From the lidar's place to that of the robot. */
function shifted(points: ScanPoints, x: number): ScanPoints {
  return { ...points, x: points.x.map((value) => value + x) };
}
