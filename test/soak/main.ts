/** `npm run soak -- [--hours N] [--seed N] [--json]`: a simulated week, or as much of it as there is time for. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseOptions, type SoakOptions, USAGE } from './options.js';
import { describeReport } from './report.js';
import { runSoak } from './run.js';

function options(): SoakOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return process.exit(2);
  }
}

const { json, stateDir: given, hours, seed } = options();
const stateDir = given === null ? mkdtempSync(join(tmpdir(), 'deviceagent-soak-')) : resolve(given);
const report = await runSoak({ hours, seed, stateDir, say: (line) => process.stderr.write(`${line}\n`) });
process.stdout.write(`${json ? JSON.stringify(report) : describeReport(report)}\n`);
if (given === null && report.ok) rmSync(stateDir, { recursive: true, force: true });
else process.stderr.write(`what the robot left behind: ${stateDir}\n`);
process.exit(report.ok ? 0 : 1);
