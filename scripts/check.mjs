// Types, lint and format, direction of imports, cycles, and the length of files. Exit code 1 on any finding.
import { spawnSync } from 'node:child_process';
import { cycles, longFiles, readGraph, strangeFolders, wrongDirections } from './imports.mjs';

let failed = false;
const run = (title, command, args) => {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${title}`);
  if (status !== 0) failed = true;
};
const report = (title, problems) => {
  for (const problem of problems) console.log(`  ${problem}`);
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${title}`);
  if (problems.length > 0) failed = true;
};

run('types', 'node_modules/.bin/tsc', ['-p', '.']);
run('lint and format', 'node_modules/.bin/biome', ['check', '--error-on-warnings', '.']);
const graph = readGraph();
report('direction of imports', wrongDirections(graph));
report(
  'import cycles',
  cycles(graph).map((c) => c.join(' → ')),
);
report('length of files', longFiles(graph));
report(
  'top-level folders',
  strangeFolders().map((f) => `${f}/ does not belong at the top level`),
);
process.exit(failed ? 1 : 0);
