/** The state directory of a daemon or a simulation that starts here, and what to say when it cannot be used. */
import { mkdirSync } from 'node:fs';
import { errorCode, errorText } from '../../config/contracts/errors.js';

/** Throws an Error for people. */
export function makeStateDir(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = errorCode(error) ?? errorText(error);
    throw new Error(`the state directory ${dir} cannot be made (${why}): choose another with --state-dir`);
  }
}

const DISK_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM']);

/** The same error, or one that names the directory when the disk is what is wrong. */
export function namingStateDir(error: unknown, dir: string): unknown {
  const code = errorCode(error) ?? '';
  if (!DISK_CODES.has(code)) return error;
  return new Error(
    `the state directory ${dir} cannot be written (${code}): free some space, or choose another with --state-dir`,
    { cause: error },
  );
}
