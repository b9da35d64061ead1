/** The verdict on a fuzz run, and how it is told. */
import type { TargetReport } from './types.js';

/** Caches, compiled code and pages of SQLite come to less than this; a leak of a hundred bytes a document does not. */
export const GROWTH_BOUND_MB = 24;

export function isClean(reports: Readonly<Record<string, TargetReport>>): boolean {
  return Object.values(reports).every(
    ({ crashes, motions, wrong, growth_mb }) =>
      crashes === 0 && motions === 0 && wrong === 0 && growth_mb <= GROWTH_BOUND_MB,
  );
}

/** For people. */
export function describeReports(reports: Readonly<Record<string, TargetReport>>): string {
  const rows = Object.entries(reports).map(([name, r]) => [
    name,
    `${r.cases} documents`,
    `${r.crashes} crashes`,
    `${r.motions} motions`,
    `${r.wrong} wrongly taken`,
    `${r.growth_mb} MiB more`,
    `${r.accepted} accepted`,
    `${r.seconds} s`,
  ]);
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const verdict = isClean(reports)
    ? '✓ no crash, no motion, no growth'
    : `✗ not as it should be (growth: at most ${GROWTH_BOUND_MB} MiB a target)`;
  return [...lines, verdict].join('\n');
}
