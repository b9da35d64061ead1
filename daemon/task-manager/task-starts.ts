/** How a task starts: whether it may, what is written, and the run that begins once that is durable. */
import { isRefusal } from '../../config/contracts/errors.js';
import type { ReasonCode } from '../../config/contracts/reason-codes.js';
import type { MethodSpec } from '../../executors/method.js';
import type { Admitted } from './admission.js';
import type { Candidate, Candidates } from './candidates.js';
import { type Defects, orDefect } from './defects.js';
import type { TaskManagerDeps } from './deps.js';
import type { Endings } from './endings.js';
import type { Executions } from './executions.js';
import type { TaskGate } from './gate.js';
import type { Leases } from './leases.js';
import { defect, failure, refusedOutcome, stoppedOutcome } from './lifecycle.js';
import type { OwnerHooks } from './owner.js';
import { atRestOutcome, type Pauses } from './pauses.js';
import { cancelledBy, type StopSources } from './stop-sources.js';
import { cancelled, hasBegun, neverStarted, type Outcome, type TaskRow } from './task.js';
import { subjectOf, type TaskEvents } from './task-events.js';
import type { TaskTable } from './task-table.js';
import type { Waiting } from './waiting-room.js';

/** What refuses a task now and may be gone once those in its way have stopped. */
export const CURED_BY_A_STOP: readonly ReasonCode[] = ['STATE_CONDITION_FAILED', 'RESOURCE_BUSY'];

export interface TaskStartsDeps extends Pick<TaskManagerDeps, 'store' | 'clock'> {
  gate: TaskGate;
  events: TaskEvents;
  defects: Defects;
  table: TaskTable;
  leases: Leases;
  executions: Executions;
  candidates: Candidates;
  stops: StopSources;
  owner(): OwnerHooks;
  /** The daemon is stopping: nothing begins any more. */
  closing(): boolean;
  /** Ends a task. Inside a `write`. */
  settle(row: TaskRow, outcome: Outcome): void;
  endings: Endings;
  pauses: Pauses;
  /** Looks a little later for whoever can start. */
  pumpLater(): void;
}

export class TaskStarts {
  readonly #d: TaskStartsDeps;

  constructor(deps: TaskStartsDeps) {
    this.#d = deps;
  }

  /** Schema and admission were checked; what is left is whether it could start now. */
  dryRun(row: TaskRow, { spec, params }: Admitted): void {
    const refused = this.#precondition(spec, params);
    if (refused !== null) {
      this.#d.settle(row, refused);
      return;
    }
    const started = this.#d.table.transition(row.taskId, 'STARTED', { startedAt: this.#now() });
    this.#d.events.publish('STARTED', subjectOf(started), {});
    const evidence = { dry_run: true };
    const done = { reason: null, message: null, observedAtMs: null, stage: null, evidence, output: null };
    this.#d.settle(started, { event: 'COMPLETED', ...done });
  }

