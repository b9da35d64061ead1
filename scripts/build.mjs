// Transpiles every TypeScript source to dist/, one file for one file, so that worker threads and forked
// processes find their entry beside the module that starts them. Types are checked by `npm run check`.
import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const roots = ['config', 'daemon', 'drivers', 'executors', 'simulator', 'state-machines', 'test'];

/** Every file below `dir`, depth first. */
function filesBelow(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(dir, entry.name)) : [join(dir, entry.name)],
  );
}

const files = roots.filter((root) => existsSync(root)).flatMap(filesBelow);
const sources = files.filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts') && !f.endsWith('.d.ts'));
rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: sources,
  outbase: '.',
  outdir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
// Data that the code reads beside itself: profiles, cards, schemas, world files, the console's page.
for (const file of files.filter(
  (f) => !f.endsWith('.ts') && statSync(f).isFile() && !f.startsWith('test/'),
)) {
  cpSync(file, join('dist', file), { recursive: true });
}
