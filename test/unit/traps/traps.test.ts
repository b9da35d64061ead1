/** Where each of the eight traps is held: the table in the docs names tests that are there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDERS = ['test/unit/traps', 'test/contract/traps', 'test/hil/traps'];

interface Row {
  trap: number;
  files: string[];
  /** In brackets behind a file: the title of the test. */
  titles: { file: string; title: string }[];
}

const rows: readonly Row[] = readFileSync('docs/traps.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| \d \|/.test(line))
  .map((line) => {
    const [, trap = '', , held = ''] = line.split('|').map((cell) => cell.trim());
    const files = [...held.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    const titles = [...held.matchAll(/`([^`]+)` \(([^)]+)\)/g)].map(([, file = '', title = '']) => ({
      file,
      title,
    }));
    return { trap: Number(trap), files, titles };
  });

describe('the eight traps', () => {
  it('each have a row', () => {
    expect(rows.map(({ trap }) => trap)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it.each(rows.map((row) => [row.trap, row] as const))(
    'trap %i is held by tests that are there',
    (_, row) => {
      expect(row.files.length).toBeGreaterThan(0);
      for (const file of row.files) expect(existsSync(file), file).toBe(true);
      for (const { file, title } of row.titles) expect(readFileSync(file, 'utf8')).toContain(title);
    },
  );

  it('are eight, also for tests that are named after one', () => {
    const named = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder));
    const numbers = named.flatMap((name) => /^trap-(\d+)-/.exec(name)?.[1] ?? []).map(Number);
    expect(numbers.filter((n) => !rows.some(({ trap }) => trap === n))).toEqual([]);
  });
});
