/** Directories of a benchmark: on a disk, and removed whatever happens. */
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './stats.js';

/** Linux's number of a file system in memory, on which an fsync costs nothing and keeps nothing. */
const TMPFS = 0x01021994;

const made = new Set<string>();

/** Where to work: `DEVICEAGENT_BENCH_DIR`, the temporary directory, or one that survives a power cut. */
function root(): string {
  const wanted = process.env.DEVICEAGENT_BENCH_DIR ?? tmpdir();
  return statfsSync(wanted).type === TMPFS && statfsSync('/var/tmp').type !== TMPFS ? '/var/tmp' : wanted;
}

export function makeScratch(name: string): string {
  const dir = mkdtempSync(join(root(), `da-bench-${name}-`));
  made.add(dir);
  return dir;
}

export function removeScratch(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  made.delete(dir);
}

export function removeAllScratch(): void {
  for (const dir of [...made]) removeScratch(dir);
}

/** What one write and fsync of 4 KiB costs here, ms; and whether it means anything. */
export function fsyncCost(): { ms: number; inMemory: boolean } {
  const dir = makeScratch('fsync');
  const fd = openSync(join(dir, 'probe'), 'w');
  const page = Buffer.alloc(4096, 1);
  const costs = Array.from({ length: 50 }, () => {
    const began = performance.now();
    writeSync(fd, page);
    fsyncSync(fd);
    return performance.now() - began;
  });
  closeSync(fd);
  const inMemory = statfsSync(dir).type === TMPFS;
  removeScratch(dir);
  return { ms: median(costs), inMemory };
}
