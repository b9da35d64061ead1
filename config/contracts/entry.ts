/** Where the compiled entry of a forked process or a worker thread lies. */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Path of `relativeUrl` (e.g. `'./worker.js'`) seen from the module whose `import.meta.url` is `base`. Code that
 * runs from TypeScript sources, as the tests do, starts its processes and workers from `dist/`, where the build
 * puts one file for each source.
 */
export function entryPath(base: string, relativeUrl: string): string {
  const path = fileURLToPath(new URL(relativeUrl, base));
  if (!import.meta.url.endsWith('.ts')) return path;
  const root = fileURLToPath(new URL('../../', import.meta.url));
  return join(root, 'dist', relative(root, path));
}
