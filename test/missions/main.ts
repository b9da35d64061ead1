/** `npm run missions -- [--missions N] [--seed N] [--only FAMILY] [--json]`: whole homes, one mission after the other. */
import { fork } from 'node:child_process';
import { entryPath } from '../../config/contracts/entry.js';
import { type MissionOptions, parseOptions, USAGE } from './options.js';
import { describeReport, findings, summarize } from './report.js';
import { familyOf } from './run-mission.js';
import type { MissionResult } from './types.js';

function options(): MissionOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return process.exit(2);
  }
}

const { missions, seed: first, only, jobs, verbose, json } = options();
const seeds: number[] = [];
for (let seed = first; seeds.length < missions; seed++) {
  if (only.length === 0 || only.includes(familyOf(seed))) seeds.push(seed);
}
const began = performance.now();
const results: MissionResult[] = [];
let next = 0;
let lost = 0;

function tell(result: MissionResult): void {
  results.push(result);
  const found = findings(result);
  const legs = result.legs.map(({ outcome }) => outcome).join(', ');
  const why = found.length === 0 ? '' : ` — ${found.join('; ')}`;
  process.stderr.write(
    `${found.length === 0 ? '✓' : '✗'} ${results.length}/${missions} seed ${result.seed} ${result.family} in ${result.place}: ${legs}; home: ${result.dockOutcome}; ${result.simulatedS.toFixed(0)} s${why}\n`,
  );
  if (verbose) for (const leg of result.legs) process.stderr.write(`    ${JSON.stringify(leg)}\n`);
}

/** One process after another mission, until there are none left. */
function work(): Promise<void> {
  return new Promise((resolve) => {
    const child = fork(entryPath(import.meta.url, './worker.js'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let running = false;
    const hand = () => {
      const seed = seeds[next++];
      running = seed !== undefined;
      if (seed === undefined) child.disconnect();
      else child.send({ seed });
    };
    child.on('message', (result: MissionResult) => {
      tell(result);
      hand();
    });
    child.on('exit', () => {
      if (running) lost += 1;
      resolve();
    });
    hand();
  });
}

await Promise.all(Array.from({ length: Math.min(jobs, missions) }, work));
results.sort((a, b) => a.seed - b.seed);
const report = summarize(results, performance.now() - began);
process.stdout.write(`${json ? JSON.stringify(report) : describeReport(report)}\n`);
process.exit(report.ok && lost === 0 ? 0 : 1);
