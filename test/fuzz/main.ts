/** `npm run fuzz -- [--cases N] [--seed N] [--only TARGET] [--json]`: no crash, no motion, no growth. */
import { type FuzzOptions, parseOptions, USAGE } from './options.js';
import { describeReports, isClean } from './report.js';
import { TARGETS } from './targets/all.js';
import type { TargetReport } from './types.js';
import { runWatched } from './watch.js';

function options(): FuzzOptions {
  try {
    return parseOptions(
      process.argv.slice(2),
      TARGETS.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return process.exit(2);
  }
}

const { cases, seed, only, from, json } = options();
const reports: Record<string, TargetReport> = {};
for (const { name, share } of TARGETS) {
  if (only.length > 0 && !only.includes(name)) continue;
  const wanted = Math.max(1, Math.round(cases * share));
  const { report, findings } = await runWatched({ target: name, cases: wanted, seed, from });
  reports[name] = report;
  for (const { n, finding } of findings) {
    process.stderr.write(
      `✗ ${name}, case ${n}: ${finding.kind}: ${finding.text}\n` +
        `  again: npm run fuzz -- --only ${name} --seed ${seed} --from ${n} --cases ${Math.ceil(1 / share)}` +
        `, or with everything before it: --only ${name} --seed ${seed} --cases ${cases}\n`,
    );
  }
  if (!json) process.stderr.write(`${name}: ${report.cases} documents in ${report.seconds} s\n`);
}
process.stdout.write(`${json ? JSON.stringify(reports) : describeReports(reports)}\n`);
process.exit(isClean(reports) ? 0 : 1);
