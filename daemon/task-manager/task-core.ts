/** The life of single tasks: admission, start, stop and the one end. Workflows stand on top of it. */
import { isRefusal, Refusal } from '../../config/contracts/errors.js';
import { StoreError } from '../store/store-error.js';
import { type Admitted, admit, type Methods, requestOf } from './admission.js';
import { compensationOf, triesAgain } from './after-failure.js';
import { type Candidate, Candidates } from './candidates.js';
import type { Contender } from './conflicts.js';
import { type Defects, orDefect, tolerateStore } from './defects.js';
import type { TaskManagerDeps, TaskManagerLimits } from './deps.js';
import { Endings } from './endings.js';
import { Executions } from './executions.js';
import { atTheGate, judged, type TaskGate } from './gate.js';
import { Leases } from './leases.js';
import { refusedOutcome } from './lifecycle.js';
import { NO_OWNER, type OwnerHooks } from './owner.js';
import { atRestOutcome, Pauses } from './pauses.js';
import { checkRoom } from './room.js';
import { Scheduler } from './scheduler.js';
import { cancelledBy, StopSources } from './stop-sources.js';
import {
  cancelled,
  claimsResource,
  hasBegun,
  type Outcome,
  type Stopping,
  type TaskRequest,
  type TaskRow,
  type TaskStage,
  toRecord,
} from './task.js';
import { detailOf, subjectOf, type TaskEvents } from './task-events.js';
import { TaskStarts } from './task-starts.js';
import { TaskTable } from './task-table.js';
import type { Canceller, SubmitTask, TaskRecord } from './types.js';
import type { Waiting } from './waiting-room.js';

export interface TaskCoreDeps
  extends Pick<TaskManagerDeps, 'store' | 'outbox' | 'clock' | 'ids' | 'log' | 'emergencyCut'> {
  gate: TaskGate;
  methods: Methods;
  events: TaskEvents;
  defects: Defects;
  limits: TaskManagerLimits;
}

export class TaskCore {
  readonly table: TaskTable;
  readonly scheduler: Scheduler;
  readonly executions: Executions;
  readonly leases: Leases;
  readonly pauses: Pauses;
  readonly #d: TaskCoreDeps;
  readonly #candidates: Candidates;
  readonly #stops = new StopSources();
  readonly #starts: TaskStarts;
  readonly #endings: Endings;
  readonly #counters = { submitted: 0, refused: 0, store_retries: 0 };
  #hooks: OwnerHooks = NO_OWNER;
  #closing = false;
  #pumpArmed = false;

  constructor(deps: TaskCoreDeps) {
    this.#d = deps;
    this.table = new TaskTable(deps.store, deps.log, deps.limits.keepEndedTasks);
    this.leases = new Leases(deps.store);
    this.#candidates = new Candidates(deps.store, deps.limits.ageingMsPerPoint);
    this.scheduler = new Scheduler({
      store: deps.store,
      now: () => deps.clock.now(),
      reserveAfterMs: deps.limits.reserveAfterMs,
      host: {
        start: (item) => this.#starts.start(item),
        waits: (item, why) => this.#waits(item, why),
        refuse: (item) => this.#starts.refuse(item),
        preempt: (victim, by) => this.#preempt(victim, by),
      },
    });
    this.executions = new Executions({
      clock: deps.clock,
      defects: deps.defects,
      progressIntervalMs: deps.limits.progressIntervalMs,
      host: {
        ended: (...end) => this.#endings.ended(...end),
        timedOut: (taskId) => this.#timedOut(taskId),
        progressed: (taskId, stage) => this.#progressed(taskId, stage),
      },
    });
    const parts = {
      ...deps,
      table: this.table,
      leases: this.leases,
      executions: this.executions,
      scheduler: this.scheduler,
      candidates: this.#candidates,
      stops: this.#stops,
      owner: () => this.#hooks,
      closing: () => this.#closing,
      settle: (row: TaskRow, outcome: Outcome) => this.#settle(row, outcome),
      pump: () => this.scheduler.pump(),
      pumpLater: () => this.pumpLater(),
    };
    this.pauses = new Pauses({
      ...parts,
      leaveWork: (taskId) => this.#leave(taskId),
      takeUp: (row) => this.takeUp(row),
      stop: (row, stopping) => this.#requestStop(row, stopping),
    });
    this.#endings = new Endings({ ...parts, pauses: this.pauses });
    this.#starts = new TaskStarts({ ...parts, pauses: this.pauses, endings: this.#endings });
  }

  setOwner(hooks: OwnerHooks): void {
    this.#hooks = hooks;
  }

  counters(): Record<string, number> {
    return {
      ...this.#counters,
      ...this.executions.counters(),
      ...this.#endings.counters(),
      ...this.pauses.counters(),
      defects: this.#d.defects.count,
      live: this.table.liveCount(),
      queued: this.scheduler.waitingCount,
    };
  }

