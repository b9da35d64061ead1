/** `npm run crash -- [--kills N] [--seed N] [--json]`: kill -9 at random moments; nothing may be lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type CrashOptions, parseOptions, USAGE } from './options.js';
import { runPhases } from './phases.js';
import { describeReport } from './report.js';

function options(): CrashOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return process.exit(2);
  }
}

const { json, stateDir: given, ...wanted } = options();
const stateDir = given === null ? mkdtempSync(join(tmpdir(), 'deviceagent-crash-')) : resolve(given);
const report = await runPhases({
  ...wanted,
  stateDir,
  say: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${json ? JSON.stringify(report) : describeReport(report)}\n`);
if (given === null && report.ok) rmSync(stateDir, { recursive: true, force: true });
else process.stderr.write(`what the robot left behind: ${stateDir}\n`);
if (!report.ok) {
  const { kills, seed, broker, mqtt } = wanted;
  const protocol = mqtt === '3.1.1' ? '4' : mqtt;
  process.stderr.write(
    `the same plan and load again: npm run crash -- --kills ${kills} --seed ${seed} --broker ${broker} --mqtt ${protocol}\n`,
  );
}
process.exit(report.ok ? 0 : 1);
