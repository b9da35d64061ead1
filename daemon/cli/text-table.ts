/** Tables for terminals; Hangul takes two columns, which cli-table3 knows how to count. */
import Table from 'cli-table3';

/** Rows under bold heads; null cells stay empty. `width`: columns of the terminal, to cut long cells. */
export function textTable(heads: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const table = new Table({
    head: [...heads],
    style: { head: [], border: [], compact: true },
    wordWrap: true,
    wrapOnWordBoundary: true,
  });
  for (const row of rows) table.push(row.map((cell) => cell ?? ''));
  return table.toString();
}
