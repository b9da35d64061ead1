/** What becomes of tasks that a restart finds unfinished: physical truth decides. */
import type { Clock } from '../../config/contracts/clock.js';
import { errorText, isRefusal } from '../../config/contracts/errors.js';
import type { Log } from '../../config/contracts/log.js';
import type { Completion, MethodSpec } from '../../executors/method.js';
import type { Store } from '../store/store.js';
import { type Methods, parseParams } from './admission.js';
import type { RecoveryReport } from './deps.js';
import { completedOutcome, failure, refusedOutcome } from './lifecycle.js';
import { hasBegun, type Outcome, type TaskRow } from './task.js';
import type { TaskCore } from './task-core.js';
import type { WorkflowEngine } from './workflow/engine.js';

interface RecoveryDeps {
  store: Store;
  clock: Clock;
  log: Log;
  methods: Methods;
  core: TaskCore;
  engine: WorkflowEngine;
  maxAttempts: number;
}

export type RecoveryDecision = { do: 'end'; outcome: Outcome } | { do: 'continue' } | { do: 'pause' };

/** Pure: `done` is what the method says about the world now, `spec` null when the method is gone. */
export function decideRecovery(
  row: Pick<TaskRow, 'state' | 'attempt' | 'stopping' | 'pause' | 'request'>,
  spec: Pick<MethodSpec, 'idempotent'> | null,
  done: Completion | null,
  maxAttempts: number,
): RecoveryDecision {
  const { method } = row.request;
  if (done !== null) {
    const outcome = completedOutcome(done, row.request.completionAreaId, 'found done after a restart');
    return { do: 'end', outcome };
  }
  if (row.state === 'CANCELLING') return { do: 'end', outcome: cutShort(row) };
  if (spec === null) return restarted(`${method} does not exist any more`);
  if (!spec.idempotent) return restarted(`${method} was cut short and is not safe to continue`);
  if (row.pause?.asked === true && row.pause.until !== null) return { do: 'pause' };
  if (row.attempt >= maxAttempts) return restarted(`${method} was cut short ${row.attempt} times`);
  return { do: 'continue' };
}

/** Its stop was asked for and never proven by its own run. */
function cutShort(row: Pick<TaskRow, 'stopping' | 'request'>): Outcome {
  const { stopping } = row;
  const message = `${row.request.method} was being stopped when the daemon restarted`;
  if (stopping?.as !== 'FAILED') return failure('RESTARTED', message);
  return failure(stopping.reason, `${stopping.message}; ${message}`, { observedAtMs: stopping.observedAtMs });
}

function restarted(message: string): RecoveryDecision {
  return { do: 'end', outcome: failure('RESTARTED', message) };
}

/** Reconciles every task, then lets the workflows go on, then starts what can start. */
export function recover(deps: RecoveryDeps): RecoveryReport {
  const { store, core, engine, log } = deps;
  const report: RecoveryReport = {
    queued: 0,
    paused: 0,
    completed: 0,
    continued: 0,
    failed: 0,
    workflows: 0,
  };
  core.scheduler.suspend();
  report.workflows = engine.table.live().length;
  const rows = core.table.live().sort((a, b) => a.n - b.n);
  for (const { taskId } of rows) {
    // As it stands by now: the end of one step may have stopped others of its workflow, or ended them.
    const row = core.table.getLive(taskId);
    if (row !== null) report[store.write(() => reconcile(row, deps))]++;
  }
  store.write(() => core.pauses.reconcile());
  engine.start();
  store.write(() => core.scheduler.pumpAll());
  if (rows.length + report.workflows > 0) log.info(report, 'unfinished work was reconciled after a restart');
  return report;
}

function reconcile(row: TaskRow, deps: RecoveryDeps): Exclude<keyof RecoveryReport, 'workflows'> {
  const { core, engine } = deps;
  if (row.state === 'PAUSED') return 'paused';
  if (row.state === 'PENDING') {
    if (hasBegun(row) || !engine.holdsBack(row)) core.takeUp(row);
    return 'queued';
  }
  const spec = deps.methods.get(row.request.method) ?? null;
  const done = spec === null ? null : alreadyDone(row, spec, deps);
  const decision = decideRecovery(row, spec, done, deps.maxAttempts);
  if (decision.do === 'end') {
    core.end(row, decision.outcome);
    return decision.outcome.event === 'COMPLETED' ? 'completed' : 'failed';
  }
  if (decision.do === 'pause') {
    core.pauses.cutShort(row);
    return 'paused';
  }
  return goOn(row, core);
}

function goOn(row: TaskRow, core: TaskCore): 'continued' | 'failed' {
  try {
    core.again(row, core.admit(row.request.method, row.request.params));
    return 'continued';
  } catch (error) {
    if (!isRefusal(error)) throw error;
    core.end(row, refusedOutcome(error));
    return 'failed';
  }
}

function alreadyDone(row: TaskRow, spec: MethodSpec, { clock, log }: RecoveryDeps): Completion | null {
  if (spec.alreadyDone === undefined) return null;
  try {
    const params = parseParams(spec, row.request.params);
    return spec.alreadyDone({ params, nowMs: Math.round(clock.now()) });
  } catch (error) {
    log.error(
      { taskId: row.taskId, method: spec.name, error: errorText(error) },
      'whether a task is done cannot be told: it counts as not done',
    );
    return null;
  }
}