  /** A step that cannot even be started because of a defect ends for it, and is in nobody's way. */
  start(item: Waiting): void {
    const row = this.#d.table.getLive(item.taskId);
    const candidate = this.#d.candidates.get(item.taskId);
    if (row === null || candidate === null) throw new Error(`task ${item.taskId} is not waiting`);
    if (row.request.role === null) {
      this.#startNow(row, candidate);
      return;
    }
    const errorId = orDefect(this.#d, row.taskId, 'start of a step', () => this.#startNow(row, candidate));
    if (errorId !== null) this.#d.settle(row, defect(errorId));
  }

  /**
   * Ends a task that others would have to give way to, and that could not start even then. A condition of the robot's
   * state or a busy part may be what they bring about themselves: that is judged at the start.
   */
  refuse({ taskId }: Waiting): boolean {
    const row = this.#d.table.getLive(taskId);
    const candidate = this.#d.candidates.get(taskId);
    if (row === null || candidate === null) return false;
    const denied = this.#d.gate.refusesStart(row, candidate.spec);
    const refused = denied ?? this.#precondition(candidate.spec, candidate.params);
    if (refused === null || (refused.reason !== null && CURED_BY_A_STOP.includes(refused.reason)))
      return false;
    this.#d.settle(row, refused);
    return true;
  }

  #startNow(row: TaskRow, candidate: Candidate): void {
    const refused = this.#refusedAtStart(row, candidate);
    if (refused !== null) {
      this.#d.settle(row, refused);
      return;
    }
    this.#d.leases.grant(row.taskId, candidate.claims);
    const started = hasBegun(row) ? this.#goOn(row) : this.#startAnew(row);
    this.#d.stops.started(started);
    this.#d.pauses.stopMethodStarted(
      row.request.method,
      cancelled(cancelledBy(row.request.source), `stopped by ${row.request.method}`),
    );
    this.#d.store.onUndo(() => this.#d.pumpLater());
    this.#d.store.afterCommit(() => this.#begin(started, candidate, hasBegun(row)));
  }

  #startAnew(row: TaskRow): TaskRow {
    const started = this.#d.table.transition(row.taskId, 'STARTED', { startedAt: this.#now() });
    if (row.request.role !== null) this.#d.owner().started(started);
    this.#d.events.publish('STARTED', subjectOf(started), {});
    return started;
  }

  /** After a pause. It was announced when it started, and counts as under way to whoever owns it. */
  #goOn(row: TaskRow): TaskRow {
    const pause = row.pause === null ? null : { ...row.pause, sinceMs: this.#now() };
    const started = this.#d.table.transition(row.taskId, 'STARTED', { pause });
    this.#d.events.progress(subjectOf(started), 'resumed', null);
    return started;
  }

  #refusedAtStart(row: TaskRow, { spec, params }: Candidate): Outcome | null {
    const denied = this.#d.gate.refusesStart(row, spec);
    if (denied !== null) return denied;
    const outdated = this.#d.pauses.outdated(row, spec, params);
    if (outdated !== null) return atRestOutcome(row, outdated, this.#now());
    const gate = row.request.role === null || hasBegun(row) ? null : this.#d.owner().beforeStart(row);
    if (gate === null) return this.#precondition(spec, params);
    if (!gate.skip) return failure('STATE_CONDITION_FAILED', gate.message);
    return stoppedOutcome(cancelled('CANCELLED_BY_SYSTEM', gate.message), neverStarted(this.#now()));
  }

  #precondition(spec: MethodSpec, params: unknown): Outcome | null {
    try {
      spec.precondition?.({ params, nowMs: this.#now() });
      return null;
    } catch (error) {
      if (isRefusal(error)) return refusedOutcome(error);
      return defect(this.#d.defects.record(error, { method: spec.name, where: 'precondition' }));
    }
  }

  /** STARTED is durable: now the physical part may begin. */
  #begin({ taskId, attempt }: TaskRow, candidate: Candidate, goesOn: boolean): void {
    const row = this.#d.table.getLive(taskId);
    if (row === null || row.attempt !== attempt || this.#d.closing()) return;
    const { stopping, pause } = row;
    if (stopping !== null) {
      // Cancelled between the decision to start it and the commit of that.
      const never = () => stoppedOutcome(stopping, neverStarted(this.#now()));
      this.#d.endings.settleUntilStored(row, goesOn ? atRestOutcome(row, stopping, this.#now()) : never());
      return;
    }
    if (pause?.asked === true) {
      this.#d.endings.pausedUntilStored(row, goesOn ? pause.proof : neverStarted(this.#now()), 0);
      return;
    }
    this.#d.executions.begin({
      taskId,
      attempt,
      spec: candidate.spec,
      params: candidate.params,
      askedAtMs: row.createdAt,
      carried: pause?.carried ?? null,
      timeoutMs: Math.max(1, row.request.timeoutMs - (pause?.ranMs ?? 0)),
      fence: (resource) => this.#d.leases.fence(taskId, resource),
    });
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}
