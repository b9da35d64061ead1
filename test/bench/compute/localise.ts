/** One localisation update with 500 particles and 360 rays. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compose, type Pose } from '../../../config/contracts/geometry.js';
import { seededRandom } from '../../../config/contracts/ids.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { DEFAULT_LOCALIZER, Localizer } from '../../../drivers/amr/localisation/localizer.js';
import { Odometry } from '../../../drivers/amr/localisation/odometry.js';
import { scanPoints } from '../../../drivers/amr/localisation/scan-points.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { createWorld, type World, worldToMap } from '../../../simulator/world/index.js';
import type { Bench } from '../report.js';
import { median, percentile, round } from '../support/stats.js';
import { freeStart, RAYS, scanAt, turned, WHEEL_BASE } from './simulated-scan.js';

const PARTICLES = 500;
/** Metres and radians between two scans at 10 Hz: a robot in a curve. */
const STEP: Pose = { x: 0.03, y: 0, theta: 0.03 };

export const localiseBench: Bench = {
  groups: ['localise'],
  method:
    'A robot on a circle in the simulated home; each scan (360 rays, with noise) is taken in with 500 particles: rays ' +
    'straightened along the odometry, particles moved, weighed and drawn anew, estimate and health. The median update.',
  async run({ quick, dir }) {
    const world = createWorld(undefined, { seed: 3 });
    const { localizer, odometry } = localizerOn(world, dir);
    const start: Pose = { ...world.body.pose, theta: 0 };
    const first = freeStart(world, start);
    localizer.setPose(first, { xy: 0.05, theta: 0.05 });
    const times: number[] = [];
    let pose = first;
    let wheels = { left: 0, right: 0 };
    const updates = quick ? 200 : 600;
    for (let n = 0; n < updates + 50; n++) {
      const mono = (n + 1) * 100;
      pose = compose(pose, STEP);
      wheels = turned(wheels, STEP);
      odometry.add({ mono, ...wheels });
      const scan = scanAt(world, pose, mono);
      const began = performance.now();
      localizer.addScan(
        scanPoints(scan, mono, (at) => odometry.poseAt(at)),
        mono,
      );
      // The first are compiled, and draw the cloud together.
      if (n >= 50) times.push(performance.now() - began);
    }
    const particles = localizer.counters().particles ?? 0;
    if (particles !== PARTICLES) throw new Error(`the filter used ${particles} particles`);
    return {
      figures: { localise: { ms_500x360: round(median(times), 3) } },
      notes: [
        `p99 ${percentile(times, 0.99).toFixed(2)} ms; as delivered (up to 1000 particles × 120 rays) a scan counts for less ` +
          'work, and none while the robot stands still',
      ],
    };
  },
};

function localizerOn(world: World, dir: string): { localizer: Localizer; odometry: Odometry } {
  const map = worldToMap(world);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'map.pgm'), map.pgm);
  writeFileSync(join(dir, 'map.yaml'), map.mapYaml);
  writeFileSync(join(dir, 'areas.yaml'), map.areasYaml);
  const odometry = new Odometry({ wheelBase: WHEEL_BASE, maxWheelSpeed: 0.5 });
  odometry.add({ mono: 0, left: 0, right: 0 });
  const localizer = new Localizer(
    new StaticCostmap(loadMapBundle(join(dir, 'map.yaml'))),
    odometry,
    seededRandom(5),
    {
      ...DEFAULT_LOCALIZER,
      beams: RAYS,
      filter: { ...DEFAULT_LOCALIZER.filter, minParticles: PARTICLES, maxParticles: PARTICLES },
    },
  );
  return { localizer, odometry };
}
