/**
 * `node dist/test/docking/main.js [TRIES] [NOISE] [SEED]`: how often a robot that is somewhere at random in one of three
 * homes gets onto its station, with that share of damaged lidar frames. One line of JSON for each try, and the sum.
 */
import { type DockTry, dockTries } from './try.js';

const [tries = 200, noise = 0.1, seed = 1] = process.argv.slice(2).map(Number);
if (![tries, noise, seed].every(Number.isFinite)) {
  process.stderr.write('usage: main.js [TRIES] [NOISE 0…1] [SEED]\n');
  process.exit(2);
}
const results: DockTry[] = [];
await dockTries(seed, tries, noise, (one) => {
  results.push(one);
  process.stdout.write(`${JSON.stringify(one)}\n`);
});
const docked = results.filter((one) => one.docked);
const sum = {
  tries: results.length,
  noise,
  seed,
  docked: docked.length,
  percent: (100 * docked.length) / results.length,
  at_first_attempt: docked.filter((one) => one.attempts === 1).length,
  collisions: results.reduce((n, one) => n + one.collisions, 0),
  median_s: results.map((one) => one.tookS).sort((a, b) => a - b)[Math.floor(results.length / 2)],
};
process.stdout.write(`${JSON.stringify({ sum })}\n`);
process.exit(sum.percent >= 99 ? 0 : 1);
