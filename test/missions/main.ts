/** `npm run missions`: many missions in simulated homes, and what became of them. */
import { type ChildProcess, fork } from 'node:child_process';
import { entryPath } from '../../config/contracts/entry.js';
import { type CampaignOptions, parseOptions, USAGE } from './options.js';
import { describeCampaign, reportOf, whyNot } from './report.js';
import type { MissionResult } from './types.js';

type Answer = { result: MissionResult } | { seed: number; error: string };

function options(): CampaignOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return process.exit(2);
  }
}

const given = options();
const began = performance.now();
const results: MissionResult[] = [];
let broken = 0;
let next = 0;

function tell(result: MissionResult): void {
  const mark = result.ok ? 'ok  ' : 'FAIL';
  const why = result.ok ? '' : `  ${whyNot(result)}`;
  const { seed, family, home, robotSeconds, wallSeconds } = result;
  process.stderr.write(
    `${mark} ${results.length}/${given.missions} seed ${seed} ${family} ${home} ${robotSeconds.toFixed(0)} s in ${wallSeconds.toFixed(1)} s${why}\n`,
  );
  if (!given.verbose) return;
  for (const leg of result.legs) process.stderr.write(`       ${JSON.stringify(leg)}\n`);
}

function hand(child: ChildProcess): void {
  if (next >= given.missions) {
    child.disconnect();
    return;
  }
  child.send({ seed: given.seed + next++, only: given.only });
}

function work(): Promise<void> {
  return new Promise((resolve) => {
    const child = fork(entryPath(import.meta.url, './worker.js'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (answer: Answer) => {
      if ('result' in answer) {
        results.push(answer.result);
        tell(answer.result);
      } else {
        broken++;
        process.stderr.write(`FAIL seed ${answer.seed}: ${answer.error}\n`);
      }
      hand(child);
    });
    child.on('exit', (code) => {
      if (code !== 0) broken++;
      resolve();
    });
    hand(child);
  });
}

await Promise.all(Array.from({ length: Math.min(given.jobs, given.missions) }, work));
results.sort((a, b) => a.seed - b.seed);
const report = reportOf(results, (performance.now() - began) / 1000);
process.stdout.write(`${given.json ? JSON.stringify(report) : describeCampaign(report)}\n`);
process.exit(
  broken === 0 && report.collisions === 0 && report.defects === 0 && report.succeeded === report.missions
    ? 0
    : 1,
);
