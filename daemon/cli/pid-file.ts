/** `<state-dir>/daemon.pid`: who runs on this state directory, so that a second one does not. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class PidFile {
  private constructor(readonly path: string) {}

  /** Throws an Error naming the process that already runs here. */
  static take(stateDir: string, name: string): PidFile {
    const path = join(stateDir, name);
    const other = readPid(path);
    if (other !== null && other !== process.pid && isAlive(other)) {
      throw new Error(
        `a daemon (process ${other}) already runs on ${stateDir}; stop it or use another --state-dir`,
      );
    }
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

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
