/**
 * Public data that nobody on this project wrote, kept beside the repository and never copied into it. Tests
 * that need it are skipped, with the reason in their name, where it is not there.
 */
import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { sharedPath } from './shared-path.js';

export { SHARED_DATA, sharedPath } from './shared-path.js';

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
