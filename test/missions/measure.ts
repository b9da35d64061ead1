/**
 * `node dist/test/missions/measure.js [ways] [places]`: figures of planning and of finding oneself on the maps of the
 * shared data, for the docs.
 */
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import { median, percentile, round } from '../bench/support/stats.js';
import { anywhere, findItself, WRONG } from '../support/finding-itself.js';
import { pathQuality } from '../support/path-quality.js';
import { sharedPath } from '../support/shared-path.js';

const MAPS = [
  'aws_small_house/map.yaml',
  'nav2_bringup/depot.yaml',
  'nav2_bringup/tb3_sandbox.yaml',
  'nav2_bringup/warehouse.yaml',
];
const SEED = 1;
const [ways = 60, places = 20] = process.argv.slice(2).map(Number);

const percent = (share: number) => `${round(100 * share, 1)} %`;
const degrees = (rad: number) => `${round((180 * rad) / Math.PI, 0)}°`;

for (const name of MAPS) {
  const path = sharedPath(`maps/${name}`);
  if (path === null) continue;
  if (ways > 0) {
    const { ratios, lengthRatio, sharpest, near, disagreements } = pathQuality(path, ways, SEED);
    process.stdout.write(
      `${name}: ${ratios.length} ways, ${percent(lengthRatio - 1)} longer than the shortest (median ${percent(median(ratios) - 1)}, 95 % below ${percent(percentile(ratios, 0.95) - 1)}), sharpest bend ${degrees(median(sharpest))} (largest ${degrees(Math.max(...sharpest))}), nearer than 0.4 m to things on ${percent(near.planned)} of the way (shortest: ${percent(near.shortest)}), ${disagreements} found by one only\n`,
    );
  }
  if (places <= 0) continue;
  const bundle = loadMapBundle(path);
  const found = [];
  for (const [i, at] of anywhere(bundle, places, SEED).entries()) {
    found.push(await findItself(bundle, at, SEED + i));
  }
  const times = found.flatMap(({ afterMs }) => (afterMs === null ? [] : [afterMs / 1000]));
  const wrong = found.filter(({ error }) => error !== null && error > WRONG).length;
  process.stdout.write(
    `${name}: sure of its place in ${times.length} of ${places} within 60 s (median ${times.length === 0 ? '–' : round(median(times), 1)} s), wrong in ${wrong}\n`,
  );
}
