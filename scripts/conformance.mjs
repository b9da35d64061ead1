// Runs the conformance suite and prints it as a table: behaviours by back end, then what only Nav2 can do wrong.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';

const dir = mkdtempSync(join(tmpdir(), 'da-conformance-'));
const file = join(dir, 'report.json');
const args = ['vitest', 'run', 'test/conformance', '--reporter=json', `--outputFile=${file}`];
const { status } = spawnSync('npx', args, { stdio: ['ignore', 'ignore', 'inherit'] });
const report = JSON.parse(readFileSync(file, 'utf8'));
rmSync(dir, { recursive: true, force: true });

const PREFIX = 'a robot with the back end ';
const rows = new Map();
const backEnds = [];
const others = [];
for (const test of report.testResults.flatMap((result) => result.assertionResults)) {
  const group = test.ancestorTitles[0] ?? '';
  if (!group.startsWith(PREFIX)) {
    others.push([test.title, test.status]);
    continue;
  }
  const backEnd = group.slice(PREFIX.length);
  if (!backEnds.includes(backEnd)) backEnds.push(backEnd);
  const row = rows.get(test.title) ?? {};
  row[backEnd] = test.status;
  rows.set(test.title, row);
}
const table = new Table({ head: ['behaviour', ...backEnds], style: { head: [] } });
for (const [title, row] of rows) table.push([title, ...backEnds.map((name) => row[name] ?? '—')]);
process.stdout.write(`${table.toString()}\n`);
const nav2 = new Table({ head: ['only with Nav2', ''], style: { head: [] } });
nav2.push(...others);
process.stdout.write(`${nav2.toString()}\n`);
process.exitCode = status ?? 1;