  /** See `TaskManager.submit`. */
  submit(submit: SubmitTask): TaskRecord {
    try {
      return this.#d.store.write(() => {
        const admitted = this.admit(submit.method, submit.params);
        const request = judged(this.#d.gate, requestOf(submit, admitted), admitted.spec);
        checkRoom(request, admitted, { ...this.#d, table: this.table, scheduler: this.scheduler });
        this.#d.store.onUndo(() => this.#stopUnstored(submit));
        const row = this.create(request);
        this.enqueue(row, admitted);
        this.#counters.submitted++;
        return this.record(row.taskId);
      });
    } catch (error) {
      this.#counters.refused++;
      const full = error instanceof StoreError || (isRefusal(error) && error.reason === 'TASK_MANAGER_BUSY');
      if (full) this.#stopUnstored(submit);
      throw error;
    }
  }

  /** A stop that finds no room, on the disk or among the tasks, is no task, and stops all the same what it would have stopped. */
  #stopUnstored({ method, source }: SubmitTask): void {
    for (const row of this.table.live()) {
      const { spec } = this.#candidates.get(row.taskId) ?? {};
      if (row.state !== 'STARTED' || spec?.cancel?.method !== method) continue;
      const message = `stopped by ${method}`;
      this.executions.requestStop(row.taskId, message, cancelled(cancelledBy(source), message));
    }
  }

