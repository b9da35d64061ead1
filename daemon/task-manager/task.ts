/** A task as the TaskManager keeps it. Values are never changed in place: a change makes a new row. */
import { isoWithOffset } from '../../config/contracts/clock.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { Resource, ResourceClaim } from '../../executors/method.js';
import type { Decision } from '../policy/decide.js';
import type { RunLabel } from './schedule/types.js';
import type { TaskRecord, TaskState } from './types.js';

/** What was asked for, defaults filled in. Never changes. */
export interface TaskRequest {
  method: string;
  /** As they came: `MethodSpec.params` parses them again after a restart. */
  params: Record<string, unknown>;
  priority: number;
  queueKey: string;
  executionMode: 'QUEUED' | 'IMMEDIATE' | 'PARALLEL';
  preemptPolicy: 'NONE' | 'PREEMPT_LOWER' | 'PREEMPT_SAME_QUEUE';
  failurePolicy: 'ABORT' | 'CONTINUE' | 'RETRY' | 'COMPENSATE' | 'REPLAN';
  compensationMethod: string | null;
  /** Where it has to be done; null: wherever its method does it. */
  completionAreaId: string | null;
  /** Counted from STARTED, ms. */
  timeoutMs: number;
  cancellable: boolean;
  dryRun: boolean;
  source: Source;
  /** Who wanted it: the source itself, or whom a schedule or a long-running goal acts for. */
  origin: Source;
  /** The approval whose effect it takes back. */
  undoes: string | null;
  /** What policy said when it was taken; null: not asked (yet), or taken before there was a policy. */
  decision: Decision | null;
  legacy: boolean;
  correlationId: string | null;
  traceId: string | null;
  /** Labels for events: the cloud's own, or those of the workflow whose step it is. */
  workflowId: string | null;
  stepId: string | null;
  planId: string | null;
  cloudOutputKey: string | null;
  /** The run of a schedule that it is, or that its workflow is. */
  run: RunLabel | null;
  /** Set when the workflow engine waits for it. */
  role: 'step' | 'compensation' | null;
}

/** Why a task is being stopped, and how it ends once the stop is proven. */
export interface Stopping {
  as: 'CANCELLED' | 'FAILED';
  reason: TaskReason;
  message: string;
  observedAtMs: number | null;
}

/** What keeps a paused task from going on: nobody resumed it yet, or another task that took its place is not over. */
export type PausedUntil = 'resumed' | { ended: string };

/** The pause of a task, and what is left of it once the task goes on. */
export interface TaskPause {
  /** Null: it goes on, or goes on as soon as its stop is proven. */
  until: PausedUntil | null;
  /** True from the request until the stop is proven; the task is STARTED meanwhile. */
  asked: boolean;
  /** The task that it last gave way to; null: it was paused on request. */
  preemptor: string | null;
  /** What showed that it stood still; null before that, and when nothing of it had run. */
  proof: Record<string, unknown> | null;
  /** What its method needs to go on where it was; null: it begins anew. */
  carried: Record<string, unknown> | null;
  /** Of `timeoutMs`, used up by the runs before the pause. */
  ranMs: number;
  /** How long those it gave way to kept it waiting, ms: worth priority, as waiting is. */
  keptMs: number;
  /** When it was paused, or went on. */
  sinceMs: number;
}

export interface Outcome {
  event: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  reason: TaskReason | null;
  message: string | null;
  /** When the fact behind the reason was observed. */
  observedAtMs: number | null;
  stage: string | null;
  evidence: Record<string, unknown> | null;
  output: Record<string, unknown> | null;
}

export interface TaskRow {
  /** Order of submission. */
  n: number;
  taskId: string;
  state: TaskState;
  attempt: number;
  stopping: Stopping | null;
  /** Null for a task that was never paused. */
  pause: TaskPause | null;
  request: TaskRequest;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
  outcome: Outcome | null;
}

/** Where a running task says it is; kept in memory only. */
export interface TaskStage {
  stage: string;
  progress: Record<string, unknown> | null;
}

export function toRecord(row: TaskRow, stage: TaskStage | null, approvalId: string | null): TaskRecord {
  const { request, outcome } = row;
  const at = row.state === 'PAUSED' ? pausedStage(row.pause) : stage;
  return {
    taskId: row.taskId,
    method: request.method,
    params: request.params,
    state: row.state,
    attempt: row.attempt,
    source: request.source,
    decision: request.decision ?? null,
    approvalId,
    legacy: request.legacy,
    priority: request.priority,
    queueKey: request.queueKey,
    executionMode: request.executionMode,
    workflowId: request.workflowId,
    stepId: request.stepId,
    planId: request.planId,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    reasonCode: outcome?.reason ?? row.stopping?.reason ?? null,
    message: outcome?.message ?? row.stopping?.message ?? null,
    stage: outcome === null ? (at?.stage ?? null) : outcome.stage,
    progress: at?.progress ?? null,
    evidence: outcome?.evidence ?? null,
    output: outcome?.output ?? null,
    correlationId: request.correlationId,
    traceId: request.traceId,
  };
}

/** As `PROGRESS` tells it, and whoever asks for the task. */
export function pausedStage(pause: TaskPause | null): TaskStage {
  const by = pause?.preemptor ?? null;
  const progress = { paused_by: by === null ? 'request' : 'preemption', preempted_by: by };
  return { stage: 'paused', progress: { ...progress, ...pause?.proof } };
}

/** A task that began once, whether or not it is paused now. */
export function hasBegun(row: Pick<TaskRow, 'startedAt'>): boolean {
  return row.startedAt !== null;
}

/** Never started: nothing physical happened, so nothing has to stop. */
export function neverStarted(nowMs: number): Record<string, unknown> {
  return { stopped: true, never_started: true, observed_at_ms: nowMs };
}

export function cancelled(reason: Stopping['reason'], message: string): Stopping {
  return { as: 'CANCELLED', reason, message, observedAtMs: null };
}

export function claimsResource(claims: readonly ResourceClaim[], resource: Resource): boolean {
  return claims.some((claim) => claim.resource === resource);
}

/** Wire time of an event. */
export function wireTime(ms: number): string {
  return isoWithOffset(ms);
}
