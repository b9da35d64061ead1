/** Schedules as they stand in responses: the wire's snake_case, times in epoch ms. */
import { z } from 'zod';
import { isoWithOffset } from '../config/contracts/clock.js';
import { REASON_CODES } from '../config/contracts/reason-codes.js';
import { SOURCES } from '../config/contracts/wire/events.js';
import { workflowSchema } from '../config/contracts/wire/workflow.js';
import { RUN_STATES, type Run, SCHEDULE_STATES, type ScheduleRecord } from './task-manager/schedule/types.js';
import { offsetAt } from './task-manager/schedule/zone.js';

export const runView = z.strictObject({
  run_id: z.string(),
  scheduled_for: z.string(),
  state: z.enum(RUN_STATES),
  task_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  reason_code: z.enum(REASON_CODES).nullable(),
  message: z.string().nullable(),
  at_ms: z.number().describe('when it became what it is'),
});

export const scheduleView = z.strictObject({
  schedule_id: z.string(),
  title: z.string().nullable(),
  state: z.enum(SCHEDULE_STATES).describe('ENDED: it has no further time'),
  at: z.string().nullable(),
  cron: z.string().nullable(),
  rrule: z.string().nullable(),
  timezone: z.string(),
  missed_run_grace_ms: z.int(),
  kind: z.enum(['task', 'workflow']),
  method: z.string().nullable(),
  params: z.record(z.string(), z.unknown()).nullable(),
  workflow_id: z.string().nullable().describe('of the document; each run has an id of its own'),
  goal: z.string().nullable(),
  source: z.enum(SOURCES).describe('who made it'),
  created_at_ms: z.number(),
  next_run_at_ms: z.number().nullable(),
  next_run_at: z.string().nullable().describe('the same, in the time zone of the schedule'),
  blocked: runView.nullable().describe('the run that has come and cannot begin yet, and why'),
  last_run: runView.nullable(),
});
export type ScheduleView = z.infer<typeof scheduleView>;

export const scheduleDetailView = scheduleView.extend({ workflow: workflowSchema.nullable() });
export type ScheduleDetailView = z.infer<typeof scheduleDetailView>;

export function viewSchedule(record: ScheduleRecord): ScheduleView {
  const { request, nextAt } = record;
  const { schedule, target } = request;
  const task = target.kind === 'task' ? target : null;
  const document = target.kind === 'workflow' ? target.document : null;
  return {
    schedule_id: record.scheduleId,
    title: schedule.title ?? null,
    state: record.state,
    at: schedule.at ?? null,
    cron: schedule.cron ?? null,
    rrule: schedule.rrule ?? null,
    timezone: schedule.timezone,
    missed_run_grace_ms: request.graceMs,
    kind: target.kind,
    method: task?.method ?? null,
    params: task?.params ?? null,
    workflow_id: document?.workflow_id ?? null,
    goal: document?.goal ?? null,
    source: request.createdBy,
    created_at_ms: record.createdAt,
    next_run_at_ms: nextAt,
    next_run_at: nextAt === null ? null : inZone(nextAt, schedule.timezone),
    blocked: viewRun(record.blocked, schedule.timezone),
    last_run: viewRun(record.lastRun, schedule.timezone),
  };
}

export function viewScheduleInFull(record: ScheduleRecord): ScheduleDetailView {
  const { target } = record.request;
  return { ...viewSchedule(record), workflow: target.kind === 'workflow' ? target.document : null };
}

function viewRun(run: Run | null, zone: string): z.infer<typeof runView> | null {
  if (run === null) return null;
  return {
    run_id: run.runId,
    scheduled_for: inZone(run.scheduledFor, zone),
    state: run.state,
    task_id: run.taskId,
    workflow_id: run.workflowId,
    reason_code: run.reason,
    message: run.message,
    at_ms: run.at,
  };
}

function inZone(at: number, zone: string): string {
  return isoWithOffset(at, Math.round(offsetAt(zone, at) / 60_000));
}
