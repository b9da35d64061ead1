import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import {
  readSafetyFile,
  type SafetyFileContent,
  safetyFilePath,
  updateSafetyFile,
} from '../../../drivers/rt/safety/safety-file.js';

/** A disk that may have no room: files can be made, and nothing can be written into them. */
const disk = vi.hoisted(() => ({ full: false, seen: [] as string[] }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    rename: async (...args: Parameters<typeof real.rename>) => {
      await real.rename(...args);
      disk.seen.push('renamed');
    },
    open: async (...args: Parameters<typeof real.open>) => {
      const file = await real.open(...args);
      file.writeFile = ((write) => async (text: string) => {
        if (disk.full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        await write.call(file, text);
        disk.seen.push('written');
      })(file.writeFile) as typeof file.writeFile;
      file.sync = ((sync) => async () => {
        await sync.call(file);
        disk.seen.push('flushed');
      })(file.sync);
      return file;
    },
  };
});

describe('safety.json', () => {
  let dir: string;
  const clock = new SystemClock();
  const latch = (by: string) => (content: SafetyFileContent) => ({
    ...content,
    estop: { latched: true, by, at: 1 },
  });

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'safety-'));
  });
  afterEach(() => {
    disk.full = false;
    disk.seen = [];
    rmSync(dir, { recursive: true, force: true });
  });

  it('would survive a power cut once a change is confirmed: the file is flushed, then its name in the folder', async () => {
    disk.seen = [];
    await updateSafetyFile(dir, clock, latch('test'));
    const flushes = disk.seen.slice(disk.seen.lastIndexOf('written'));
    expect(flushes).toEqual(['written', 'flushed', 'renamed', 'flushed']);
  });

  it('of a robot that was never stopped is not there, and nothing is latched', () => {
    expect(readSafetyFile(dir)).toEqual({
      content: { version: 1, estop: { latched: false, by: null, at: null } },
      unreadable: null,
    });
  });

  it('keeps a latched e-stop across restarts', async () => {
    await updateSafetyFile(dir, clock, latch('console'));
    expect(readSafetyFile(dir).content.estop).toEqual({ latched: true, by: 'console', at: 1 });
    expect(statSync(safetyFilePath(dir)).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['safety.json']);
  });

  it('leaves the sections of others as they are', async () => {
    writeFileSync(
      safetyFilePath(dir),
      JSON.stringify({
        version: 1,
        estop: { latched: false, by: null, at: null },
        privacy_mode: true,
        home_lock: false,
        of_a_later_version: [1, 2],
      }),
    );
    await updateSafetyFile(dir, clock, latch('mqtt'));
    expect(JSON.parse(readFileSync(safetyFilePath(dir), 'utf8'))).toEqual({
      version: 1,
      estop: { latched: true, by: 'mqtt', at: 1 },
      privacy_mode: true,
      home_lock: false,
      of_a_later_version: [1, 2],
    });
  });

  const broken: [string, string][] = [
    ['empty', ''],
    ['cut off', '{"version":1,"estop":{"latched":fal'],
    ['of another kind', '[]'],
    ['without the e-stop', '{"version":1}'],
    ['of an unknown version', '{"version":2,"estop":{"latched":false,"by":null,"at":null}}'],
    ['with a text for a flag', '{"version":1,"estop":{"latched":"no","by":null,"at":null}}'],
  ];
  it.each(broken)('that is %s counts as latched, with privacy mode on', (_what, text) => {
    writeFileSync(safetyFilePath(dir), text);
    const { content, unreadable } = readSafetyFile(dir);
    expect(content.estop.latched).toBe(true);
    expect(content.privacy_mode).toBe(true);
    expect(unreadable).not.toBeNull();
  });

  it('that is a folder, or may not be read, counts as latched', () => {
    mkdirSync(safetyFilePath(dir));
    expect(readSafetyFile(dir).content.estop.latched).toBe(true);
    rmSync(safetyFilePath(dir), { recursive: true });
    if (process.getuid?.() === 0) return;
    writeFileSync(safetyFilePath(dir), '{}');
    chmodSync(safetyFilePath(dir), 0o000);
    expect(readSafetyFile(dir).content.estop.latched).toBe(true);
  });

  it('that cannot be read is kept beside the new one, and privacy mode stays on', async () => {
    writeFileSync(safetyFilePath(dir), 'garbage');
    await updateSafetyFile(dir, clock, (content) => ({
      ...content,
      estop: { latched: false, by: null, at: null },
    }));
    expect(readSafetyFile(dir)).toMatchObject({
      content: { estop: { latched: false }, privacy_mode: true },
      unreadable: null,
    });
    const kept = readdirSync(dir).find((name) => name.includes('unreadable'));
    expect(readFileSync(join(dir, kept ?? ''), 'utf8')).toBe('garbage');
  });

  const release = (content: SafetyFileContent) => ({
    ...content,
    estop: { latched: false, by: null, at: null },
  });
  const released = JSON.stringify(release({ version: 1, estop: { latched: false, by: null, at: null } }));

  it.each([
    ['was never written', null, false],
    ['says released', released, false],
    ['says latched', released.replace('false', 'true'), false],
    ['cannot be read', 'garbage', true],
  ])(
    'that %s keeps an e-stop pressed on a full disk, and leaves no lock behind',
    async (_what, text, kept) => {
      if (text !== null) writeFileSync(safetyFilePath(dir), text);
      disk.full = true;
      await updateSafetyFile(dir, clock, latch('button'));
      expect(readSafetyFile(dir).content.estop.latched).toBe(true);
      expect(readdirSync(dir)).toEqual(['safety.json']);
      if (kept) expect(readFileSync(safetyFilePath(dir), 'utf8')).toBe(text);
      disk.full = false;
      await updateSafetyFile(dir, clock, release);
      expect(readSafetyFile(dir).content.estop.latched).toBe(false);
    },
  );

  it.each([
    ['says latched', released.replace('false', 'true')],
    ['cannot be read', 'garbage'],
  ])('that %s stays so when a release cannot be written', async (_what, text) => {
    writeFileSync(safetyFilePath(dir), text);
    disk.full = true;
    await expect(updateSafetyFile(dir, clock, release)).rejects.toThrow('no space left');
    expect(readSafetyFile(dir).content.estop.latched).toBe(true);
    expect(readdirSync(dir)).toEqual(['safety.json']);
  });

  it('loses no change when many write at the same time', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        updateSafetyFile(dir, clock, (content) => ({ ...content, [`writer_${i}`]: i })),
      ),
    );
    const written: object = JSON.parse(readFileSync(safetyFilePath(dir), 'utf8'));
    expect(Object.keys(written).filter((key) => key.startsWith('writer_'))).toHaveLength(12);
    expect(existsSync(`${safetyFilePath(dir)}.lock`)).toBe(false);
  });

  it('breaks the lock of a writer that died', async () => {
    const lock = `${safetyFilePath(dir)}.lock`;
    writeFileSync(lock, 'dead');
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(lock, longAgo, longAgo);
    await updateSafetyFile(dir, clock, latch('button'));
    expect(readSafetyFile(dir).content.estop.by).toBe('button');
  });
});
