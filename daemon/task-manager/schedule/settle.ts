/**
 * Settles occurrences: each becomes a run, or is reported as missed. The run's row, its task or workflow, its event and
 * the move of the schedule's next time are one store transaction, so there is exactly one of them whatever happens.
 */
import { isoWithOffset } from '../../../config/contracts/clock.js';
import type { Refusal } from '../../../config/contracts/errors.js';
import type { Ids } from '../../../config/contracts/ids.js';
import { isTaskReason, type TaskReason } from '../../../config/contracts/reason-codes.js';
import type { Canceller } from '../canceller.js';
import { refusedOutcome } from '../lifecycle.js';
import type { EventDetail, EventSubject, TaskEvents } from '../task-events.js';
import { admitRun, type RunAdmission, type RunAdmissionDeps } from './admission.js';
import { nextOccurrence, occurrencesOf } from './occurrence.js';
import type { ScheduleTable } from './schedule-table.js';
import type { Run, RunLabel, Schedule } from './types.js';
import { offsetAt } from './zone.js';

export interface SettleDeps extends RunAdmissionDeps {
  table: ScheduleTable;
  events: TaskEvents;
  ids: Pick<Ids, 'make'>;
}

/** So many missed runs at once are told one by one; more are told as one, with their number. */
const TOLD_ALONE = 10;
/** Missed runs are counted up to here; beyond, the report says "at least". */
const COUNTED = 500;

/** `occurrences`: how many were looked at, for the budget of a turn. */
export interface Settled {
  occurrences: number;
}

/** The next occurrence has come: run it, or report what is too late. Inside a `write`. */
export function settleDue(schedule: Schedule, nowMs: number, deps: SettleDeps): Settled {
  const at = schedule.nextAt;
  if (at === null) return { occurrences: 0 };
  if (at < nowMs - schedule.request.graceMs) return miss(schedule, at, nowMs, deps);
  const run = newRun(schedule, at, nowMs, deps);
  if (!deps.table.insertRun(run)) {
    advance(schedule, at, deps);
    return { occurrences: 1 };
  }
  const admission = admitRun(schedule.request, labelOf(schedule, run), nowMs, deps);
  if (admission.as === 'blocked') {
    const { message } = admission;
    deps.table.updateRun(run, { state: 'BLOCKED', reason: 'TASK_MANAGER_BUSY', message });
    deps.table.update(schedule, { blockedRun: run.runId });
    tell(schedule, run, 'BLOCKED', { reason: 'TASK_MANAGER_BUSY', message }, deps, 1);
  } else conclude(schedule, run, admission, nowMs, deps);
  return { occurrences: 1 };
}

/** A blocked run is tried again, or given up when its grace is over. True when it is settled. Inside a `write`. */
export function settleBlocked(schedule: Schedule, nowMs: number, deps: SettleDeps): boolean {
  const run = schedule.blockedRun === null ? null : deps.table.getRun(schedule.blockedRun);
  if (run === null) {
    deps.table.update(schedule, { blockedRun: null });
    return true;
  }
  // The clock was put back since: its time is still to come.
  if (nowMs < run.scheduledFor) return false;
  if (run.scheduledFor < nowMs - schedule.request.graceMs) {
    giveUp(schedule, run, nowMs, deps);
    return true;
  }
  const admission = admitRun(schedule.request, labelOf(schedule, run), nowMs, deps);
  if (admission.as === 'blocked') return false;
  conclude(schedule, run, admission, nowMs, deps);
  return true;
}

/** The run of an occurrence met a defect; it is over, and so is what was half done. Inside a `write` of its own. */
export function settleBroken(schedule: Schedule, refusal: Refusal, nowMs: number, deps: SettleDeps): void {
  const at = schedule.nextAt ?? nowMs;
  const blocked = schedule.blockedRun === null ? null : deps.table.getRun(schedule.blockedRun);
  const run = blocked ?? newRun(schedule, at, nowMs, deps);
  if (blocked === null && !deps.table.insertRun(run)) advance(schedule, at, deps);
  else conclude(schedule, run, { as: 'refused', refusal }, nowMs, deps);
}

/** Nobody tries a blocked run again: its schedule is paused or removed. Inside a `write`. */
export function withdraw(schedule: Schedule, by: Canceller, nowMs: number, deps: SettleDeps): Schedule {
  const run = schedule.blockedRun === null ? null : deps.table.getRun(schedule.blockedRun);
  if (run === null) return schedule;
  const reason = `CANCELLED_BY_${by}` as const;
  const message = 'its schedule was paused or removed before it could begin';
  deps.table.updateRun(run, { state: 'CANCELLED', reason, message, at: nowMs });
  const evidence = { stopped: true, never_started: true, observed_at_ms: nowMs };
  tell(schedule, run, 'CANCELLED', { reason, message, evidence }, deps);
  return deps.table.update(schedule, { blockedRun: null, settledAt: run.scheduledFor });
}

function conclude(
  schedule: Schedule,
  run: Run,
  admission: Exclude<RunAdmission, { as: 'blocked' }>,
  nowMs: number,
  deps: SettleDeps,
): void {
  if (admission.as === 'submitted') {
    // What ended while it was submitted has said so already.
    const current = deps.table.getRun(run.runId) ?? run;
    const { taskId, workflowId } = admission;
    const begun = { state: 'SUBMITTED', reason: null, message: null } as const;
    const over = current.state !== 'SUBMITTED' && current.state !== 'BLOCKED';
    deps.table.updateRun(current, { ...(over ? {} : begun), taskId, workflowId, at: nowMs });
  } else {
    const { reason, message } = admission.refusal;
    deps.table.updateRun(run, { state: 'REFUSED', reason, message, at: nowMs });
    const told = refusedOutcome(admission.refusal);
    const observedAtMs = told.observedAtMs;
    tell(schedule, run, 'FAILED', { reason: told.reason, message, observedAtMs }, deps);
  }
  advance(schedule, run.scheduledFor, deps);
}

