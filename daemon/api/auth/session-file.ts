/**
 * Console sessions on disk, so that a page stays signed in when the daemon is restarted under it. Only digests of
 * 256 random bits are written; who reads the file cannot sign in with it.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeWhole } from '../../../drivers/write-whole.js';

/** Digest and expiry, wall ms. */
export type StoredSessions = [digest: string, expiresAtMs: number][];

export interface SessionFile {
  load(): StoredSessions;
  save(sessions: StoredSessions): void;
}

const shape = z.array(z.tuple([z.string().length(44), z.number()])).max(64);

export function sessionFile(stateDir: string): SessionFile {
  const path = join(stateDir, 'console-sessions.json');
  return {
    /** Nothing when the file is not there, not ours alone, or not readable: everybody signs in anew. */
    load() {
      try {
        return read(path);
      } catch {
        return [];
      }
    },
    save(sessions) {
      writeWhole(path, JSON.stringify(sessions), { mode: 0o600, flush: true });
    },
  };
}

function read(path: string): StoredSessions {
  const file = openSync(path, 'r');
  try {
    // Whoever could write here could let himself in.
    if ((fstatSync(file).mode & 0o077) !== 0) return [];
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } finally {
    closeSync(file);
  }
}
