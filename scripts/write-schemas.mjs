// Writes the wire contract as JSON Schema files to config/schemas/. Run it after a change of config/contracts/wire.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = 'config/schemas';
const bundle = join(folder, '.schemas.mjs');
mkdirSync(folder, { recursive: true });
await build({
  entryPoints: ['config/contracts/schemas.ts'],
  outfile: bundle,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
});
try {
  const { schemas } = await import(new URL(`../${bundle}`, import.meta.url));
  for (const file of readdirSync(folder)) if (file.endsWith('.json')) rmSync(join(folder, file));
  for (const [name, schema] of Object.entries(schemas())) {
    writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
  }
} finally {
  rmSync(bundle, { force: true });
}