/** Everything that is over its grace by now. */
function miss(schedule: Schedule, first: number, nowMs: number, deps: SettleDeps): Settled {
  const { rule, graceMs, schedule: spec } = schedule.request;
  const cutoff = nowMs - graceMs;
  const after = occurrencesOf(rule, spec.timezone);
  const missed: number[] = [];
  let next: number | null = first;
  while (next !== null && next < cutoff && missed.length < COUNTED) {
    missed.push(next);
    next = after(next);
  }
  if (missed.length <= TOLD_ALONE) {
    for (const at of missed) giveUpNew(schedule, at, nowMs, {}, deps);
  } else {
    const more = next !== null && next < cutoff;
    const last = more ? cutoff - 1 : (missed.at(-1) ?? first);
    const evidence = {
      [more ? 'missed_at_least' : 'missed']: missed.length,
      first_scheduled_for: iso(schedule, first),
      last_scheduled_for: more ? null : iso(schedule, last),
      missed_until: iso(schedule, last),
    };
    giveUpNew(schedule, first, nowMs, evidence, deps);
    if (more) next = after(last);
  }
  moveTo(schedule, next === null ? (missed.at(-1) ?? first) : Math.min(cutoff - 1, next - 1), next, deps);
  return { occurrences: missed.length };
}

function giveUpNew(
  schedule: Schedule,
  at: number,
  nowMs: number,
  evidence: Record<string, unknown>,
  deps: SettleDeps,
): void {
  const run = newRun(schedule, at, nowMs, deps);
  if (!deps.table.insertRun(run)) return;
  missedRun(schedule, run, nowMs, evidence, deps, 1);
}

function giveUp(schedule: Schedule, run: Run, nowMs: number, deps: SettleDeps): void {
  missedRun(schedule, run, nowMs, {}, deps, 2);
  advance(schedule, run.scheduledFor, deps);
}

/** `n`: which BLOCKED of this run it is. */
function missedRun(
  schedule: Schedule,
  run: Run,
  nowMs: number,
  evidence: Record<string, unknown>,
  deps: SettleDeps,
  n: number,
): void {
  const reason = 'MISSED_RUN_EXPIRED';
  const late = `it could not begin within ${schedule.request.graceMs} ms of its time`;
  const { missed, missed_at_least: least } = evidence;
  const count = least === undefined ? missed : `at least ${String(least)}`;
  const message = count === undefined ? late : `${String(count)} runs: none could begin within its grace`;
  deps.table.updateRun(run, { state: 'MISSED', reason, message, at: nowMs });
  const detail = Object.keys(evidence).length === 0 ? {} : { evidence };
  tell(schedule, run, 'BLOCKED', { reason, message, ...detail }, deps, n);
}

function advance(schedule: Schedule, settledAt: number, deps: SettleDeps): void {
  const { rule, schedule: spec } = schedule.request;
  moveTo(schedule, settledAt, nextOccurrence(rule, spec.timezone, settledAt), deps);
}

function moveTo(schedule: Schedule, settledAt: number, nextAt: number | null, deps: SettleDeps): void {
  const state = nextAt === null ? 'ENDED' : schedule.state;
  deps.table.update(schedule, { state, nextAt, settledAt, blockedRun: null });
}

function newRun(schedule: Schedule, at: number, nowMs: number, { ids }: SettleDeps): Run {
  return {
    runId: ids.make('run'),
    scheduleN: schedule.n,
    scheduledFor: at,
    state: 'SUBMITTED',
    taskId: null,
    workflowId: null,
    reason: null,
    message: null,
    at: nowMs,
  };
}

function labelOf(schedule: Schedule, run: Run): RunLabel {
  const { scheduleId } = schedule;
  return { scheduleId, runId: run.runId, scheduledFor: iso(schedule, run.scheduledFor) };
}

function iso({ request }: Schedule, at: number): string {
  return isoWithOffset(at, Math.round(offsetAt(request.schedule.timezone, at) / 60_000));
}

/** An event of the run itself: it has no task or workflow that could say it. */
function tell(
  schedule: Schedule,
  run: Run,
  event: 'BLOCKED' | 'FAILED' | 'CANCELLED',
  detail: EventDetail & { reason: TaskReason | null },
  { events }: SettleDeps,
  n?: number,
): void {
  const { target, correlationId } = schedule.request;
  const subject: EventSubject = {
    taskId: null,
    method: target.kind === 'task' ? target.method : null,
    attempt: 1,
    workflowId: null,
    stepId: null,
    planId: target.kind === 'workflow' ? (target.document.plan_id ?? null) : null,
    cloudOutputKey: target.kind === 'task' ? (target.task.cloud_output_key ?? null) : null,
    source: 'SCHEDULE',
    correlationId,
    traceId: (target.kind === 'task' ? target.task.traceId : target.traceId) ?? null,
    run: labelOf(schedule, run),
  };
  const reason = detail.reason !== null && isTaskReason(detail.reason) ? detail.reason : null;
  events.publish(event, subject, { ...detail, reason }, n);
}
