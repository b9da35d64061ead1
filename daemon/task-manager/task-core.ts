/** The life of single tasks: admission, start, stop and the one end. Workflows stand on top of it. */
import { isRefusal, Refusal } from '../../config/contracts/errors.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { MethodSpec } from '../../executors/method.js';
import { StoreError } from '../store/store-error.js';
import { type Admitted, admit, type Methods, requestOf } from './admission.js';
import type { Contender } from './conflicts.js';
import type { TaskManagerDeps, TaskManagerLimits } from './deps.js';
import { Executions } from './executions.js';
import { Leases } from './leases.js';
import {
  conclude,
  defect,
  failure,
  isRetryable,
  type RunResult,
  refusedOutcome,
  stoppedOutcome,
} from './lifecycle.js';
import { Scheduler } from './scheduler.js';
import {
  claimsResource,
  neverStarted,
  type Outcome,
  type Stopping,
  type TaskRequest,
  type TaskRow,
  type TaskStage,
  toRecord,
} from './task.js';
import { detailOf, subjectOf, type TaskEvents } from './task-events.js';
import { TaskTable } from './task-table.js';
import type { Canceller, SubmitTask, TaskRecord } from './types.js';
import { rankOf, type Waiting } from './waiting-room.js';

/** What the workflow engine wants to know of the tasks it owns; called inside the running `write`. */
export interface OwnerHooks {
  /** Right before it would start after it had to wait; a text: it must not start any more, and why. */
  beforeStart(row: TaskRow): { skip: boolean; message: string } | null;
  started(row: TaskRow): void;
  waiting(row: TaskRow, why: string): void;
  ended(row: TaskRow): void;
}

/** A task that is not over, with what its method made of its params. */
interface Candidate extends Waiting {
  spec: MethodSpec;
  params: unknown;
}

export interface TaskCoreDeps
  extends Pick<TaskManagerDeps, 'store' | 'outbox' | 'clock' | 'ids' | 'log' | 'emergencyCut'> {
  methods: Methods;
  events: TaskEvents;
  limits: TaskManagerLimits;
}

/** Puts a task before everyone who has only priority and age. */
const TURN_AT_ONCE = 1_000_000;

export class TaskCore {
  readonly table: TaskTable;
  readonly scheduler: Scheduler;
  readonly executions: Executions;
  readonly leases: Leases;
  readonly #d: TaskCoreDeps;
  readonly #candidates = new Map<string, Candidate>();
  /** Stops that went another way than through a task: by which source a stopping method was last started. */
  readonly #stoppedBy = new Map<string, { source: Source; at: number }>();
  readonly #counters = { submitted: 0, refused: 0, emergency_cuts: 0, store_retries: 0 };
  #hooks: OwnerHooks = { beforeStart: () => null, started() {}, waiting() {}, ended() {} };
  #closing = false;
  #pumpArmed = false;

  constructor(deps: TaskCoreDeps) {
    this.#d = deps;
    this.table = new TaskTable(deps.store, deps.log, deps.limits.keepEndedTasks);
    this.leases = new Leases(deps.store);
    this.scheduler = new Scheduler({
      store: deps.store,
      now: () => deps.clock.now(),
      reserveAfterMs: deps.limits.reserveAfterMs,
      host: {
        start: (item) => this.#start(item),
        waits: (item, why) => this.#waits(item, why),
        preempt: (victim, by) => this.#preempt(victim, by),
      },
    });
    this.executions = new Executions({
      ...deps,
      progressIntervalMs: deps.limits.progressIntervalMs,
      host: {
        ended: (taskId, result, stopping) => this.#ended(taskId, result, stopping),
        timedOut: (taskId) => this.#timedOut(taskId),
        progressed: (taskId, stage) => this.#progressed(taskId, stage),
      },
    });
  }

  setOwner(hooks: OwnerHooks): void {
    this.#hooks = hooks;
  }

  counters(): Record<string, number> {
    return {
      ...this.#counters,
      ...this.executions.counters(),
      live: this.table.liveCount(),
      queued: this.scheduler.waitingCount,
    };
  }

