/** How the cleaning machine's context changes, and what it concludes from fan and air; pure. */
import { reachesGrade } from '../../config/contracts/air.js';
import type { FanReading } from '../../drivers/serial/types.js';
import type { AirSample, CleaningMode } from '../cleaning-types.js';
import type { MachineSettings } from '../settings.js';
import type { MachineArgs } from '../tools.js';
import type {
  CleaningContext,
  CleaningEnding,
  CleaningEvent,
  CleaningJob,
  CleaningOutcome,
  Interrupted,
} from './types.js';

export type Args = MachineArgs<CleaningContext, CleaningEvent>;

export const OFF: CleaningContext = {
  job: null,
  held: false,
  interrupted: null,
  percent: 0,
  ranMs: 0,
  countedAt: null,
  goodAt: 0,
  setAt: 0,
  peakRpm: 0,
  before: null,
  air: null,
  gradeSince: null,
  lookFrom: 0,
  fault: null,
  ending: null,
  lastAction: null,
};

/** What is left of a cleaning that neither came to its end nor failed. */
export function interruptedBy(context: CleaningContext): Interrupted | null {
  const { job, ranMs, before, held, ending } = context;
  if (job === null || (ending !== null && ending.kind !== 'stopped')) return null;
  return { job, ranMs, before, held };
}

export function jobOf(context: CleaningContext): CleaningJob {
  if (context.job === null) throw new Error('cleaning has no job');
  return context.job;
}

/** `auto` follows the air: quiet while it is good, harder the worse it is, its own set-point otherwise. */
function percentFor(mode: CleaningMode, air: AirSample | null, settings: MachineSettings): number {
  const { percent } = settings.cleaning;
  if (mode !== 'auto' || air === null || !air.usable) return percent[mode];
  switch (air.grade) {
    case 'good':
      return percent.quiet;
    case 'bad':
      return (percent.auto + percent.turbo) / 2;
    case 'very_bad':
      return percent.turbo;
    default:
      return percent.auto;
  }
}

export function begin({ event }: Args, settings: MachineSettings): Partial<CleaningContext> {
  if (event.type !== 'GO') return {};
  const { job, ranMs, before, held } = event;
  return {
    ...OFF,
    held,
    job,
    ranMs,
    before,
    air: before,
    gradeSince: meetsGrade(before, job) ? event.at : null,
    percent: percentFor(job.mode, before, settings),
    lastAction: 'started',
  };
}

/** Within a run the automatic set-point only rises: it does not hunt around a limit of the bands. */
export function followAir({ context, event }: Args, settings: MachineSettings): Partial<CleaningContext> {
  if (event.type !== 'AIR') return {};
  const air = event.sample;
  const job = jobOf(context);
  const gradeSince = meetsGrade(air, job) ? (context.gradeSince ?? event.at) : null;
  const wanted = percentFor(job.mode, air, settings);
  if (wanted <= context.percent) return { air, gradeSince };
  return { air, gradeSince, percent: wanted, setAt: event.at };
}

export function airRaises({ context, event }: Args, settings: MachineSettings): boolean {
  if (event.type !== 'AIR') return false;
  return percentFor(jobOf(context).mode, event.sample, settings) > context.percent;
}

export function changeMode({ context, event }: Args, settings: MachineSettings): Partial<CleaningContext> {
  if (event.type !== 'MODE') return {};
  const job = { ...jobOf(context), mode: event.mode };
  return { job, percent: percentFor(event.mode, context.air, settings), setAt: event.at, countedAt: null };
}

/** The speed is what the set-point asks for, as read back after it was set. */
export function atSetPoint(
  reading: FanReading,
  context: CleaningContext,
  settings: MachineSettings,
): boolean {
  const { fullRpm, reached } = settings.cleaning;
  if (reading.fault || reading.at < context.lookFrom || context.percent <= 0) return false;
  return reading.rpm >= ((fullRpm * context.percent) / 100) * reached;
}

export function isAtRest(reading: FanReading, context: CleaningContext): boolean {
  return reading.rpm === 0 && reading.at >= context.lookFrom;
}

