/** The verdict on a campaign. */
import { median, percentile, round } from '../bench/support/stats.js';
import type { HazardStop } from './recorder.js';
import type { MissionResult } from './types.js';

/** Longer than this nobody may be sure of a wrong place, ms. */
const SURE_MS = 10_000;

export interface MissionsReport {
  missions: number;
  succeeded: number;
  success_pct: number;
  collisions: number;
  touched_by_others: number;
  legs: number;
  arrived: number;
  right_refusals: number;
  /** Time taken against the shortest way at full speed, of legs without trouble that arrived. */
  time_ratio: { median: number | null; p95: number | null; legs: number };
  docking: { asked: number; docked: number; pct: number | null };
  hazards: Record<string, { stops: number; missed: number; median_ms: number | null; max_ms: number | null }>;
  wrongly_sure_max_ms: number;
  simulated_s: number;
  x_realtime: number;
  first_seed: number;
  by_family: Record<string, { missions: number; succeeded: number }>;
  failing: { seed: number; family: string; place: string; why: string[] }[];
  ok: boolean;
}

/** Everything that is wrong with a mission, in words; none: it succeeded. */
export function findings(result: MissionResult): string[] {
  return [
    ...result.problems,
    ...result.legs
      .filter(({ right }) => !right)
      .map(({ goal, outcome, why, troubles }) => {
        const trouble = troubles.length === 0 ? '' : ` after ${troubles.join(', ')}`;
        return `to (${goal.x.toFixed(2)}, ${goal.y.toFixed(2)}): ${outcome}: ${why}${trouble}`;
      }),
    ...(result.docked === false ? [`not docked: ${result.dockOutcome}`] : []),
    ...result.hazards
      .filter(({ stopMs }) => stopMs === null)
      .map(({ hazard, limitMs }) => `no stop within ${limitMs} ms: ${hazard}`),
    ...(result.wronglySureMs > SURE_MS
      ? [`sure of a wrong place for ${(result.wronglySureMs / 1000).toFixed(0)} s`]
      : []),
  ];
}

export function summarize(results: readonly MissionResult[], wallMs: number): MissionsReport {
  const good = results.filter((one) => findings(one).length === 0);
  const legs = results.flatMap((one) => one.legs);
  const ratios = legs
    .filter((leg) => leg.idealS !== null && leg.troubles.length === 0)
    .map((leg) => leg.tookS / (leg.idealS ?? 1));
  const asked = results.filter(({ docked }) => docked !== null);
  const docked = asked.filter((one) => one.docked === true).length;
  const simulated = sum(results.map(({ simulatedS }) => simulatedS));
  return {
    missions: results.length,
    succeeded: good.length,
    success_pct: round((100 * good.length) / Math.max(1, results.length), 1),
    collisions: sum(results.map(({ collisions }) => collisions)),
    touched_by_others: sum(results.map(({ touchedByOthers }) => touchedByOthers)),
    legs: legs.length,
    arrived: legs.filter(({ outcome }) => outcome === 'COMPLETED').length,
    right_refusals: legs.filter(({ outcome, right }) => outcome !== 'COMPLETED' && right).length,
    time_ratio: {
      median: ratios.length === 0 ? null : round(median(ratios), 2),
      p95: ratios.length === 0 ? null : round(percentile(ratios, 0.95), 2),
      legs: ratios.length,
    },
    docking: {
      asked: asked.length,
      docked,
      pct: asked.length === 0 ? null : round((100 * docked) / asked.length, 1),
    },
    hazards: hazardTable(results.flatMap(({ hazards }) => hazards)),
    wrongly_sure_max_ms: Math.max(0, ...results.map(({ wronglySureMs }) => wronglySureMs)),
    simulated_s: round(simulated, 0),
    x_realtime: round((1000 * simulated) / Math.max(1, wallMs), 0),
    first_seed: results[0]?.seed ?? 0,
    by_family: families(results),
    failing: results
      .filter((one) => !good.includes(one))
      .map((one) => ({ seed: one.seed, family: one.family, place: one.place, why: findings(one) })),
    ok: good.length === results.length,
  };
}

export function describeReport(report: MissionsReport): string {
  const { time_ratio: ratio, docking } = report;
  return [
    `missions      ${report.succeeded} of ${report.missions} (${report.success_pct} %)`,
    `collisions    ${report.collisions} from our motion, ${report.touched_by_others} by others`,
    `legs          ${report.legs}: ${report.arrived} arrived, ${report.right_refusals} rightly not`,
    `time          ${ratio.median} × the ideal way at full speed (median of ${ratio.legs}), 95 % below ${ratio.p95} ×`,
    `docking       ${docking.docked} of ${docking.asked} (${docking.pct} %)`,
    ...Object.entries(report.hazards).map(
      ([name, { stops, missed, median_ms, max_ms }]) =>
        `stop          ${name}: ${stops} stops, median ${median_ms} ms, max ${max_ms} ms${missed > 0 ? `, ${missed} MISSED` : ''}`,
    ),
    `wrong place   sure of one for at most ${(report.wrongly_sure_max_ms / 1000).toFixed(1)} s`,
    `simulated     ${(report.simulated_s / 3600).toFixed(1)} h at ${report.x_realtime} × real time`,
    ...Object.entries(report.by_family).map(
      ([name, { missions, succeeded }]) => `  ${name.padEnd(10)} ${succeeded} of ${missions}`,
    ),
    ...report.failing.map(
      ({ seed, family, place, why }) =>
        `✗ ${family} in ${place}: ${why.join('; ')}\n  again: npm run missions -- --missions 1 --seed ${seed}`,
    ),
  ].join('\n');
}

function hazardTable(stops: readonly HazardStop[]): MissionsReport['hazards'] {
  const names = [...new Set(stops.map(({ hazard }) => kindOf(hazard)))].sort();
  return Object.fromEntries(
    names.map((name) => {
      const of = stops.filter(({ hazard }) => kindOf(hazard) === name);
      const times = of.flatMap(({ stopMs }) => (stopMs === null ? [] : [stopMs]));
      const missed = of.length - times.length;
      const some = times.length > 0;
      return [
        name,
        {
          stops: times.length,
          missed,
          median_ms: some ? round(median(times), 0) : null,
          max_ms: some ? round(Math.max(...times), 0) : null,
        },
      ];
    }),
  );
}

/** Without the figures that differ from one to the next. */
function kindOf(hazard: string): string {
  return hazard.replace(/^\d+° of /, 'part of ');
}

function families(results: readonly MissionResult[]): MissionsReport['by_family'] {
  const table: MissionsReport['by_family'] = {};
  for (const one of results) {
    const row = table[one.family] ?? { missions: 0, succeeded: 0 };
    table[one.family] = row;
    row.missions += 1;
    if (findings(one).length === 0) row.succeeded += 1;
  }
  return table;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