  /** See `TaskManager.submit`. */
  submit(submit: SubmitTask): TaskRecord {
    try {
      return this.#d.store.write(() => {
        if (!this.#d.outbox.hasRoom()) throw busy('the outbox is full');
        const admitted = admit(this.#d.methods, submit.method, submit.params, this.#now());
        const request = requestOf(submit, admitted);
        this.#checkRoom(request, admitted);
        const row = this.create(request);
        this.enqueue(row, admitted);
        this.#counters.submitted++;
        return this.record(row.taskId);
      });
    } catch (error) {
      this.#counters.refused++;
      throw error;
    }
  }

  /** Stores a task that was admitted; it waits for `enqueue`. Inside a `write`. */
  create(request: TaskRequest): TaskRow {
    return this.table.insert(this.#d.ids.make('t'), request, this.#now());
  }

  /** Gives a PENDING task its place in line, and starts it if it is its turn. Inside a `write`. */
  enqueue(row: TaskRow, admitted: Admitted): void {
    if (row.request.dryRun) {
      this.#dryRun(row, admitted);
      return;
    }
    const candidate = this.#candidate(row, admitted);
    this.#remember(candidate);
    this.scheduler.add(candidate);
    this.scheduler.pump();
  }

  /**
   * Puts a PENDING task (back) into its line, or ends it when its method does not take it any more. Inside a
   * `write`.
   */
  takeUp(row: TaskRow): void {
    try {
      this.enqueue(row, this.admit(row.request.method, row.request.params));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#settle(row, refusedOutcome(error));
    }
  }

  /** Takes a PENDING task out of its line without ending it; `takeUp` puts it back. `pump` comes after. */
  hold(taskId: string): void {
    this.scheduler.remove(taskId);
  }

  admit(method: string, params: Record<string, unknown>): Admitted {
    return admit(this.#d.methods, method, params, this.#now());
  }

  /** See `TaskManager.cancelTask`. */
  cancel(taskId: string, by: Canceller): void {
    const row = this.table.getLive(taskId);
    if (row === null) throw this.#notLive(taskId);
    if (!row.request.cancellable && by !== 'SYSTEM') {
      throw new Refusal('ILLEGAL_STATE', `task ${taskId} was submitted as not cancellable`, 'task_id');
    }
    const reason = `CANCELLED_BY_${by}` as const;
    this.#d.store.write(() => this.#requestStop(row, stopFor('CANCELLED', reason, 'cancelled on request')));
  }

  /** Everything that holds `motion` ends FAILED EMERGENCY_STOP once its stop is proven. */
  emergencyStop(message: string, observedAtMs: number): void {
    for (const row of this.table.live()) {
      const candidate = this.#candidates.get(row.taskId);
      if (row.state !== 'STARTED' || candidate === undefined) continue;
      if (!claimsResource(candidate.claims, 'motion')) continue;
      this.#stopWhateverTheStore(row, stopFor('FAILED', 'EMERGENCY_STOP', message, observedAtMs));
    }
  }

  record(taskId: string): TaskRecord {
    const row = this.table.get(taskId);
    if (row === null) throw new Refusal('NOT_FOUND', `there is no task ${taskId}`, 'task_id');
    return toRecord(row, this.executions.stage(taskId));
  }

  /** Ends a task for a reason other than its run. Inside a `write`. */
  end(row: TaskRow, outcome: Outcome): void {
    this.#settle(row, outcome);
  }

  /** Puts a task that ran before back into its line, for another attempt. Inside a `write`. */
  again(row: TaskRow, admitted: Admitted): void {
    const change = { attempt: row.attempt + 1, startedAt: null, stopping: null };
    this.enqueue(this.table.transition(row.taskId, 'PENDING', change), admitted);
  }

  /** Stops what runs, physically, without ending any task. */
  close(): void {
    this.#closing = true;
    for (const taskId of this.executions.taskIds()) {
      this.executions.requestStop(taskId, 'the daemon is stopping', null);
    }
  }

  /** After a failed commit: whoever can start is looked for again, a little later. */
  pumpLater(): void {
    if (this.#pumpArmed || this.#closing) return;
    this.#pumpArmed = true;
    this.#d.clock.after(this.#d.limits.storeRetryMs, () => {
      this.#pumpArmed = false;
      this.#counters.store_retries++;
      this.#tolerateStore(() => this.#d.store.write(() => this.scheduler.pumpAll()));
    });
  }

  #checkRoom(request: TaskRequest, { spec }: Admitted): void {
    const { limits } = this.#d;
    if (this.table.liveCount() >= limits.maxLive)
      throw busy(`${limits.maxLive} tasks are waiting or running`);
    const { queueKey } = request;
    if (request.executionMode === 'QUEUED' && this.scheduler.lineLength(queueKey) >= limits.maxQueued) {
      throw busy(`${limits.maxQueued} tasks are waiting in queue ${queueKey}`);
    }
    if (request.executionMode !== 'IMMEDIATE' || request.dryRun) return;
    const plan = this.scheduler.plan(contender('new', request, spec));
    if (plan.do === 'wait') {
      throw new Refusal('RESOURCE_BUSY', `${spec.name} cannot start now: ${plan.why}`, 'executionMode');
    }
  }

