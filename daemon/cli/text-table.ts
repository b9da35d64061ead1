/** Tables for terminals; Hangul takes two columns. */
import Table from 'cli-table3';
import { displayWidth } from './display-width.js';

/** Columns narrower than this are not narrowed further. */
const MIN_COLUMN = 10;
const PADDING = 2;

/**
 * Rows under heads; null cells stay empty. With `columns`, the width of the terminal, cells are wrapped so that
 * the table fits where that is possible.
 */
export function textTable(
  heads: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  columns?: number,
): string {
  const cells = rows.map((row) => row.map((cell) => cell ?? ''));
  const widths = columns === undefined ? null : fittingWidths([[...heads], ...cells], columns);
  const table = new Table({
    head: [...heads],
    style: { head: [], border: [], compact: true },
    wordWrap: true,
    wrapOnWordBoundary: true,
    ...(widths === null ? {} : { colWidths: widths }),
  });
  for (const row of cells) table.push(row);
  return table.toString();
}

/** Widths with padding, or null when everything fits as it is. The widest column gives way first. */
function fittingWidths(rows: readonly (readonly string[])[], columns: number): number[] | null {
  const widths = (rows[0] ?? []).map((_, i) =>
    Math.max(...rows.map((row) => Math.max(...(row[i] ?? '').split('\n').map(displayWidth)))),
  );
  const frame = widths.length * (PADDING + 1) + 1;
  const sum = () => widths.reduce((a, b) => a + b, frame);
  if (sum() <= columns) return null;
  while (sum() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= MIN_COLUMN) break;
    widths[widest] = width - 1;
  }
  return widths.map((width) => width + PADDING);
}