/** Adds the time since the last reading that counted: only a fan seen running cleans. */
export function count({ context, event }: Args, settings: MachineSettings): Partial<CleaningContext> {
  if (event.type !== 'FAN') return {};
  const { reading } = event;
  if (!atSetPoint(reading, context, settings)) return { countedAt: null };
  const since = context.countedAt === null ? 0 : reading.at - context.countedAt;
  const counts = since > 0 && since <= settings.cleaning.freshMs ? since : 0;
  return {
    ranMs: context.ranMs + counts,
    countedAt: reading.at,
    goodAt: reading.at,
    peakRpm: Math.max(context.peakRpm, reading.rpm),
  };
}

/** Milliseconds run once this reading is counted. */
function ranWith(args: Args, settings: MachineSettings): number {
  return count(args, settings).ranMs ?? args.context.ranMs;
}

/** How the cleaning ends with this reading, or null while it goes on. */
export function endingAt(args: Args, settings: MachineSettings): CleaningEnding | null {
  const { context } = args;
  const job = jobOf(context);
  const ran = ranWith(args, settings);
  if (ran < job.dwellMs) return null;
  if (job.untilGrade === null) return { kind: 'completed', gradeReached: null };
  if (gradeReached(args, settings)) return { kind: 'completed', gradeReached: true };
  return ran >= job.maxTimeMs ? { kind: 'completed', gradeReached: false } : null;
}

export function dwellOver(args: Args, settings: MachineSettings): boolean {
  return ranWith(args, settings) >= jobOf(args.context).dwellMs;
}

/** Good enough for a while: a reading that dips below a limit is no change of the air. */
function gradeReached({ context, event }: Args, settings: MachineSettings): boolean {
  const { gradeSince } = context;
  return gradeSince !== null && event.at - gradeSince >= settings.cleaning.gradeHoldMs;
}

function meetsGrade(air: AirSample, { untilGrade }: CleaningJob): boolean {
  if (!air.usable || air.grade === null || untilGrade === null) return false;
  return reachesGrade(air.grade, untilGrade);
}

/** True when a running fan has been slow, or silent, for too long. */
export function isSlack({ context, event }: Args, settings: MachineSettings): boolean {
  const since = Math.max(context.goodAt, context.setAt, context.lookFrom);
  return event.at - since > settings.cleaning.silentMs;
}

export function notSpinning(reading: FanReading | null, percent: number): string {
  if (reading === null) return 'the fan does not report its speed: check its cable and power';
  if (reading.fault) return `the fan reports a fault (at ${reading.rpm} rpm)`;
  return `the fan turns at ${reading.rpm} rpm instead of its set-point of ${percent} %`;
}

export function progress({ context }: Args): Record<string, unknown> {
  const job = jobOf(context);
  const remaining = Math.max(0, job.dwellMs - context.ranMs);
  return {
    remaining_s: Math.round(remaining / 1000),
    ran_s: Math.round(context.ranMs / 1000),
    grade: context.air?.usable === true ? context.air.grade : null,
    percent: context.percent,
  };
}

export function outcome({ context, event }: Args): CleaningOutcome {
  const reading = event.type === 'FAN' ? event.reading : null;
  return {
    ending: context.ending ?? { kind: 'stopped' },
    ranMs: context.ranMs,
    peakRpm: context.peakRpm,
    before: context.before,
    rest: reading === null ? null : { rpm: reading.rpm, at: reading.at },
  };
}

/** Robot time was set: what was remembered in it moves along. */
export function shiftTimes({ context, event }: Args): Partial<CleaningContext> {
  if (event.type !== 'CLOCK_SET') return {};
  const { by } = event;
  const moved = (at: number | null) => (at === null ? null : at + by);
  return {
    countedAt: moved(context.countedAt),
    goodAt: context.goodAt + by,
    setAt: context.setAt + by,
    gradeSince: moved(context.gradeSince),
    lookFrom: context.lookFrom + by,
  };
}