  #candidate(row: TaskRow, { spec, params }: Admitted): Candidate {
    const { request } = row;
    const ahead = request.executionMode === 'IMMEDIATE' || row.attempt > 1 ? TURN_AT_ONCE : 0;
    return {
      ...contender(row.taskId, request, spec),
      n: row.n,
      rank: rankOf(request.priority + ahead, row.createdAt, this.#d.limits.ageingMsPerPoint),
      spec,
      params,
    };
  }

  #remember(candidate: Candidate): void {
    const before = this.#candidates.get(candidate.taskId);
    this.#candidates.set(candidate.taskId, candidate);
    this.#d.store.onUndo(() => {
      if (before === undefined) this.#candidates.delete(candidate.taskId);
      else this.#candidates.set(candidate.taskId, before);
    });
  }

  /** Schema and admission were checked; what is left is whether it could start now. */
  #dryRun(row: TaskRow, { spec, params }: Admitted): void {
    const refused = this.#precondition(spec, params);
    if (refused !== null) {
      this.#settle(row, refused);
      return;
    }
    const started = this.table.transition(row.taskId, 'STARTED', { startedAt: this.#now() });
    this.#d.events.publish('STARTED', subjectOf(started), {});
    const evidence = { dry_run: true };
    const done = { reason: null, message: null, observedAtMs: null, stage: null, evidence, output: null };
    this.#settle(started, { event: 'COMPLETED', ...done });
  }

  #start(item: Waiting): void {
    const row = this.table.getLive(item.taskId);
    const candidate = this.#candidates.get(item.taskId);
    if (row === null || candidate === undefined) throw new Error(`task ${item.taskId} is not waiting`);
    const refused = this.#refusedAtStart(row, candidate);
    if (refused !== null) {
      this.#settle(row, refused);
      return;
    }
    this.leases.grant(row.taskId, candidate.claims);
    const started = this.table.transition(row.taskId, 'STARTED', { startedAt: this.#now() });
    if (row.request.role !== null) this.#hooks.started(started);
    this.#d.events.publish('STARTED', subjectOf(started), {});
    this.#stoppedBy.set(candidate.method, { source: row.request.source, at: this.#now() });
    this.#d.store.onUndo(() => this.pumpLater());
    this.#d.store.afterCommit(() => this.#begin(started, candidate));
  }

  #refusedAtStart(row: TaskRow, { spec, params }: Candidate): Outcome | null {
    const gate = row.request.role === null ? null : this.#hooks.beforeStart(row);
    if (gate === null) return this.#precondition(spec, params);
    if (!gate.skip) return failure('STATE_CONDITION_FAILED', gate.message);
    const stopping = stopFor('CANCELLED', 'CANCELLED_BY_SYSTEM', gate.message);
    return stoppedOutcome(stopping, neverStarted(this.#now()));
  }

  #precondition(spec: MethodSpec, params: unknown): Outcome | null {
    try {
      spec.precondition?.({ params, nowMs: this.#now() });
      return null;
    } catch (error) {
      if (isRefusal(error)) return refusedOutcome(error);
      return defect(this.#logDefect(error, spec.name, 'precondition'));
    }
  }

  /** STARTED is durable: now the physical part may begin. */
  #begin({ taskId, attempt }: TaskRow, candidate: Candidate): void {
    const row = this.table.getLive(taskId);
    if (row === null || row.attempt !== attempt || this.#closing) return;
    if (row.stopping !== null) {
      // Cancelled between the decision to start it and the commit of that.
      this.#settleUntilStored(row, stoppedOutcome(row.stopping, neverStarted(this.#now())));
      return;
    }
    this.executions.begin({
      taskId,
      attempt,
      spec: candidate.spec,
      params: candidate.params,
      timeoutMs: row.request.timeoutMs,
      fence: (resource) => this.leases.fence(taskId, resource),
    });
  }

  #waits(item: Waiting, why: string): void {
    const row = this.table.getLive(item.taskId);
    if (row !== null && row.request.role !== null) this.#hooks.waiting(row, why);
  }

  #preempt(victim: Contender, by: Waiting): void {
    const row = this.table.getLive(victim.taskId);
    if (row === null || row.state !== 'STARTED') return;
    const message = `${by.method} ${by.taskId} took its place`;
    this.#requestStop(row, stopFor('CANCELLED', 'PREEMPTED', message));
  }

  #timedOut(taskId: string): void {
    const row = this.table.getLive(taskId);
    if (row === null || row.state !== 'STARTED') return;
    const message = `${row.request.method} was not done within ${row.request.timeoutMs} ms`;
    this.#stopWhateverTheStore(row, stopFor('FAILED', 'TIMEOUT', message));
  }

  #progressed(taskId: string, { stage, progress }: TaskStage): void {
    const row = this.table.getLive(taskId);
    if (row === null) return;
    this.#tolerateStore(() => this.#d.events.progress(subjectOf(row), stage, progress));
  }

  /** The stop itself waits for nothing; the row follows in the running `write`. The first request counts. */
  #requestStop(row: TaskRow, stopping: Stopping): void {
    if (row.state === 'CANCELLING') return;
    if (row.state === 'PENDING') {
      this.#settle(row, stoppedOutcome(stopping, neverStarted(this.#now())));
      return;
    }
    this.executions.requestStop(row.taskId, stopping.message, stopping);
    this.table.transition(row.taskId, 'CANCELLING', { stopping });
  }

  /** A stop that has to happen even when it cannot be stored: the intention then lives in memory. */
  #stopWhateverTheStore(row: TaskRow, stopping: Stopping): void {
    this.#tolerateStore(() => this.#d.store.write(() => this.#requestStop(row, stopping)));
    this.executions.requestStop(row.taskId, stopping.message, stopping);
  }

  #ended(taskId: string, result: RunResult, stopping: Stopping | null): void {
    const row = this.table.getLive(taskId);
    const candidate = this.#candidates.get(taskId);
    if (row === null || candidate === undefined) return;
    const wanted = stopping ?? row.stopping;
    // Stopped because the daemon stops: the next start decides what becomes of it.
    if (this.#closing && wanted === null && result.kind !== 'completed') return;
    const reason = this.#whoStopped(row, candidate.spec);
    const { outcome, cut } = conclude(result, wanted, candidate.spec, reason, this.#now());
    if (cut) this.#cut(outcome.message ?? 'a stop was not proven');
    this.#settleUntilStored(row, outcome);
  }

  #whoStopped(row: TaskRow, spec: MethodSpec): TaskReason {
    const stop = spec.cancel === null ? undefined : this.#stoppedBy.get(spec.cancel.method);
    if (stop === undefined || stop.at < (row.startedAt ?? 0)) return 'CANCELLED_BY_SYSTEM';
    if (stop.source === 'CLOUD') return 'CANCELLED_BY_CLOUD';
    return PEOPLE.has(stop.source) ? 'CANCELLED_BY_USER' : 'CANCELLED_BY_SYSTEM';
  }

  #cut(why: string): void {
    this.#counters.emergency_cuts++;
    this.#d.log.error({ why }, 'a stop was not proven: the drive is cut');
    try {
      this.#d.emergencyCut(why);
    } catch (error) {
      this.#logDefect(error, 'emergencyCut', 'call');
    }
  }

  /** How it ended is a fact that no rolled back transaction undoes: it is stored again until it is. */
  #settleUntilStored({ taskId, attempt }: TaskRow, outcome: Outcome): void {
    const row = this.table.getLive(taskId);
    if (row === null || row.attempt !== attempt || row.state === 'PENDING') return;
    this.#tolerateStore(() =>
      this.#d.store.write(() => {
        this.#d.store.onUndo(() => {
          this.#counters.store_retries++;
          this.#d.clock.after(this.#d.limits.storeRetryMs, () => this.#settleUntilStored(row, outcome));
        });
        this.#settle(row, outcome);
      }),
    );
  }

  #settle(row: TaskRow, outcome: Outcome): void {
    const candidate = this.#candidates.get(row.taskId);
    if (this.#triesAgain(row, outcome) && candidate !== undefined) {
      this.#leaveWork(candidate);
      this.again(row, candidate);
      return;
    }
    const change = { endedAt: this.#now(), outcome };
    const ended = this.table.transition(row.taskId, outcome.event, change);
    if (candidate !== undefined) {
      this.#leaveWork(candidate);
      this.#forget(candidate);
    }
    this.#d.events.publish(outcome.event, subjectOf(ended), detailOf(outcome));
    if (row.request.role !== null) this.#hooks.ended(ended);
    else this.#compensate(ended, candidate?.spec ?? this.#d.methods.get(row.request.method) ?? null);
    this.scheduler.pump();
  }

  #leaveWork(candidate: Candidate): void {
    this.leases.release(candidate.taskId, candidate.claims);
    this.scheduler.remove(candidate.taskId);
    this.scheduler.ended(candidate);
  }

  #forget(candidate: Candidate): void {
    this.#candidates.delete(candidate.taskId);
    this.#d.store.onUndo(() => {
      this.#candidates.set(candidate.taskId, candidate);
    });
  }

  /** `failurePolicy` RETRY of a task on its own: once more. The steps of workflows have their own budget. */
  #triesAgain(row: TaskRow, outcome: Outcome): boolean {
    const { failurePolicy, role } = row.request;
    if (role !== null || failurePolicy !== 'RETRY' || outcome.event !== 'FAILED' || row.attempt > 1)
      return false;
    return row.startedAt !== null && outcome.reason !== null && isRetryable(outcome.reason);
  }

  /** A task on its own that had begun and failed runs its compensation, if that was asked for or it was cut short. */
  #compensate(row: TaskRow, spec: MethodSpec | null): void {
    const { request, outcome } = row;
    if (outcome?.event !== 'FAILED' || row.startedAt === null || request.role === 'compensation') return;
    if (request.failurePolicy !== 'COMPENSATE' && outcome.reason !== 'RESTARTED') return;
    const method = request.compensationMethod ?? spec?.compensation?.method ?? null;
    if (method === null) return;
    const params = method === spec?.compensation?.method ? spec.compensation.params : {};
    try {
      const admitted = this.admit(method, params);
      const submit: SubmitTask = {
        method,
        params,
        task: { priority: request.priority, traceId: request.traceId },
        source: request.source,
        legacy: false,
        correlationId: request.correlationId,
      };
      this.enqueue(this.create(requestOf(submit, admitted)), admitted);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#d.log.warn({ taskId: row.taskId, method, why: error.message }, 'a compensation cannot be run');
    }
  }

  #notLive(taskId: string): Refusal {
    const row = this.table.get(taskId);
    if (row === null) return new Refusal('NOT_FOUND', `there is no task ${taskId}`, 'task_id');
    return new Refusal('ILLEGAL_STATE', `task ${taskId} is ${row.state} already`, 'task_id');
  }

  /** The store says no: counted and logged there, and tried again by whoever has to. */
  #tolerateStore(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  #logDefect(error: unknown, method: string, where: string): string {
    const errorId = this.#d.ids.make('err');
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#d.log.error({ errorId, method, where, error: text }, 'a defect: the task ends INTERNAL_ERROR');
    return errorId;
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}

const PEOPLE: ReadonlySet<Source> = new Set<Source>(['VOICE', 'APP', 'LOCAL']);

function contender(taskId: string, request: TaskRequest, spec: MethodSpec): Contender {
  return {
    taskId,
    method: spec.name,
    claims: spec.resources,
    priority: request.priority,
    queueKey: request.queueKey,
    executionMode: request.executionMode,
    preemptPolicy: request.preemptPolicy,
    cancellable: request.cancellable,
  };
}

function stopFor(
  as: Stopping['as'],
  reason: TaskReason,
  message: string,
  observedAtMs: number | null = null,
): Stopping {
  return { as, reason, message, observedAtMs };
}

function busy(what: string): Refusal {
  return new Refusal('TASK_MANAGER_BUSY', `no further task is taken now: ${what}`);
}
