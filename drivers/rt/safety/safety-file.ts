/**
 * `<state-dir>/safety.json`: what must be known before a port or a camera opens and must survive whatever
 * happens to the database. The motion process keeps the e-stop in it; other sections belong to the daemon and
 * pass through untouched. A file that is there but cannot be read counts as: e-stop latched, privacy mode on, home
 * locked.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Clock, delay } from '../../../config/contracts/clock.js';
import { describeZodError, errorCode, errorText } from '../../../config/contracts/errors.js';

const estopSchema = z.strictObject({
  latched: z.boolean(),
  /** Who pressed it; a channel or a name of a part, never of a person. */
  by: z.string().nullable(),
  /** Robot time, epoch ms. */
  at: z.number().nullable(),
});
const fileSchema = z.looseObject({
  version: z.literal(1),
  estop: estopSchema,
  privacy_mode: z.boolean().optional(),
  home_lock: z.boolean().optional(),
  /** Of the database that the daemon's settings stand in; another one there means that they were lost. */
  store_epoch: z.string().optional(),
});
export type SafetyFileContent = z.infer<typeof fileSchema>;

export interface SafetyFileRead {
  content: SafetyFileContent;
  /** Why the file could not be used, for the log; null when it was read, or was never written. */
  unreadable: string | null;
}

const FRESH: SafetyFileContent = { version: 1, estop: { latched: false, by: null, at: null } };

/** What an unreadable file counts as. */
const STRICT: SafetyFileContent = {
  version: 1,
  estop: { latched: true, by: 'safety-file-unreadable', at: null },
  privacy_mode: true,
  home_lock: true,
};

/** A lock of a process that died while it wrote is broken after this long, ms. */
const LOCK_STALE_MS = 2000;
const LOCK_WAIT_MS = 3000;
const LOCK_POLL_MS = 10;

export function safetyFilePath(stateDir: string): string {
  return join(stateDir, 'safety.json');
}

/** Reads synchronously, because nothing may be opened before the answer is known. Never throws. */
export function readSafetyFile(stateDir: string): SafetyFileRead {
  try {
    return { content: parseSafetyFile(readFileSync(safetyFilePath(stateDir), 'utf8')), unreadable: null };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { content: FRESH, unreadable: null };
    return { content: STRICT, unreadable: errorText(error) };
  }
}

/**
 * Changes sections of the file: lock, read, merge, write beside it, fsync, rename, fsync the folder. Resolves
 * when the change would survive a power cut. A file that cannot be read is kept beside it under another name.
 * Where no room is left for the file, an e-stop is kept all the same: as an empty file, which counts as latched.
 * `clock` is the machine's own: a lock is held by another process in real time, whatever the robot's clock does.
 */
export async function updateSafetyFile(
  stateDir: string,
  clock: Clock,
  change: (content: SafetyFileContent) => SafetyFileContent,
): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const unlock = await lock(`${safetyFilePath(stateDir)}.lock`, clock);
  try {
    const path = safetyFilePath(stateDir);
    const before = readSafetyFile(stateDir);
    const content = fileSchema.parse(change(before.content));
    const keep = before.unreadable === null ? null : `${path}.unreadable-${clock.now()}`;
    await writeDurably(path, `${JSON.stringify(content, null, 2)}\n`, keep).catch((error: unknown) => {
      if (!content.estop.latched) throw error;
      return before.content.estop.latched ? flushFolder(path) : latchWithoutRoom(path);
    });
  } finally {
    await unlock();
  }
}

/** A name in a folder, and giving up what a file holds, need no room on the disk. */
async function latchWithoutRoom(path: string): Promise<void> {
  const file = await open(path, 'a', 0o600);
  await file.close();
  await truncate(path);
  await flushFolder(path);
}

function parseSafetyFile(text: string): SafetyFileContent {
  const value: unknown = JSON.parse(text);
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw new Error(describeZodError(parsed.error, value).message);
  return parsed.data;
}

/** `keep`: under which other name what lies there now stays. There is a file under `path` at every moment. */
async function writeDurably(path: string, text: string, keep: string | null): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    await writeAndClose(file, text);
    if (keep !== null) await keepUnder(path, keep);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushFolder(path);
}

async function keepUnder(path: string, name: string): Promise<void> {
  try {
    await link(path, name);
  } catch {
    // A folder, or a file system without links.
    await rename(path, name);
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeAndClose(file: FileHandle, text: string): Promise<void> {
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Daemon and motion process both write the file; each merges its own section into what the other left. */
async function lock(path: string, clock: Clock): Promise<() => Promise<void>> {
  const deadline = clock.mono() + LOCK_WAIT_MS;
  const token = randomBytes(8).toString('hex');
  for (;;) {
    try {
      const file = await open(path, 'wx', 0o600);
      // On a full disk the token cannot be written; the name alone keeps others away.
      const written = await writeAndClose(file, token).then(
        () => token,
        () => '',
      );
      return () => unlock(path, written);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    await breakStaleLock(path, clock);
    if (clock.mono() > deadline) throw new Error(`${path} is held; is another process writing it?`);
    await delay(clock, LOCK_POLL_MS);
  }
}

async function unlock(path: string, token: string): Promise<void> {
  const held = await readFile(path, 'utf8').catch(() => '');
  if (held === token) await rm(path, { force: true });
}

async function breakStaleLock(path: string, clock: Clock): Promise<void> {
  const info = await stat(path).catch(() => null);
  if (info !== null && clock.wall() - info.mtimeMs > LOCK_STALE_MS) await rm(path, { force: true });
}
