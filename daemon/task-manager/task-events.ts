/** Task and workflow events: built for the wire, appended to the outbox, told to listeners after the commit. */
import type { Clock } from '../../config/contracts/clock.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { Source, TaskEvent, TaskEventName } from '../../config/contracts/wire/events.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { Store } from '../store/store.js';
import type { RunLabel } from './schedule/types.js';
import { type Outcome, type TaskRow, wireTime } from './task.js';

const TOPIC = 'events/task';

/** What all events of a task, or of a workflow, have in common. */
export interface EventSubject {
  taskId: string | null;
  method: string | null;
  attempt: number;
  workflowId: string | null;
  stepId: string | null;
  planId: string | null;
  cloudOutputKey: string | null;
  source: Source;
  correlationId: string | null;
  traceId: string | null;
  legacy?: boolean;
  revision?: number;
  /** The run of a schedule that it belongs to. */
  run?: RunLabel | null;
  /** A task that the workflow engine waits for. */
  isStep?: boolean;
}

/** What one event says. */
export interface EventDetail {
  reason?: TaskReason | null;
  observedAtMs?: number | null;
  message?: string | null;
  stage?: string | null;
  progress?: Record<string, unknown> | null;
  evidence?: Record<string, unknown> | null;
  output?: unknown;
  skipped?: boolean;
}

/** What schedules want to know; called inside the running `write`. */
export interface RunWatch {
  /** A run of a schedule ended as its task or its workflow did. */
  ended(
    runId: string,
    event: 'COMPLETED' | 'FAILED' | 'CANCELLED',
    reason: TaskReason | null,
    message: string | null,
  ): void;
  /** Something ended that may have been in the way of a run. */
  somethingEnded(): void;
}

type Stamp =
  | { event_id: string; store_epoch: string; device_id: string; boot_id: string; seq: number }
  | { event_id: string; store_epoch: string; device_id: string; boot_id: string; telemetry_seq: number };

export class TaskEvents {
  readonly #store: Store;
  readonly #outbox: OutboxWriter;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: TaskEvent) => void>();
  #runs: RunWatch | null = null;

  constructor(store: Store, outbox: OutboxWriter, clock: Clock) {
    this.#store = store;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  onEvent(listener: (event: TaskEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  watchRuns(watch: RunWatch): void {
    this.#runs = watch;
  }

  /** Appends to the ordered lane. `repeat`: counts events of one name within an attempt, from 1. */
  publish(name: TaskEventName, subject: EventSubject, detail: EventDetail, repeat?: number): void {
    const key = keyOf(name, subject, repeat);
    this.#outbox.appendOrdered(TOPIC, key, (stamp) =>
      this.#tell(this.#build(name, subject, detail, stamp, key)),
    );
    if (name === 'COMPLETED' || name === 'FAILED' || name === 'CANCELLED') this.#ended(name, subject, detail);
  }

  /** Telemetry: a newer one replaces an unsent older one of the same subject. */
  progress(subject: EventSubject, stage: string, data: Record<string, unknown> | null): void {
    const about = subject.taskId ?? subject.workflowId ?? '';
    this.#outbox.appendTelemetry(TOPIC, `progress:${about}`, (stamp) => {
      const key = keyOf('PROGRESS', subject, stamp.telemetry_seq);
      return this.#tell(this.#build('PROGRESS', subject, { stage, progress: data }, stamp, key));
    });
  }

  #ended(name: 'COMPLETED' | 'FAILED' | 'CANCELLED', subject: EventSubject, detail: EventDetail): void {
    if (subject.run != null && isWhole(subject)) {
      this.#runs?.ended(subject.run.runId, name, detail.reason ?? null, detail.message ?? null);
    }
    this.#runs?.somethingEnded();
  }

  #build(
    event: TaskEventName,
    subject: EventSubject,
    detail: EventDetail,
    stamp: Stamp,
    idempotency_key: string,
  ): TaskEvent {
    return {
      contract_version: 'device-task-event.v1',
      event_id: stamp.event_id,
      ...('seq' in stamp ? { seq: stamp.seq } : { telemetry_seq: stamp.telemetry_seq }),
      store_epoch: stamp.store_epoch,
      device_id: stamp.device_id,
      boot_id: stamp.boot_id,
      idempotency_key,
      event,
      task_id: subject.taskId,
      method: subject.method,
      attempt: subject.attempt,
      workflow_id: subject.workflowId,
      step_id: subject.stepId,
      plan_id: subject.planId,
      cloud_output_key: subject.cloudOutputKey,
      source: subject.source,
      reason_code: detail.reason ?? null,
      ...(detail.observedAtMs == null ? {} : { reason_observed_at_ms: detail.observedAtMs }),
      message: detail.message ?? null,
      domain_stage: detail.stage ?? null,
      progress: detail.progress ?? null,
      evidence: detail.evidence ?? null,
      output: detail.output ?? null,
      ...(detail.skipped === true ? { skipped: true } : {}),
      ...(subject.legacy === true ? { legacy: true } : {}),
      ...(subject.revision === undefined ? {} : { revision: subject.revision }),
      ...(subject.run == null ? {} : runFields(subject.run)),
      correlation_id: subject.correlationId,
      trace_id: subject.traceId,
      occurred_at: wireTime(this.#clock.now()),
    };
  }

  /** Listeners hear of it once it is durable. */
  #tell(event: TaskEvent): TaskEvent {
    if (this.#listeners.size > 0) {
      this.#store.afterCommit(() => {
        for (const listener of this.#listeners) listener(event);
      });
    }
    return event;
  }
}

export function subjectOf(row: TaskRow): EventSubject {
  const { request } = row;
  return {
    taskId: row.taskId,
    method: request.method,
    attempt: row.attempt,
    workflowId: request.workflowId,
    stepId: request.stepId,
    planId: request.planId,
    cloudOutputKey: request.cloudOutputKey,
    source: request.source,
    correlationId: request.correlationId,
    traceId: request.traceId,
    legacy: request.legacy,
    run: request.run,
    isStep: request.role !== null,
  };
}

export function detailOf(outcome: Outcome): EventDetail {
  return {
    reason: outcome.reason,
    observedAtMs: outcome.observedAtMs,
    message: outcome.message,
    stage: outcome.stage,
    evidence: outcome.evidence,
    output: outcome.output,
  };
}

/** A task of its own, or a workflow as a whole: not one step of many, and not a run that never came to be. */
function isWhole({ taskId, workflowId, stepId, isStep }: EventSubject): boolean {
  if (taskId !== null) return isStep !== true;
  return workflowId !== null && stepId === null;
}

function runFields({ scheduleId, runId, scheduledFor }: RunLabel) {
  return { schedule_id: scheduleId, run_id: runId, scheduled_for: scheduledFor };
}

/** `<task|workflow|run id>[:step_id]:<event>:<attempt>[:n]`; a task's own events carry the task id alone. */
function keyOf(name: TaskEventName, subject: EventSubject, repeat?: number): string {
  if (subject.taskId === null && subject.workflowId === null && subject.run != null) {
    return [subject.run.runId, name, subject.attempt, ...(repeat === undefined ? [] : [repeat])].join(':');
  }
  const isStep = name.startsWith('WORKFLOW_STEP_') || subject.taskId === null;
  const who = isStep
    ? [subject.workflowId, ...(subject.stepId === null ? [] : [subject.stepId])]
    : [subject.taskId];
  return [...who, name, subject.attempt, ...(repeat === undefined ? [] : [repeat])].join(':');
}
