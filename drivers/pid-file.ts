/**
 * `daemon.pid` and `rt.pid` in the state directory: for people and scripts. What keeps a second daemon or motion
 * process away are the locks on the database and the port, because a number in a file may by now be somebody else's.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './write-whole.js';

/** Writes this process's id, whole or not at all, and removes it when the process exits in an orderly way. */
export function writePidFile(stateDir: string, name: 'daemon.pid' | 'rt.pid'): void {
  const path = join(stateDir, name);
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeWhole(path, `${process.pid}\n`, { mode: 0o600 });
  process.on('exit', () => {
    if (readPid(path) === process.pid) rmSync(path, { force: true });
  });
}

/** Null when the file is not there or holds no number. */
function readPid(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
