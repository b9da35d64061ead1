/** Pausing: a task gives back what it holds, waits, and goes on where it was. */
import { Refusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';
import { type Methods, parseParams } from './admission.js';
import { contender } from './candidates.js';
import { type Contender, wouldPreempt } from './conflicts.js';
import type { Defects } from './defects.js';
import type { TaskManagerDeps, TaskManagerLimits } from './deps.js';
import type { Executions } from './executions.js';
import { failure, stoppedOutcome } from './lifecycle.js';
import type { OwnerHooks } from './owner.js';
import type { Scheduler } from './scheduler.js';
import {
  cancelled,
  hasBegun,
  neverStarted,
  type Outcome,
  type PausedUntil,
  pausedStage,
  type Stopping,
  type TaskPause,
  type TaskRow,
} from './task.js';
import { subjectOf, type TaskEvents } from './task-events.js';
import type { TaskTable } from './task-table.js';

export interface PausesDeps extends Pick<TaskManagerDeps, 'store' | 'clock'> {
  methods: Methods;
  defects: Defects;
  limits: Pick<TaskManagerLimits, 'ageingMsPerPoint'>;
  events: TaskEvents;
  table: TaskTable;
  executions: Executions;
  scheduler: Scheduler;
  owner(): OwnerHooks;
  /** Gives back what the task holds, or its place in line. */
  leaveWork(taskId: string): void;
  /** Puts a PENDING task into its line. */
  takeUp(row: TaskRow): void;
  stop(row: TaskRow, stopping: Stopping): void;
}

const NEW: TaskPause = {
  until: null,
  asked: false,
  preemptor: null,
  proof: null,
  carried: null,
  ranMs: 0,
  keptMs: 0,
  sinceMs: 0,
};

/**
 * A task that runs is paused in two steps: it is asked to stop (`asked`, still STARTED), and PAUSED once that is
 * proven. Every method runs inside a `write`.
 */
export class Pauses {
  readonly #d: PausesDeps;
  readonly #counters = { pauses: 0, resumptions: 0 };

  constructor(deps: PausesDeps) {
    this.#d = deps;
  }

  counters(): Record<string, number> {
    return { ...this.#counters, paused: this.#d.table.paused().length };
  }

  /** On request: until `resume`. Throws `Refusal` ILLEGAL_STATE when it cannot be paused now. */
  pause(row: TaskRow): void {
    const { taskId, state, pause } = row;
    if (state === 'CANCELLING') throw illegal(`task ${taskId} is being stopped`);
    if (pause !== null && (state === 'PAUSED' || pause.asked)) {
      if (pause.until === 'resumed') throw illegal(`task ${taskId} is paused already`);
      this.#waitFor(row, { until: 'resumed', preemptor: null });
    } else if (state === 'PENDING') this.#hold(row);
    else this.#ask(row, 'resumed', null);
  }

  /** Throws `Refusal` ILLEGAL_STATE when it is not paused. */
  resume(row: TaskRow): void {
    const { taskId, state, pause } = row;
    const pausing = state === 'STARTED' && pause?.asked === true && pause.until !== null;
    if (pause === null || (state !== 'PAUSED' && !pausing)) {
      throw illegal(`task ${taskId} is ${state}: it is not paused`);
    }
    if (state === 'PAUSED') this.#goOn(row);
    else this.#d.table.patch(taskId, { pause: { ...pause, until: null } });
  }

  /** Makes room for another task; false when its method cannot be paused. */
  giveWay(row: TaskRow, to: Pick<Contender, 'taskId' | 'method'>): boolean {
    if (row.pause?.asked === true) return true;
    if (this.#spec(row)?.pause === undefined) return false;
    this.#ask(row, { ended: to.taskId }, to.taskId);
    return true;
  }

  /** Its run has proven that it stopped, or had not begun; null when even the stop of the run before is not proven. */
  stopped(row: TaskRow, proof: Record<string, unknown> | null, ranMs: number): void {
    const { taskId } = row;
    const pause = row.pause ?? NEW;
    this.#d.leaveWork(taskId);
    const paused = this.#d.table.transition(taskId, 'PAUSED', {
      pause: {
        ...pause,
        asked: false,
        proof,
        carried: this.#carry(row),
        ranMs: pause.ranMs + ranMs,
        sinceMs: this.#now(),
      },
    });
    this.#announce(paused);
    if (pause.until === null || !this.#mustWait(pause.until)) this.#goOn(paused);
    // Who waits for somebody that waits for a person would wait for that person as well.
    if (pause.until === 'resumed') this.over(taskId);
  }

  /** A task has ended, or does not hold its place any more: those it took the place of go on. */
  over(taskId: string): void {
    for (const row of this.#d.table.paused()) {
      const until = row.pause?.until ?? null;
      if (row.state === 'PAUSED' && isAfter(until, taskId)) this.#goOn(row);
    }
  }

  /** After a restart, once every task is reconciled: whoever was waited for may be gone. */
  reconcile(): void {
    for (const row of this.#d.table.paused()) {
      const until = row.pause?.until ?? null;
      if (row.state === 'PAUSED' && (until === null || !this.#mustWait(until))) this.#goOn(row);
    }
  }

  /** A restart found it while it was being paused: nothing of it runs any more, and nothing proved its stop. */
  cutShort(row: TaskRow): void {
    const carried = this.#carry(row);
    const pause = { ...(row.pause ?? NEW), asked: false, proof: null, carried, sinceMs: this.#now() };
    this.#announce(this.#d.table.transition(row.taskId, 'PAUSED', { pause }));
  }

  /**
   * Somebody stops whatever `method` stops: what would go on by itself afterwards has to end too. What waits for a
   * person stays paused.
   */
  stopMethodStarted(method: string, stopping: Stopping): void {
    for (const row of this.#d.table.paused()) {
      if (this.#spec(row)?.cancel?.method !== method) continue;
      if (row.state === 'PAUSED' && row.pause?.until === 'resumed') continue;
      this.#d.stop(row, stopping);
    }
  }

  /** Why a task that was paused must not go on, and how it ends then. */
  outdated(row: TaskRow, spec: MethodSpec, params: unknown): Stopping | null {
    const { pause } = row;
    if (pause === null || !hasBegun(row)) return null;
    const message = spec.pause?.outdated?.({
      taskId: row.taskId,
      params,
      nowMs: this.#now(),
      carried: pause.carried,
      preempted: pause.preemptor !== null,
    });
    if (message == null) return null;
    if (pause.preemptor !== null) {
      return cancelled('PREEMPTED', `it gave way to ${pause.preemptor}, and cannot go on: ${message}`);
    }
    return { as: 'FAILED', reason: 'STATE_CONDITION_FAILED', message, observedAtMs: null };
  }

  #ask(row: TaskRow, until: PausedUntil, preemptor: string | null): void {
    const { taskId } = row;
    if (this.#spec(row)?.pause === undefined) {
      throw illegal(`${row.request.method} cannot be paused once it has started; it can be cancelled`);
    }
    const pause = { ...(row.pause ?? NEW), until, preemptor, asked: true };
    this.#d.table.patch(taskId, { pause });
    // A pause that is not stored does not happen: nothing would make the task go on.
    this.#d.store.afterCommit(() => {
      if (this.#d.table.getLive(taskId)?.pause?.asked !== true) return;
      this.#d.executions.requestStop(taskId, 'paused', null);
    });
  }

  /** Nothing of it runs: it only leaves its line. */
  #hold(row: TaskRow): void {
    this.#d.leaveWork(row.taskId);
    const pause = {
      ...(row.pause ?? NEW),
      until: 'resumed',
      preemptor: null,
      sinceMs: this.#now(),
    } as const;
    this.#announce(this.#d.table.transition(row.taskId, 'PAUSED', { pause }));
    this.over(row.taskId);
    this.#d.scheduler.pump();
  }

  #goOn(row: TaskRow): void {
    const { taskId } = row;
    const pause = row.pause ?? NEW;
    const kept = typeof pause.until === 'object' && pause.until !== null ? this.#now() - pause.sinceMs : 0;
    const keptMs = pause.keptMs + Math.max(0, kept);
    const next = hasBegun(row) ? this.#nextPreemptor(row, keptMs) : null;
    if (next !== null) {
      this.#waitFor(row, { until: { ended: next }, preemptor: next, keptMs });
      return;
    }
    const pending = this.#d.table.transition(taskId, 'PENDING', {
      pause: { ...pause, until: null, keptMs, sinceMs: this.#now() },
    });
    if (!hasBegun(pending)) this.#d.events.progress(subjectOf(pending), 'resumed', null);
    this.#counters.resumptions++;
    if (!hasBegun(pending) && this.#d.owner().holdsBack(pending)) return;
    this.#d.takeUp(pending);
  }

  /** Somebody else who would take its place as soon as it went on, and could start now. */
  #nextPreemptor(row: TaskRow, keptMs: number): string | null {
    const spec = this.#spec(row);
    if (spec === null) return null;
    const self = contender(
      row.taskId,
      row.request,
      spec,
      Math.floor(keptMs / this.#d.limits.ageingMsPerPoint),
    );
    for (const rival of this.#d.scheduler.candidates()) {
      if (wouldPreempt(rival, self) && this.#d.scheduler.plan(rival).do === 'start') return rival.taskId;
    }
    return null;
  }

  #waitFor(row: TaskRow, change: Partial<TaskPause>): void {
    const pause = { ...(row.pause ?? NEW), ...change, sinceMs: this.#now() };
    const patched = this.#d.table.patch(row.taskId, { pause });
    if (patched.state === 'PAUSED') this.#announce(patched);
  }

  #mustWait(until: PausedUntil): boolean {
    if (until === 'resumed') return true;
    const other = this.#d.table.getLive(until.ended);
    return other !== null && !(other.state === 'PAUSED' && other.pause?.until === 'resumed');
  }

  #carry(row: TaskRow): Record<string, unknown> | null {
    const carried = row.pause?.carried ?? null;
    const spec = this.#spec(row);
    if (spec?.pause === undefined) return carried;
    try {
      const params = parseParams(spec, row.request.params);
      return spec.pause.carry({ taskId: row.taskId, params, nowMs: this.#now(), carried });
    } catch (error) {
      // It can still begin anew.
      this.#d.defects.record(error, { taskId: row.taskId, where: 'pause' });
      return carried;
    }
  }

  #announce(row: TaskRow): void {
    this.#counters.pauses++;
    const { stage, progress } = pausedStage(row.pause);
    this.#d.events.progress(subjectOf(row), stage, progress);
  }

  #spec(row: TaskRow): MethodSpec | null {
    return this.#d.methods.get(row.request.method) ?? null;
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}

/** The end of a task of which nothing runs: it waits for its turn, or is paused. */
export function atRestOutcome(row: TaskRow, stopping: Stopping, nowMs: number): Outcome {
  if (!hasBegun(row)) return stoppedOutcome(stopping, neverStarted(nowMs));
  return restOutcome(row, stopping, row.pause?.proof ?? null);
}

/** The end of a task that stands still, or nobody knows: `proof` null when a restart came before it was shown. */
export function restOutcome(
  row: TaskRow,
  stopping: Stopping,
  proof: Record<string, unknown> | null,
): Outcome {
  if (proof !== null) return stoppedOutcome(stopping, proof);
  const message = `${row.request.method} was being paused when the daemon restarted; its stop was never proven`;
  return failure('RESTARTED', `${stopping.message}; ${message}`);
}

function isAfter(until: PausedUntil | null, taskId: string): boolean {
  return typeof until === 'object' && until?.ended === taskId;
}

function illegal(message: string): Refusal {
  return new Refusal('ILLEGAL_STATE', message, 'task_id');
}
