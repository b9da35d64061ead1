/** What a campaign comes to. */
import Table from 'cli-table3';
import { FAMILIES, type MissionResult } from './types.js';

export interface CampaignReport {
  missions: number;
  /** Every leg ended as it should, nothing was touched, home at the end, nothing lost. */
  succeeded: number;
  success_pct: number;
  legs: number;
  legs_right: number;
  collisions: number;
  docked: number;
  docking_pct: number;
  defects: number;
  /** Time taken over time at full speed along the shortest way: legs without trouble, all that arrived. */
  time_ratio_clear_median: number | null;
  time_ratio_median: number | null;
  robot_hours: number;
  wall_s: number;
  by_family: Record<string, { missions: number; succeeded: number }>;
  failed: { seed: number; family: string; home: string; why: string }[];
}

export function reportOf(results: readonly MissionResult[], wallSeconds: number): CampaignReport {
  const legs = results.flatMap((result) => result.legs);
  const ratio = (troubled: boolean | null) =>
    median(
      legs.flatMap((leg) =>
        leg.goal === null ||
        leg.ideal === null ||
        leg.ideal < 4 ||
        (troubled !== null && leg.troubled !== troubled)
          ? []
          : [leg.seconds / leg.ideal],
      ),
    );
  const succeeded = results.filter((result) => result.ok).length;
  const docked = results.filter((result) => result.docked === true).length;
  const by_family: CampaignReport['by_family'] = {};
  for (const family of FAMILIES) {
    const own = results.filter((result) => result.family === family);
    if (own.length > 0)
      by_family[family] = { missions: own.length, succeeded: own.filter((one) => one.ok).length };
  }
  return {
    missions: results.length,
    succeeded,
    success_pct: percent(succeeded, results.length),
    legs: legs.length,
    legs_right: legs.filter((leg) => leg.ok).length,
    collisions: results.reduce((sum, result) => sum + result.collisions.length, 0),
    docked,
    docking_pct: percent(docked, results.length),
    defects: results.reduce((sum, result) => sum + result.defects.length, 0),
    time_ratio_clear_median: ratio(false),
    time_ratio_median: ratio(null),
    robot_hours: rounded(results.reduce((sum, result) => sum + result.robotSeconds, 0) / 3600),
    wall_s: Math.round(wallSeconds),
    by_family,
    failed: results
      .filter((result) => !result.ok)
      .map((result) => ({
        seed: result.seed,
        family: result.family,
        home: result.home,
        why: whyNot(result),
      })),
  };
}

/** One line on why a mission did not succeed. */
export function whyNot(result: MissionResult): string {
  const legs = result.legs.flatMap((leg, i) => (leg.ok ? [] : [`leg ${i + 1} ${leg.outcome}: ${leg.says}`]));
  const touched = result.collisions.map((what) => `touched ${what}`);
  const home = result.docked === true ? [] : ['not on its contacts at the end'];
  return [...result.defects, ...touched, ...legs, ...home].join('; ');
}

export function describeCampaign(report: CampaignReport): string {
  const table = new Table({ head: ['family', 'missions', 'succeeded'], style: { head: [], border: [] } });
  for (const [family, { missions, succeeded }] of Object.entries(report.by_family)) {
    table.push([family, missions, succeeded]);
  }
  const times = (value: number | null) => (value === null ? 'not measured' : `${value} ×`);
  return [
    table.toString(),
    `${report.succeeded} of ${report.missions} missions succeeded (${report.success_pct} %), ${report.legs_right} of ${report.legs} legs`,
    `collisions of our own: ${report.collisions}; docked at the end: ${report.docked} (${report.docking_pct} %); defects: ${report.defects}`,
    `time against the shortest way at full speed: ${times(report.time_ratio_clear_median)} undisturbed, ${times(report.time_ratio_median)} over all`,
    `${report.robot_hours} h of robot time in ${report.wall_s} s`,
    ...report.failed.map(({ seed, family, home, why }) => `seed ${seed} (${family}, ${home}): ${why}`),
  ].join('\n');
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return middle === undefined ? null : rounded(middle);
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded((100 * part) / whole);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
