/**
 * `npm run bench -- [--json] [--only NAME] [--quick]`: the figures of the quality bars, measured here and now. A
 * table for people, or one JSON object. How each is measured stands beside it in `benches.ts` and in
 * `docs/performance.md`.
 */
import { BENCHES } from './benches.js';
import { conditions, machine } from './machine.js';
import { type Options, parseOptions } from './options.js';
import type { Bench, BenchResult, Figures, Report } from './report.js';
import { killChildren } from './support/children.js';
import { makeScratch, removeAllScratch, removeScratch } from './support/scratch.js';
import { figureTable, summary } from './table.js';

async function main(options: Options): Promise<boolean> {
  const say = (text: string) => process.stderr.write(`${text}\n`);
  if (!options.json) say(conditions());
  const figures: Figures = {};
  const notes: string[] = [];
  let failed = false;
  for (const bench of BENCHES) {
    const wanted = bench.groups.filter((group) => options.only?.includes(group) ?? true);
    if (wanted.length === 0) continue;
    const began = performance.now();
    say(`${bench.groups.join(', ')} …`);
    try {
      const result = await runOne(bench, options.quick, say);
      for (const group of wanted) Object.assign(figures, { [group]: result.figures[group] });
      notes.push(...result.notes.map((note) => `${bench.groups[0]}: ${note}`));
    } catch (error) {
      failed = true;
      say(`${bench.groups[0]}: not measured: ${error instanceof Error ? error.message : String(error)}`);
    }
    say(`  ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  if (options.json) {
    const report: Report = { machine: machine(), ...figures };
    process.stdout.write(`${JSON.stringify(report)}\n`);
  } else {
    process.stdout.write(`\n${figureTable(figures)}\n\n`);
    for (const note of notes) process.stdout.write(`${note}\n`);
    process.stdout.write(`\n${summary(figures)}\n`);
  }
  return !failed;
}

async function runOne(bench: Bench, quick: boolean, say: (text: string) => void): Promise<BenchResult> {
  const dir = makeScratch(bench.groups[0] ?? 'bench');
  try {
    return await bench.run({ quick, dir, progress: (line) => say(`  ${line}`) });
  } finally {
    removeScratch(dir);
  }
}

function cleanUp(): void {
  killChildren();
  removeAllScratch();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', cleanUp);

try {
  const ok = await main(parseOptions(process.argv.slice(2)));
  process.exit(ok ? 0 : 1);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
