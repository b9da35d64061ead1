import { renameSync, writeFileSync } from 'node:fs';

/**
 * Writes a file that appears whole or not at all: first as `draft` beside its place, then moved there. `flush`: on
 * the disk before it is moved, so that no loss of power leaves an empty file under the name.
 */
export function writeWhole(
  path: string,
  content: string | Uint8Array,
  {
    mode = 0o666,
    flush = false,
    draft = `${path}.new`,
  }: { mode?: number; flush?: boolean; draft?: string } = {},
): void {
  writeFileSync(draft, content, { mode, flush });
  renameSync(draft, path);
}
