/** Schedules and their runs as they are kept. Values are never changed in place. */
import type { ReasonCode } from '../../../config/contracts/reason-codes.js';
import type { TaskMetadata } from '../../../config/contracts/wire/command.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';

/** When it runs. Local times are explained in `zone.ts`. */
export type Rule =
  | { kind: 'at'; atMs: number }
  | { kind: 'cron'; pattern: string }
  /** `anchorLocal`: DTSTART, or the minute of acceptance. */
  | { kind: 'rrule'; text: string; anchorLocal: number };

/** What a run does. */
export type Target =
  | { kind: 'task'; method: string; params: Record<string, unknown>; task: TaskMetadata }
  | { kind: 'workflow'; document: WorkflowDocument; traceId: string | null };

/** What was asked for; never changes. */
export interface ScheduleRequest {
  rule: Rule;
  timezone: string;
  graceMs: number;
  title: string | null;
  target: Target;
  /** Who made it: a run may do no more than its creator. */
  createdBy: Source;
  correlationId: string | null;
}

/** `ENDED`: it has no further occurrence. */
export type ScheduleState = 'ACTIVE' | 'PAUSED' | 'ENDED';

export interface Schedule {
  n: number;
  scheduleId: string;
  state: ScheduleState;
  /** The next occurrence, robot time, epoch ms; null: none, or paused. */
  nextAt: number | null;
  /** Occurrences up to here are settled: run, or reported. */
  settledAt: number;
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

/** What tasks, workflows and events of a run carry. */
export interface RunLabel {
  scheduleId: string;
  runId: string;
  /** ISO 8601 with the offset of the schedule's zone. */
  scheduledFor: string;
  createdBy: Source;
}
