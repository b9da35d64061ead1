/** What keeping maps does to the disk, step by step; a test breaks off at each of them. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export interface MapFiles {
  /** With its parents; nothing when it is there. */
  makeFolder(path: string): void;
  /** The whole content, on the disk when it returns. */
  write(path: string, content: string | Uint8Array): void;
  rename(from: string, to: string): void;
  /** A file or a folder with all that is in it; nothing when it is not there. */
  remove(path: string): void;
  /** What was renamed in it survives a loss of power. */
  syncFolder(path: string): void;
}

export const DISK: MapFiles = {
  makeFolder: (path) => void mkdirSync(path, { recursive: true }),
  write: (path, content) => writeFileSync(path, content, { flush: true }),
  rename: renameSync,
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  syncFolder: (path) => {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  },
};
