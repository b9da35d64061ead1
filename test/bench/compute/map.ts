/** One scan taken into a map that is being made, while the robot drives. */
import { compose, type Pose } from '../../../config/contracts/geometry.js';
import { Odometry } from '../../../drivers/amr/localisation/odometry.js';
import { scanPoints } from '../../../drivers/amr/localisation/scan-points.js';
import { GridMapper } from '../../../drivers/amr/mapping/grid-mapper.js';
import { createWorld } from '../../../simulator/world/index.js';
import type { Bench } from '../report.js';
import { median, percentile, round } from '../support/stats.js';
import { freeStart, RAYS, scanAt, turned, WHEEL_BASE } from './simulated-scan.js';

/** Metres and radians between two scans at 10 Hz: a circle of 1 m. */
const STEP: Pose = { x: 0.03, y: 0, theta: 0.03 };

export const mapBench: Bench = {
  groups: ['map'],
  method:
    'A robot on a circle in the simulated home, round and round; each scan (360 rays, with noise) is straightened along ' +
    'the odometry, matched, drawn, and looked for in what was seen before; loops are closed on the way. Time for a scan.',
  async run({ quick }) {
    const world = createWorld(undefined, { seed: 3 });
    const odometry = new Odometry({ wheelBase: WHEEL_BASE, maxWheelSpeed: 0.5 });
    odometry.add({ mono: 0, left: 0, right: 0 });
    const mapper = new GridMapper();
    const times: number[] = [];
    let pose = freeStart(world, { ...world.body.pose, theta: 0 });
    let wheels = { left: 0, right: 0 };
    const scans = quick ? 500 : 1500;
    for (let n = 0; n < scans; n++) {
      const mono = (n + 1) * 100;
      pose = compose(pose, STEP);
      wheels = turned(wheels, STEP);
      odometry.add({ mono, ...wheels });
      const scan = scanAt(world, pose, mono);
      const began = performance.now();
      const points = scanPoints(scan, mono, (at) => odometry.poseAt(at));
      mapper.addScan(points, odometry.poseAt(mono));
      // The first are compiled.
      if (n >= 50) times.push(performance.now() - began);
    }
    const { unmatched, keyframes, loopsClosed } = mapper.quality();
    if (unmatched > 0 || loopsClosed === 0)
      throw new Error(`${unmatched} scans did not fit, ${loopsClosed} loops`);
    return {
      figures: {
        map: { ms_scan: round(median(times), 2), ms_scan_p99: round(percentile(times, 0.99), 2) },
      },
      notes: [`${scans} scans of ${RAYS} rays, ${keyframes} in the map, ${loopsClosed} places seen again`],
    };
  },
};
