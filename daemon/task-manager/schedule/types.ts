/** Schedules and their runs: as they are kept, and as callers see them. Values are never changed in place. */
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import type { TaskMetadata } from '../../../config/contracts/wire/command.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import type { ScheduleSpec } from '../../../config/contracts/wire/schedule.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import type { Canceller } from '../canceller.js';

/** A rule on local time, which knows no zone. */
export interface LocalRule {
  /** The first local time at or after `fromLocal`, or null when there is none within the rule's horizon. */
  next(fromLocal: number): number | null;
}

/** When it runs. Local times are explained in `zone.ts`. */
export type Rule =
  | { kind: 'at'; atMs: number }
  | { kind: 'cron'; pattern: string }
  /** `anchorLocal`: stands for DTSTART where the rule has none: the minute of acceptance. */
  | { kind: 'rrule'; text: string; anchorLocal: number };

/** What a run does. */
export type Target =
  | { kind: 'task'; method: string; params: Record<string, unknown>; task: TaskMetadata }
  | { kind: 'workflow'; document: WorkflowDocument; traceId: string | null };

/** Already judged by policy, for its creator and for what acts for it. */
export interface AddSchedule {
  schedule: ScheduleSpec;
  target: Target;
  /** Who made it: a run may do no more than its creator. */
  createdBy: Source;
  correlationId: string | null;
}

/** What was asked for; never changes. */
export interface ScheduleRequest extends AddSchedule {
  rule: Rule;
  graceMs: number;
}

/** `ENDED`: it has no further occurrence. */
export const SCHEDULE_STATES = ['ACTIVE', 'PAUSED', 'ENDED'] as const;
export type ScheduleState = (typeof SCHEDULE_STATES)[number];

export interface Schedule {
  n: number;
  scheduleId: string;
  state: ScheduleState;
  /** The first occurrence that is not settled, robot time, epoch ms; null: none, or paused. */
  nextAt: number | null;
  /** Occurrences up to here are settled: run, reported as missed, or passed over while it was paused. */
  settledAt: number;
  /** The run of `nextAt` while it is BLOCKED. */
  blockedRun: string | null;
  request: ScheduleRequest;
  createdAt: number;
}

/**
 * `BLOCKED`: admitted later, while its grace lasts. `SUBMITTED`: its task or workflow exists. The others are its
 * end: as its task or workflow ended, `REFUSED` when none could be made of it, `MISSED` when its grace was over.
 */
export const RUN_STATES = [
  'BLOCKED',
  'SUBMITTED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REFUSED',
  'MISSED',
] as const;
export type RunState = (typeof RUN_STATES)[number];

export interface Run {
  runId: string;
  scheduleN: number;
  /** The occurrence, epoch ms. */
  scheduledFor: number;
  state: RunState;
  taskId: string | null;
  workflowId: string | null;
  reason: ReasonCode | null;
  message: string | null;
  /** When it became what it is. */
  at: number;
}

/** What the task or workflow of a run carries, and its events. */
export interface RunLabel {
  scheduleId: string;
  runId: string;
  /** ISO 8601 with the offset of the schedule's zone. */
  scheduledFor: string;
}

export interface ScheduleRecord extends Pick<Schedule, 'scheduleId' | 'state' | 'nextAt' | 'createdAt'> {
  request: ScheduleRequest;
  /** The run that could not be admitted yet. */
  blocked: Run | null;
  /** The newest run that was admitted, refused or missed. */
  lastRun: Run | null;
}

/** What others do with schedules. Calls that change something join the caller's transaction. */
export interface ScheduleBook {
  /** Throws `Refusal`; INVALID_PARAMS names the field below `schedule`. */
  add(request: AddSchedule): ScheduleRecord;
  /** Nothing of it runs until it is resumed; what falls into that time does not run later. Throws `Refusal`. */
  pause(scheduleId: string, by: Canceller): void;
  resume(scheduleId: string): void;
  /** Runs that began go on. */
  remove(scheduleId: string, by: Canceller): void;
  get(scheduleId: string): ScheduleRecord | null;
  /** Newest first. */
  list(limit: number): ScheduleRecord[];
}
