/**
 * Public data that nobody on this project wrote, kept beside the repository and never copied into it. Tests
 * that need it are skipped, with the reason in their name, where it is not there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where the data is: `DEVICEAGENT_SHARED_DATA`, or `../shared/data` beside the repository. */
export const SHARED_DATA = resolve(ROOT, process.env.DEVICEAGENT_SHARED_DATA ?? '../shared/data');

/** Absolute path of a file or folder of the shared data, or null when it is not there. */
export function sharedPath(relative: string): string | null {
  const path = join(SHARED_DATA, relative);
  return existsSync(path) ? path : null;
}

/** A test that is given the path of `relative`; skipped where it is absent. */
export function itWithShared(
  name: string,
  relative: string,
  test: (path: string) => void | Promise<void>,
  timeoutMs?: number,
): void {
  const path = sharedPath(relative);
  if (path === null) it.skip(`${name} (skipped: ../shared/data/${relative} is not there)`, () => {});
  else it(name, () => test(path), timeoutMs);
}

/** A test that is given the parsed JSON of `relative`; skipped where it is absent. */
export function itWithSharedJson<T>(
  name: string,
  relative: string,
  test: (data: T) => void | Promise<void>,
): void {
  itWithShared(name, relative, (path) => test(JSON.parse(readFileSync(path, 'utf8')) as T));
}
