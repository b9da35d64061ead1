// Transpiles every TypeScript source to dist/, one file for one file, so that worker threads and forked
// processes find their entry beside the module that starts them. Types are checked by `npm run check`.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

const ROOTS = ['config', 'daemon', 'drivers', 'executors', 'simulator', 'state-machines', 'test'];

/** Every file below `dir`, depth first; none when it does not exist. */
function filesBelow(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(dir, entry.name)) : [join(dir, entry.name)],
  );
}

function newer(a, b) {
  return !existsSync(b) || statSync(a).mtimeMs > statSync(b).mtimeMs;
}

const files = ROOTS.flatMap(filesBelow);
const sources = files.filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts') && !f.endsWith('.d.ts'));
// Data that the code reads beside itself: profiles, cards, schemas, world files, the console's page.
const data = files.filter((f) => !f.endsWith('.ts') && !f.startsWith('test'));

const outputOf = (source) => join('dist', source.replace(/\.ts$/, '.js'));
const wanted = new Set([
  ...sources.flatMap((s) => [outputOf(s), `${outputOf(s)}.map`]),
  ...data.map((f) => join('dist', f)),
]);
for (const old of filesBelow('dist')) if (!wanted.has(relative('.', old))) rmSync(old);

const stale = sources.filter((s) => newer(s, outputOf(s)));
if (stale.length > 0) {
  await build({
    entryPoints: stale,
    outbase: '.',
    outdir: 'dist',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
}
for (const file of data.filter((f) => newer(f, join('dist', f)))) {
  mkdirSync(dirname(join('dist', file)), { recursive: true });
  copyFileSync(file, join('dist', file));
}
