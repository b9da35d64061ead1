/** The bearer token in the state directory: created on first start, readable by its owner only. */
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MIN_TOKEN_LENGTH } from '../../../config/api-tokens.js';
import { errorCode } from '../../../config/contracts/errors.js';

/**
 * Reads `<stateDir>/token`, or creates it (mode 0600). Throws with what to do when the file is readable by
 * others or too short: it is then no secret any more.
 */
export function readOrCreateToken(stateDir: string, secret: (bytes: number) => string): string {
  const path = join(stateDir, 'token');
  return create(path, secret) ?? read(path);
}

function create(path: string, secret: (bytes: number) => string): string | null {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return null;
    throw error;
  }
  try {
    const token = secret(32);
    writeSync(file, `${token}\n`);
    fsyncSync(file);
    return token;
  } finally {
    closeSync(file);
  }
}

function read(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { mode } = fstatSync(file);
    if ((mode & 0o077) !== 0) {
      const shownMode = (mode & 0o777).toString(8);
      throw new Error(`${path} can be read by others (mode ${shownMode}); delete it to get a new token`);
    }
    const token = readFileSync(file, 'utf8').trim();
    if (token.length < MIN_TOKEN_LENGTH) {
      throw new Error(
        `${path} holds fewer than ${MIN_TOKEN_LENGTH} characters; delete it to get a new token`,
      );
    }
    return token;
  } finally {
    closeSync(file);
  }
}