  /** Stores a task that was admitted; it waits for `enqueue`. Inside a `write`. */
  create(request: TaskRequest): TaskRow {
    const spec = this.#d.methods.get(request.method);
    const asked = request.decision ?? (spec === undefined ? null : this.#d.gate.decide(request, spec));
    return this.table.insert(this.#d.ids.make('t'), { ...request, decision: asked }, this.#now());
  }

  /** Gives a PENDING task its place in line, and starts it if it is its turn. Inside a `write`. */
  enqueue(row: TaskRow, admitted: Admitted): void {
    if (row.request.dryRun) {
      this.#starts.dryRun(row, admitted);
      return;
    }
    const stopped = atTheGate(row, admitted.spec, { ...this.#d, owner: this.#hooks });
    if (stopped !== null) {
      if (stopped !== 'held') this.#settle(row, stopped);
      return;
    }
    this.scheduler.add(this.#candidates.add(row, admitted));
    this.scheduler.pump();
  }

  /** Puts a PENDING task (back) into its line, or ends it when its method refuses it by now. Inside a `write`. */
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

  /** Throws `Refusal`. */
  admit(method: string, params: Record<string, unknown>): Admitted {
    return admit(this.#d.methods, method, params, this.#now());
  }

  /** See `TaskManager.cancelTask`. */
  cancel(taskId: string, by: Canceller): void {
    const row = this.#mustBeLive(taskId);
    if (!row.request.cancellable && by !== 'SYSTEM') {
      throw new Refusal('ILLEGAL_STATE', `task ${taskId} was submitted as not cancellable`, 'task_id');
    }
    const stopping = cancelled(`CANCELLED_BY_${by}`, 'cancelled on request');
    this.#d.store.write(() => this.#requestStop(row, stopping));
  }

  /** See `TaskManager.pauseTask`. */
  pause(taskId: string): void {
    this.#d.store.write(() => this.pauses.pause(this.#mustBeLive(taskId)));
  }

  /** See `TaskManager.resumeTask`. */
  resume(taskId: string): void {
    this.#d.store.write(() => {
      this.pauses.resume(this.#mustBeLive(taskId));
      this.scheduler.pump();
    });
  }

  /**
   * Everything that holds `motion` ends FAILED EMERGENCY_STOP once its stop is proven, and so does what was paused on
   * its way: nothing drives off by itself when the stop is released.
   */
  emergencyStop(message: string, observedAtMs: number): void {
    for (const row of this.table.live()) {
      const claims = this.#d.methods.get(row.request.method)?.resources ?? [];
      const underWay = row.state === 'STARTED' || (row.state === 'PAUSED' && hasBegun(row));
      if (!underWay || !claimsResource(claims, 'motion')) continue;
      this.stopWhateverTheStore(row, { as: 'FAILED', reason: 'EMERGENCY_STOP', message, observedAtMs });
    }
  }

  record(taskId: string): TaskRecord {
    const row = this.table.get(taskId);
    if (row === null) throw this.#notLive(taskId);
    return this.recordOf(row);
  }

  recordOf(row: TaskRow): TaskRecord {
    const asked = row.request.decision?.effect === 'approve';
    const approval = asked ? this.#d.gate.approvalOf(row.taskId) : null;
    return toRecord(row, this.executions.stage(row.taskId), approval);
  }

  /** Ends a task for another reason than its run. Inside a `write`. */
  end(row: TaskRow, outcome: Outcome): void {
    this.#settle(row, outcome);
  }

  /** Puts a task that ran before back into its line, for another attempt. Inside a `write`. */
  again(row: TaskRow, admitted: Admitted): void {
    const pause = row.pause === null ? null : { ...row.pause, until: null, asked: false, ranMs: 0 };
    const change = { attempt: row.attempt + 1, startedAt: null, stopping: null, pause };
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
      tolerateStore(() => this.#d.store.write(() => this.scheduler.pumpAll()));
    });
  }

  #waits(item: Waiting, why: string): void {
    const row = this.table.getLive(item.taskId);
    // What goes on after a pause counts as under way.
    if (row === null || row.request.role === null || hasBegun(row)) return;
    orDefect(this.#d, row.taskId, 'wait of a step', () => this.#hooks.waiting(row, why));
  }

  #preempt(victim: Contender, by: Waiting): void {
    const row = this.table.getLive(victim.taskId);
    if (row === null || row.state !== 'STARTED') return;
    if (this.pauses.giveWay(row, by)) return;
    this.#requestStop(row, cancelled('PREEMPTED', `${by.method} ${by.taskId} took its place`));
  }

  #timedOut(taskId: string): void {
    const row = this.table.getLive(taskId);
    if (row === null || row.state !== 'STARTED') return;
    const message = `${row.request.method} was not done within ${row.request.timeoutMs} ms`;
    this.stopWhateverTheStore(row, { as: 'FAILED', reason: 'TIMEOUT', message, observedAtMs: null });
  }

  #progressed(taskId: string, { stage, progress }: TaskStage): void {
    const row = this.table.getLive(taskId);
    if (row === null) return;
    tolerateStore(() => this.#d.events.progress(subjectOf(row), stage, progress));
  }

  /** The stop itself waits for nothing; the row follows in the running `write`. The first request counts. */
  #requestStop(row: TaskRow, stopping: Stopping): void {
    if (row.state === 'CANCELLING') return;
    if (row.state === 'PENDING' || row.state === 'PAUSED') {
      this.#settle(row, atRestOutcome(row, stopping, this.#now()));
      return;
    }
    this.executions.requestStop(row.taskId, stopping.message, stopping);
    this.table.transition(row.taskId, 'CANCELLING', { stopping });
  }

  /** A stop that has to happen even when it cannot be stored: the intention then lives in memory. */
  stopWhateverTheStore(row: TaskRow, stopping: Stopping): void {
    tolerateStore(() => this.#d.store.write(() => this.#requestStop(row, stopping)));
    this.executions.requestStop(row.taskId, stopping.message, stopping);
  }

  /** The one place where a task ends. Inside a `write`. */
  #settle(row: TaskRow, outcome: Outcome): void {
    const candidate = this.#leave(row.taskId);
    if (candidate !== null && triesAgain(row, outcome)) {
      this.again(row, candidate);
      return;
    }
    const ended = this.table.transition(row.taskId, outcome.event, { endedAt: this.#now(), outcome });
    this.#d.events.publish(outcome.event, subjectOf(ended), detailOf(outcome));
    const { decision, undoes } = row.request;
    if (decision?.effect === 'approve' || undoes != null) this.#d.gate.ended(ended);
    if (row.request.role === null) this.#compensate(ended);
    else {
      const errorId = orDefect(this.#d, row.taskId, 'end of a step', () => this.#hooks.ended(ended));
      if (errorId !== null) this.#hooks.broken(ended, errorId);
    }
    this.pauses.over(row.taskId);
    this.scheduler.pump();
  }

  /** Gives back its leases and its place in line. */
  #leave(taskId: string): Candidate | null {
    const candidate = this.#candidates.get(taskId);
    if (candidate === null) return null;
    this.leases.release(taskId, candidate.claims);
    this.scheduler.remove(taskId);
    this.scheduler.ended(candidate);
    this.#candidates.remove(taskId);
    return candidate;
  }

  #compensate(row: TaskRow): void {
    const submit = compensationOf(row, this.#d.methods.get(row.request.method) ?? null);
    if (submit === null) return;
    try {
      const admitted = this.admit(submit.method, submit.params);
      this.enqueue(this.create(requestOf(submit, admitted)), admitted);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const { taskId } = row;
      this.#d.log.warn({ taskId, method: submit.method, why: error.message }, 'a compensation cannot be run');
    }
  }

  #mustBeLive(taskId: string): TaskRow {
    const row = this.table.getLive(taskId);
    if (row === null) throw this.#notLive(taskId);
    return row;
  }

  #notLive(taskId: string): Refusal {
    const row = this.table.get(taskId);
    if (row === null) return new Refusal('NOT_FOUND', `there is no task ${taskId}`, 'task_id');
    return new Refusal('ILLEGAL_STATE', `task ${taskId} is ${row.state} already`, 'task_id');
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}
