/**
 * Where public data that nobody on this project wrote is kept: beside the repository, never copied into it. The
 * same for sources and for what the build makes of them.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The data's folder: `DEVICEAGENT_SHARED_DATA`, or `../shared/data` beside the repository. */
export const SHARED_DATA = resolve(repositoryRoot(), process.env.DEVICEAGENT_SHARED_DATA ?? '../shared/data');

/** Absolute path of a file or folder of the shared data, or null when it is not there. */
export function sharedPath(relative: string): string | null {
  const path = join(SHARED_DATA, relative);
  return existsSync(path) ? path : null;
}

function repositoryRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return dir;
}
