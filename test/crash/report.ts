/** The verdict on a run: what was lost, doubled, out of order or still moving, and how it is told. */
import type { CommandBook } from './command-book.js';
import type { DatabaseFindings } from './database.js';
import type { EventBook } from './event-book.js';
import { STOP_WITHIN_MS, type Stop, type Target, withinBound } from './motion.js';

/** A kill that was carried out. */
export interface KillRecord {
  target: Target;
  /** The step of the main job that ran, or `none`. */
  step: string;
  /** `at random`, or the point at which the daemon died by order. */
  moment: string;
  /** From the kill until commands were accepted again, ms; null where the next kill came before that. */
  readyMs: number | null;
}

export interface RunFacts {
  seed: number;
  baseWatchdog: boolean;
  durationMs: number;
  kills: readonly KillRecord[];
  stops: readonly Stop[];
  events: EventBook;
  commands: CommandBook;
  database: DatabaseFindings;
  /** Of the broker and its protocol, e.g. `mosquitto, MQTT 5`. */
  broker: string;
  brokerRestarts: number;
  brokerForgot: number;
  troubles: Readonly<Record<string, number>>;
  /** Why the disk could not be filled; null where it was. */
  diskNotFilled: string | null;
  /** Tasks of an earlier version's database, which have to end as well. */
  inherited: readonly string[];
  /** Real `deviceagent` processes that asked for something. */
  commandLines: number;
  /** After everything, the robot drove home when it was told to. */
  stillWorks: boolean;
  /** What went wrong with the run itself, such as a daemon that did not come back. */
  trouble: readonly string[];
}

export interface CrashReport {
  kills: number;
  accepted_lost: number;
  events_lost: number;
  out_of_order: number;
  second_terminals: number;
  corrupt_dbs: number;
  /** Of kills of the daemon, while a motion process was there to stop the wheels. */
  motion_after_kill_ms_max: number;
  seed: number;
  ok: boolean;
  /** Keys or numbers that came with two bodies. */
  key_conflicts: number;
  dead_letters: number;
  malformed: number;
  unanswered: number;
  answer_conflicts: number;
  internal_errors: number;
  /** Kills after which the base was never told to stand still. */
  not_stopped: number;
  motion_over_bound: number;
  /** Part of `motion_after_kill_ms_max` that the simulator may have taken to read its line. */
  motion_granularity_ms: number;
  /** How late processes ran on this machine during that time, ms. */
  machine_lag_ms: number;
  /** How often the wheels turned when the daemon was killed. */
  kills_while_moving: number;
  /**
   * Where nobody was left to stop the wheels: until the next motion process did, or the base's own watchdog. Of kills
   * of the motion process alone, and of those that left no daemon either to start another one.
   */
  residual_motion_ms: Record<'rt' | 'both', ResidualMotion>;
  kills_by_target: Record<string, number>;
  kills_by_step: Record<string, number>;
  kills_by_moment: Record<string, number>;
  ready_ms: { median: number | null; max: number | null };
  base_watchdog: boolean;
  commands: number;
  /** One-shot schedules that were accepted; each has run once. */
  schedules: number;
  command_lines: number;
  accepted: number;
  rejected: number;
  events: number;
  repeats: number;
  telemetry: number;
  ends: Record<string, number>;
  brokers: string[];
  broker_restarts: number;
  broker_forgot: number;
  /** What went wrong around the robot, and how often. */
  troubles: Record<string, number>;
  /** What could not be tried here, and why. */
  skipped: string[];
  still_works: boolean;
  duration_s: number;
  problems: string[];
}

export interface ResidualMotion {
  kills: number;
  /** Of them, while the wheels turned. */
  moving: number;
  median: number | null;
  max: number | null;
}

const SHOWN_PROBLEMS = 40;

