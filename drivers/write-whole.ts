import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** `flush`: on the disk before it is moved, so that no loss of power leaves an empty file under the name. */
interface Written {
  path: string;
  content: string | Uint8Array;
  mode?: number;
  flush?: boolean;
  /** Where it is written first; `<path>.new` when not given. */
  draft?: string;
}

/** Writes a file that appears whole or not at all: first as `draft` beside its place, then moved there. */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  options: Omit<Written, 'path' | 'content'> = {},
): void {
  writeAllWhole([{ path, content, ...options }]);
}

/** Files that belong together: each appears whole, and none before all of them have found room. */
export function writeAllWhole(files: readonly Written[]): void {
  const drafts = files.map(({ path, draft = `${path}.new` }) => ({ path, draft }));
  try {
    files.forEach(({ path, content, mode = 0o666, flush = false, draft = `${path}.new` }) => {
      writeFileSync(draft, content, { mode, flush });
    });
  } catch (error) {
    for (const { draft } of drafts) rmSync(draft, { force: true });
    throw error;
  }
  for (const { path, draft } of drafts) renameSync(draft, path);
}
