/** A disk that fills up in an instant: a small tmpfs, where this process may mount one. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Room for database, its log and the logs of some hundred kills. */
const SIZE_MB = 256;
const BLOCK = Buffer.alloc(1 << 20, 0x5a);

export class SmallDisk {
  private constructor(readonly dir: string) {}

  /** Null, with the reason in `why`, where it cannot be mounted. */
  static mount(dir: string, why: (reason: string) => void): SmallDisk | null {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=0700`, 'tmpfs', dir];
    const { status, stderr, error } = spawnSync('mount', options, { encoding: 'utf8' });
    if (status === 0) return new SmallDisk(dir);
    why(`no tmpfs can be mounted: ${error?.message ?? stderr.trim()}`);
    return null;
  }

  /** Takes the last byte. */
  fill(): void {
    const file = openSync(this.#ballast, 'w');
    try {
      for (let size = BLOCK.length; size >= 1; ) {
        try {
          if (writeSync(file, BLOCK, 0, size) < size) size = Math.floor(size / 2);
        } catch {
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    this.empty();
    spawnSync('umount', ['-l', this.dir], { stdio: 'ignore' });
  }

  get #ballast(): string {
    return join(this.dir, 'ballast');
  }
}