export function judge(facts: RunFacts): CrashReport {
  const { events, commands, stops, kills, database } = facts;
  const lostWork = [...lostPromises(facts), ...neverEnded(facts)];
  const lostEvents = missingEvents(facts);
  const internal = events.ends.filter((end) => end.reasonCode === 'INTERNAL_ERROR');
  const guarded = stops.filter((stop) => stop.hazard === 'guarded');
  const late = stops.filter((stop) => !withinBound(stop));
  const worst = guarded.reduce<Stop | null>((max, s) => ((s.ms ?? 0) > (max?.ms ?? 0) ? s : max), null);
  const answers = commands.all.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  const { counts } = events;
  const report: Omit<CrashReport, 'ok'> = {
    kills: kills.length,
    accepted_lost: lostWork.length,
    events_lost: lostEvents.length,
    out_of_order: events.count('out_of_order'),
    second_terminals: events.count('second_terminal'),
    corrupt_dbs: database.corrupt + Math.max(0, events.epochs.length - 1),
    motion_after_kill_ms_max: Math.round(worst?.ms ?? 0),
    seed: facts.seed,
    key_conflicts: events.count('key_conflict'),
    dead_letters: events.count('dead_letter'),
    malformed: events.count('malformed'),
    unanswered: commands.unanswered.length,
    answer_conflicts: commands.problems.length,
    internal_errors: internal.length,
    not_stopped: stops.filter((stop) => stop.ms === null).length,
    motion_over_bound: late.length,
    motion_granularity_ms: Math.round(worst?.granularityMs ?? 0),
    machine_lag_ms: Math.round(worst?.lagMs ?? 0),
    kills_while_moving: guarded.filter((stop) => stop.wasMoving).length,
    residual_motion_ms: {
      rt: residual(stops.filter((_, i) => kills[i]?.target === 'rt')),
      both: residual(stops.filter((_, i) => kills[i]?.target !== 'rt')),
    },
    kills_by_target: countBy(kills, ({ target }) => target),
    kills_by_step: countBy(kills, ({ step }) => step),
    kills_by_moment: countBy(kills, ({ moment }) => moment),
    ready_ms: medianAndMax(kills.flatMap(({ readyMs }) => (readyMs === null ? [] : [readyMs]))),
    base_watchdog: facts.baseWatchdog,
    commands: commands.all.length,
    schedules: commands.schedules.length,
    command_lines: facts.commandLines,
    accepted: answers.filter(({ status }) => status === 'accepted').length,
    rejected: answers.filter(({ status }) => status === 'rejected').length,
    ...counts,
    ends: countBy(events.ends, ({ event, reasonCode }) =>
      reasonCode === null ? event : `${event} ${reasonCode}`,
    ),
    brokers: [facts.broker],
    troubles: { ...facts.troubles },
    skipped: facts.diskNotFilled === null ? [] : [`full disk: ${facts.diskNotFilled}`],
    broker_restarts: facts.brokerRestarts,
    broker_forgot: facts.brokerForgot,
    still_works: facts.stillWorks,
    duration_s: Math.round(facts.durationMs / 1000),
    problems: [
      ...facts.trouble,
      ...lostWork,
      ...lostEvents,
      ...[...events.problems, ...commands.problems].map(({ kind, text }) => `${kind}: ${text}`),
      ...commands.unanswered.map(({ id, what }) => `unanswered: ${id} (${what})`),
      ...internal.map(({ taskId, workflowId, message }) => `defect: ${taskId ?? workflowId}: ${message}`),
      ...database.problems.map((text) => `database: ${text}`),
      ...late.map((stop) => `motion: ${stop.ms === null ? 'never stopped' : `${Math.round(stop.ms)} ms`}`),
      ...(facts.stillWorks ? [] : ['at the end the robot did not drive home']),
    ].slice(0, SHOWN_PROBLEMS),
  };
  return { ...report, ok: report.problems.length === 0 };
}

/** Accepted work without its one end, and schedules whose time has passed without a run. */
function lostPromises({ commands, events }: RunFacts): string[] {
  const work = commands.promises
    .filter(({ id }) => events.endOf(id) === null)
    .map(({ command, id }) => `accepted and never ended: ${id} (${command.what})`);
  const schedules = commands.schedules
    .filter((id) => events.runsOf(id).length === 0)
    .map((id) => `accepted and never run: schedule ${id}`);
  return [...work, ...schedules];
}

