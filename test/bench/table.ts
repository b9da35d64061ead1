/** The figures for people. */
import Table from 'cli-table3';
import { BARS, shownNumber, verdict } from './bars.js';
import type { Figures } from './report.js';

export function figureTable(figures: Figures): string {
  const table = new Table({
    head: ['', 'measured', 'bar', ''],
    colAligns: ['left', 'right', 'right', 'left'],
    style: { head: [], border: [] },
  });
  for (const row of BARS) {
    const value = row.value(figures);
    if (value === undefined) continue;
    const unit = row.unit === '' ? '' : ` ${row.unit}`;
    const wanted = row.bar === null ? '' : `${row.bar.op} ${shownNumber(row.bar.value)}${unit}`;
    table.push([row.label, `${shownNumber(value)}${unit}`, wanted, verdict(row, value)]);
  }
  return table.toString();
}

/** How many of the bars that were measured are met. */
export function summary(figures: Figures): string {
  const judged = BARS.flatMap((row) => {
    const value = row.value(figures);
    return value === undefined || row.bar === null ? [] : [{ row, short: verdict(row, value) }];
  });
  const short = judged.filter((one) => one.short !== 'met');
  const tail = short.map(({ row, short }) => `${row.key} is ${short}`).join('; ');
  return `${judged.length - short.length} of ${judged.length} bars met${tail === '' ? '' : `; ${tail}`}`;
}
