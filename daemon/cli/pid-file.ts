/**
 * `<state-dir>/daemon.pid`: for people and scripts. What keeps a second daemon away is the lock on the database,
 * because a number in a file may by now be somebody else's.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class PidFile {
  private constructor(readonly path: string) {}

  static write(stateDir: string, name: string): PidFile {
    const path = join(stateDir, name);
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 });
    return new PidFile(path);
  }

  release(): void {
    if (readPid(this.path) === process.pid) rmSync(this.path, { force: true });
  }
}

/** Null when the file is not there or holds no number. */
export function readPid(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
