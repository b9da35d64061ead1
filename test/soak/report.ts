/** The verdict on a soak. */
import { median, round } from '../bench/support/stats.js';

export interface SoakFacts {
  seed: number;
  hours: number;
  wallMs: number;
  chores: Record<string, number>;
  refused: number;
  troubles: Record<string, number>;
  rests: number;
  findings: readonly string[];
  /** Resident memory at each rest, MB. */
  memory: readonly { daemon: number; rt: number }[];
  /** `…_defects` and the like, from the robot's own counters at the end. */
  defects: number;
}

export interface SoakReport {
  hours: number;
  chores: number;
  troubles: number;
  rests: number;
  stuck_leases: number;
  zombies: number;
  events_lost: number;
  other_findings: number;
  defects: number;
  /** Last third of the rests less the third before it, by medians. */
  rss_growth_mb: { daemon: number | null; rt: number | null };
  rss_mb: { daemon: number | null; rt: number | null };
  seed: number;
  ok: boolean;
  x_realtime: number;
  refused: number;
  chores_by_kind: Record<string, number>;
  troubles_by_kind: Record<string, number>;
  problems: string[];
}

/** What the collector has not taken back yet moves resident memory by this much, MB. */
const GROWTH_MB = 12;
const SHOWN = 40;

export function judge(facts: SoakFacts): SoakReport {
  const count = (kind: string) => facts.findings.filter((text) => text.includes(kind)).length;
  const growth = {
    daemon: growthOf(facts.memory.map((m) => m.daemon)),
    rt: growthOf(facts.memory.map((m) => m.rt)),
  };
  const leaks = Object.entries(growth).flatMap(([name, mb]) =>
    mb !== null && mb > GROWTH_MB
      ? [`leak: ${name} grew by ${mb} MB between the second and the last third`]
      : [],
  );
  const problems = [
    ...facts.findings,
    ...leaks,
    ...(facts.defects > 0 ? [`defects: the robot counted ${facts.defects}`] : []),
  ];
  const [stuck, zombies, lost] = [count('stuck lease:'), count('zombie:'), count('lost:')];
  return {
    hours: facts.hours,
    chores: sum(facts.chores),
    troubles: sum(facts.troubles),
    rests: facts.rests,
    stuck_leases: stuck,
    zombies,
    events_lost: lost,
    other_findings: facts.findings.length - stuck - zombies - lost,
    defects: facts.defects,
    rss_growth_mb: growth,
    rss_mb: { daemon: last(facts.memory.map((m) => m.daemon)), rt: last(facts.memory.map((m) => m.rt)) },
    seed: facts.seed,
    ok: problems.length === 0,
    x_realtime: round((facts.hours * 3_600_000) / facts.wallMs, 0),
    refused: facts.refused,
    chores_by_kind: facts.chores,
    troubles_by_kind: facts.troubles,
    problems: problems.slice(0, SHOWN),
  };
}

/** Null while there are too few rests to say. */
function growthOf(mb: readonly number[]): number | null {
  const third = Math.floor(mb.length / 3);
  if (third < 2) return null;
  return round(median(mb.slice(-third)) - median(mb.slice(-2 * third, -third)), 1);
}

function last(mb: readonly number[]): number | null {
  const value = mb.at(-1);
  return value === undefined ? null : round(value, 0);
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0);
}

/** For people. */
export function describeReport(report: SoakReport): string {
  const listed = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ');
  const mb = (value: number | null) => (value === null ? 'not known' : `${value} MB`);
  const rows: [string, string][] = [
    ['robot time', `${report.hours} h, ${report.x_realtime} × real time, seed ${report.seed}`],
    ['chores', `${report.chores} (${listed(report.chores_by_kind)}), ${report.refused} refused`],
    ['troubles', `${report.troubles} (${listed(report.troubles_by_kind)})`],
    [
      'rests',
      `${report.rests}: ${report.stuck_leases} stuck leases, ${report.zombies} zombies, ${report.events_lost} lost, ${report.other_findings} other`,
    ],
    [
      'memory',
      `daemon ${mb(report.rss_mb.daemon)} (grew by ${mb(report.rss_growth_mb.daemon)}), rt ${mb(report.rss_mb.rt)} (grew by ${mb(report.rss_growth_mb.rt)})`,
    ],
  ];
  return [
    ...rows.map(([name, value]) => `${name.padEnd(11)} ${value}`),
    ...report.problems.map((problem) => `✗ ${problem}`),
    report.ok ? '✓ nothing stuck, nothing lost, nothing grown' : '✗ not as it should be',
  ].join('\n');
}