/** Steps and the like: what was seen to start has to end too, and so does what the robot believes to be under way. */
function neverEnded({ commands, events, database, inherited }: RunFacts): string[] {
  const promised = new Set(commands.promises.map(({ id }) => id));
  const open = [...events.started, ...database.unfinished, ...inherited].filter(
    (id) => !promised.has(id) && events.endOf(id) === null,
  );
  return [...new Set(open)].map((id) => `started and never ended: ${id}`);
}

function missingEvents({ events, database }: RunFacts): string[] {
  return events.epochs.flatMap((epoch) => {
    const current = epoch === database.epoch;
    return events
      .missing(epoch, current ? database.nextSeq - 1 : undefined)
      .filter((seq) => !current || !database.pendingSeqs.has(seq))
      .map((seq) => `event lost: seq ${seq} of ${epoch}`);
  });
}

function residual(stops: readonly Stop[]): ResidualMotion {
  const all = stops.filter((stop) => stop.hazard === 'residual');
  const moving = all.filter((stop) => stop.wasMoving);
  const times = moving.flatMap(({ ms }) => (ms === null ? [] : [ms]));
  return { kills: all.length, moving: moving.length, ...medianAndMax(times) };
}

function medianAndMax(values: readonly number[]): { median: number | null; max: number | null } {
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const max = sorted.at(-1);
  return { median: rounded(median), max: rounded(max) };
}

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

/** For people. */
export function describeReport(report: CrashReport): string {
  const { residual_motion_ms: residualMotion } = report;
  const rows: [string, string | number][] = [
    ['kills', `${report.kills} (${listed(report.kills_by_target)})`],
    ['in the step', listed(report.kills_by_step)],
    ['at the moment', listed(report.kills_by_moment)],
    ['accepted and lost', report.accepted_lost],
    ['events lost', report.events_lost],
    ['out of order', report.out_of_order],
    ['second terminal events', report.second_terminals],
    ['keys with two bodies', report.key_conflicts],
    ['unanswered commands', report.unanswered],
    ['corrupted databases', report.corrupt_dbs],
    [
      'motion after a kill',
      `at most ${report.motion_after_kill_ms_max} ms (bound ${STOP_WITHIN_MS} ms + ${report.motion_granularity_ms} ms of measurement, the machine was late by ${report.machine_lag_ms} ms), ` +
        `${report.kills_while_moving} kills while it moved`,
    ],
    ['motion process killed', describeResidual(residualMotion.rt)],
    ['both killed', describeResidual(residualMotion.both)],
    [
      'ready again',
      `after ${report.ready_ms.median ?? '–'} ms (median), ${report.ready_ms.max ?? '–'} ms (longest)`,
    ],
    [
      'load',
      `${report.commands} commands: ${report.accepted} accepted, ${report.rejected} rejected; ${report.schedules} schedules, ${report.command_lines} command lines`,
    ],
    ['received', `${report.events} events, ${report.repeats} repeats, ${report.telemetry} telemetry`],
    ['ends', listed(report.ends)],
    ['brokers', report.brokers.join(', ')],
    ['troubles', listed(report.troubles)],
    ...(report.skipped.length === 0 ? [] : [['SKIPPED', report.skipped.join('; ')] as [string, string]]),
    ['broker', `${report.broker_restarts} restarts, ${report.broker_forgot} of them without sessions`],
    ['in the end', report.still_works ? 'it drove home' : 'it did NOT drive home'],
    ['seed', `${report.seed}, ${report.duration_s} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  const problems = report.problems.map((problem) => `✗ ${problem}`);
  return [
    ...lines,
    ...problems,
    report.ok ? '✓ nothing lost, nothing doubled' : '✗ not as it should be',
  ].join('\n');
}

function describeResidual({ kills, moving, median, max }: ResidualMotion): string {
  if (moving === 0) return `${kills} times, never while it moved`;
  return `${kills} times, ${moving} of them while it moved: stopped by the next one after ${median} ms (median), ${max} ms (longest)`;
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');
}
