/** What happens to single steps: waiting, starting, ending, trying again, being undone. */
import { requestOf } from '../admission.js';
import type { Defects } from '../defects.js';
import type { TaskManagerDeps, TaskManagerLimits } from '../deps.js';
import { isRetryable } from '../lifecycle.js';
import type { TaskRow } from '../task.js';
import type { TaskCore } from '../task-core.js';
import type { EventDetail, TaskEvents } from '../task-events.js';
import type { Canceller, StepState } from '../types.js';
import { parseCondition, type Verdict } from './conditions.js';
import { isOver, isTakenBack } from './decide.js';
import { stepIn } from './lookup.js';
import { outputsOf, stepSubject } from './records.js';
import { isReplannable, replansLeft } from './replan.js';
import { prepareTask, type StepFailure } from './step-tasks.js';
import type { Ending, StepPlan, StepStatus, Workflow } from './types.js';
import type { WorkflowTable } from './workflow-table.js';

export interface StepsDeps extends Pick<TaskManagerDeps, 'timers' | 'clock' | 'log' | 'context'> {
  defects: Defects;
  table: WorkflowTable;
  core: TaskCore;
  events: TaskEvents;
  limits: Pick<TaskManagerLimits, 'amendmentWaitMs'>;
  /** A step waits for a condition now: somebody has to look at it. */
  onConditionAwaited(): void;
}

export const TIMER_KIND = 'workflow';

/** Every method runs inside a `write`. */
export class Steps {
  readonly #d: StepsDeps;

  constructor(deps: StepsDeps) {
    this.#d = deps;
  }

  /** Delay, `wait_until`, condition, templates, then the task: whatever is not there yet is waited for. */
  proceed(workflow: Workflow, plan: StepPlan): void {
    const context = plan.waitUntil === null && plan.condition === null ? {} : this.context();
    if (this.#waitsForDelay(workflow, plan) || this.#waitsForCondition(workflow, plan, context)) return;
    const verdict = plan.condition === null ? null : this.verdict(plan.condition, workflow, context);
    if (verdict === null || verdict.holds) this.#submitTask(workflow, plan);
    else if (plan.onConditionFalse === 'SKIP') this.skip(workflow, plan, verdict.why);
    else this.fail(workflow, plan, { reason: 'STATE_CONDITION_FAILED', message: verdict.why });
  }

  started(workflow: Workflow, plan: StepPlan): void {
    const before = stepIn(workflow, plan.stepId);
    const step = this.#patch(workflow, plan, {
      state: 'RUNNING',
      hold: null,
      waitingFor: null,
      startedAt: before.startedAt ?? this.#now(),
    });
    // A task that goes on after a restart or a pause belongs to the same attempt of its step, announced before.
    if (before.startedAt === null) this.#publish('WORKFLOW_STEP_STARTED', workflow, plan, step, {});
  }

  completed(workflow: Workflow, plan: StepPlan, outcome: NonNullable<TaskRow['outcome']>): void {
    const { evidence, output, stage } = outcome;
    const change = { ...this.#over(workflow, 'COMPLETED'), evidence, output };
    const step = this.#patch(workflow, plan, { ...change, ...undone(workflow, plan, 'COMPLETED', null) });
    this.#publish('WORKFLOW_STEP_COMPLETED', workflow, plan, step, { evidence, output, stage });
  }

  skip(workflow: Workflow, plan: StepPlan, why: string): void {
    const reason = 'STATE_CONDITION_FAILED';
    const change = { ...this.#over(workflow, 'SKIPPED'), reason, message: why, taskId: null } as const;
    const step = this.#patch(workflow, plan, change);
    this.#publish('WORKFLOW_STEP_COMPLETED', workflow, plan, step, { skipped: true, reason, message: why });
  }

  /** Its task ended otherwise than COMPLETED, and has told so itself. */
  taskFailed(workflow: Workflow, plan: StepPlan, row: TaskRow): void {
    const { outcome } = row;
    const reason = outcome?.reason ?? 'INTERNAL_ERROR';
    const failure = { reason, message: outcome?.message ?? reason, evidence: outcome?.evidence ?? null };
    if (this.#triedAgain(workflow, plan, failure)) return;
    if (this.#awaitsAmendment(workflow, plan, failure, row.taskId)) return;
    this.#failed(workflow, plan, outcome?.event === 'CANCELLED' ? 'CANCELLED' : 'FAILED', failure);
  }

  /** A step that fails without a task of its own to say so, says it itself. */
  fail(workflow: Workflow, plan: StepPlan, failure: StepFailure): void {
    if (this.#triedAgain(workflow, plan, failure)) return;
    if (this.#awaitsAmendment(workflow, plan, failure, null)) return;
    const step = this.#failed(workflow, plan, 'FAILED', failure);
    this.#publish('FAILED', workflow, plan, { ...step, taskId: null }, failure);
  }

  /** No amendment came, or can come: the failure that it waited with is its end. */
  giveUp(workflow: Workflow, plan: StepPlan, why: string | null): void {
    this.#clearTimer(workflow, plan);
    const { taskId, reason, message, evidence } = stepIn(workflow, plan.stepId);
    const failure = {
      reason: reason ?? 'INTERNAL_ERROR',
      message: why === null ? (message ?? '') : `${message}; ${why}`,
      evidence,
    };
    const step = this.#failed(workflow, plan, 'FAILED', failure);
    // Its task, if it had one, has told of its end itself.
    if (taskId === null) this.#publish('FAILED', workflow, plan, step, failure);
  }

  /** An amendment took its place: what it had in hand goes. */
  displace(workflow: Workflow, { stepId, state, hold, taskId }: StepStatus, by: Canceller): void {
    this.#d.timers.cancel(TIMER_KIND, timerKey(workflow, { stepId }));
    if (state === 'WAITING' && hold === 'queue' && taskId !== null) this.#d.core.cancel(taskId, by);
  }

  /** Waits, and says for what. */
  wait(
    workflow: Workflow,
    plan: StepPlan,
    change: Partial<StepStatus>,
    why: string,
    more: EventDetail = {},
  ): void {
    const waits = (change.waits ?? stepIn(this.#current(workflow), plan.stepId).waits) + 1;
    const step = this.#patch(workflow, plan, { ...change, state: 'WAITING', waitingFor: why, waits });
    const detail = { ...more, message: why, stage: step.hold };
    this.#publish('WORKFLOW_STEP_WAITING', workflow, plan, step, detail, waits);
  }

  /** What was waited for is there. */
  release(workflow: Workflow, plan: StepPlan): void {
    this.#clearTimer(workflow, plan);
    this.#patch(workflow, plan, { state: 'PENDING', hold: null, waitingFor: null, delayServed: true });
  }

  timedOut(workflow: Workflow, plan: StepPlan): void {
    const { waitingFor } = stepIn(workflow, plan.stepId);
    const message = `waited ${plan.waitUntil?.timeoutMs} ms for ${waitingFor}`;
    this.fail(workflow, plan, { reason: 'TIMEOUT', message });
  }

  drop(workflow: Workflow, plan: StepPlan): void {
    this.#clearTimer(workflow, plan);
    this.#patch(workflow, plan, {
      state: 'CANCELLED',
      hold: null,
      waitingFor: null,
      endedAt: this.#now(),
      reason: workflow.row.ending?.reason ?? null,
      message: 'it had not begun when the workflow ended',
    });
  }

  stop(workflow: Workflow, plan: StepPlan): void {
    const { taskId } = this.#patch(workflow, plan, { stopAsked: true });
    if (taskId === null)
      throw new Error(`step ${plan.stepId} of ${workflow.row.workflowId} runs without a task`);
    this.#d.core.cancel(taskId, cancellerOf(workflow.row.ending));
  }

  compensate(workflow: Workflow, plan: StepPlan): void {
    const { core, log } = this.#d;
    const { compensation, stepId } = plan;
    const prepared =
      compensation === null
        ? null
        : prepareTask(
            this.#d,
            workflow,
            { ...plan, timeoutMs: null },
            compensation.method,
            compensation.params,
          );
    if (prepared === null || 'failure' in prepared) {
      const why = prepared === null ? 'it has no compensation' : prepared.failure.message;
      log.warn({ workflowId: workflow.row.workflowId, stepId, why }, 'a compensation cannot be run');
      this.#patch(workflow, plan, { compensation: 'failed' });
      return;
    }
    const row = core.create({ ...requestOf(prepared.submit, prepared.admitted), role: 'compensation' });
    this.#patch(workflow, plan, { compensation: 'running', compensationTaskId: row.taskId });
    core.enqueue(row, prepared.admitted);
  }

  compensated(workflow: Workflow, plan: StepPlan, done: boolean): void {
    this.#patch(workflow, plan, { compensation: done ? 'done' : 'failed' });
  }

  /** Nothing of it starts while the workflow is paused; what runs goes on. Time-outs stand still. */
  pause(workflow: Workflow, plan: StepPlan): void {
    this.#holdBack(workflow, plan);
    if (stepIn(this.#current(workflow), plan.stepId).hold !== 'amendment') return;
    this.#patch(workflow, plan, { waitLeftMs: this.#stopTimer(workflow, plan) });
  }

  resume(workflow: Workflow, plan: StepPlan): void {
    const { hold, waitLeftMs } = stepIn(workflow, plan.stepId);
    if (hold !== 'amendment' || waitLeftMs === null) return;
    this.#setTimer(workflow, plan, waitLeftMs);
    this.#patch(workflow, plan, { waitLeftMs: null });
  }

  /** Puts the task of a step back into its line that was taken out of it. */
  takeUp(workflow: Workflow, plan: StepPlan): void {
    const { taskId, hold } = stepIn(workflow, plan.stepId);
    const { core } = this.#d;
    if (hold !== 'queue' || taskId === null || core.scheduler.isWaiting(taskId)) return;
    const row = core.table.getLive(taskId);
    if (row?.state === 'PENDING') core.takeUp(row);
  }

  #holdBack(workflow: Workflow, plan: StepPlan): void {
    const step = stepIn(this.#current(workflow), plan.stepId);
    if (step.hold === 'queue' && step.taskId !== null) this.#d.core.hold(step.taskId);
    if (step.hold !== 'condition') return;
    this.#patch(workflow, plan, {
      state: 'PENDING',
      hold: null,
      waitLeftMs: this.#stopTimer(workflow, plan),
    });
  }

  verdict(text: string, workflow: Workflow, context: object): Verdict {
    return parseCondition(text).evaluate(context, outputsOf(workflow));
  }

  /** Without a context every condition on it is false: nothing is known. */
  context(): object {
    try {
      return this.#d.context();
    } catch (error) {
      this.#d.defects.record(error, { where: 'context of a condition' });
      return {};
    }
  }

  #waitsForDelay(workflow: Workflow, plan: StepPlan): boolean {
    if (plan.afterStep === null || stepIn(workflow, plan.stepId).delayServed) return false;
    const { stepId, delayMs } = plan.afterStep;
    const end = stepIn(workflow, stepId).endedAt ?? this.#now();
    const left = end + delayMs - this.#now();
    if (left <= 0) return false;
    this.#setTimer(workflow, plan, left);
    this.wait(workflow, plan, { hold: 'delay' }, `${delayMs} ms after the end of ${stepId}`);
    return true;
  }

  #waitsForCondition(workflow: Workflow, plan: StepPlan, context: object): boolean {
    if (plan.waitUntil === null) return false;
    const { condition, timeoutMs } = plan.waitUntil;
    const verdict = this.verdict(condition, workflow, context);
    if (verdict.holds) return false;
    this.#setTimer(workflow, plan, stepIn(workflow, plan.stepId).waitLeftMs ?? timeoutMs);
    this.wait(workflow, plan, { hold: 'condition', waitLeftMs: null }, `${condition} (${verdict.why})`);
    this.#d.onConditionAwaited();
    return true;
  }

  #submitTask(workflow: Workflow, plan: StepPlan): void {
    const { core } = this.#d;
    const prepared = prepareTask(this.#d, workflow, plan, plan.method, plan.params);
    if ('failure' in prepared) {
      this.fail(workflow, plan, prepared.failure);
      return;
    }
    const { submit, admitted } = prepared;
    const { cloudOutputKey } = plan;
    const row = core.create({ ...requestOf(submit, admitted), role: 'step', cloudOutputKey });
    const change = { state: 'WAITING', hold: 'queue', taskId: row.taskId, waitingFor: null } as const;
    this.#patch(workflow, plan, change);
    core.enqueue(row, admitted);
  }

  #failed(
    workflow: Workflow,
    plan: StepPlan,
    state: 'FAILED' | 'CANCELLED',
    failure: StepFailure,
  ): StepStatus {
    return this.#patch(workflow, plan, {
      ...this.#over(workflow, state),
      reason: failure.reason,
      message: failure.message,
      evidence: failure.evidence ?? null,
      tolerated: workflow.row.ending === null && plan.failurePolicy === 'CONTINUE',
      ...undone(workflow, plan, state, failure.reason),
    });
  }

  /** Policy REPLAN: stands still, and with it everything that has not begun, until the workflow is amended. */
  #awaitsAmendment(workflow: Workflow, plan: StepPlan, failure: StepFailure, taskId: string | null): boolean {
    const left = replansLeft(workflow.row.request);
    if (workflow.row.ending !== null || plan.failurePolicy !== 'REPLAN') return false;
    if (left === 0 || !isReplannable(failure.reason)) return false;
    const { amendmentWaitMs } = this.#d.limits;
    const { reason, message, evidence = null, observedAtMs = null } = failure;
    const paused = workflow.row.state === 'PAUSED';
    if (!paused) this.#setTimer(workflow, plan, amendmentWaitMs);
    const change = { hold: 'amendment', taskId, reason, message, evidence } as const;
    const within = `an amendment within ${amendmentWaitMs} ms (cloud_replans left: ${left})`;
    this.wait(
      workflow,
      plan,
      { ...change, waitLeftMs: paused ? amendmentWaitMs : null, endedAt: this.#now() },
      `${within}, after ${reason}: ${message}`,
      { reason, observedAtMs, progress: { cloud_replans_left: left, within_ms: amendmentWaitMs } },
    );
    for (const other of workflow.row.request.plans) this.#holdBack(workflow, other);
    this.#d.core.scheduler.pump();
    return true;
  }

  /** Uses up one retry, if there is one and it makes sense. */
  #triedAgain(workflow: Workflow, plan: StepPlan, failure: StepFailure): boolean {
    const step = stepIn(workflow, plan.stepId);
    const tries = step.attempt - (step.firstAttempt ?? 1);
    if (workflow.row.ending !== null || tries >= plan.retry.max || !isRetryable(failure.reason)) return false;
    const { backoffMs, max } = plan.retry;
    const again = {
      attempt: step.attempt + 1,
      startedAt: null,
      waits: 0,
      delayServed: true,
      waitLeftMs: null,
    } as const;
    if (backoffMs === 0) {
      this.#patch(workflow, plan, { ...again, state: 'PENDING', hold: null, waitingFor: null });
      return true;
    }
    this.#setTimer(workflow, plan, backoffMs);
    const why = `retry ${tries + 1} of ${max} in ${backoffMs} ms, after ${failure.reason}: ${failure.message}`;
    this.wait(workflow, plan, { ...again, hold: 'backoff' }, why);
    return true;
  }

  #over(workflow: Workflow, state: 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'CANCELLED') {
    const finished = [...this.#current(workflow).steps.values()].filter(isOver).length;
    return { state, hold: null, waitingFor: null, endedAt: this.#now(), order: finished + 1 } as const;
  }

  #patch(workflow: Workflow, plan: StepPlan, change: Partial<StepStatus>): StepStatus {
    return this.#d.table.patchStep(workflow.row.workflowId, plan.stepId, change);
  }

  #current(workflow: Workflow): Workflow {
    return this.#d.table.getLive(workflow.row.workflowId) ?? workflow;
  }

  #setTimer(workflow: Workflow, plan: StepPlan, inMs: number): void {
    const payload = { workflowId: workflow.row.workflowId, stepId: plan.stepId };
    this.#d.timers.set(TIMER_KIND, timerKey(workflow, plan), this.#now() + inMs, payload);
  }

  /** What was left of it, ms. */
  #stopTimer(workflow: Workflow, plan: StepPlan): number | null {
    const timer = this.#d.timers.get(TIMER_KIND, timerKey(workflow, plan));
    this.#clearTimer(workflow, plan);
    return timer === null ? null : Math.max(1, timer.dueAt - this.#now());
  }

  #clearTimer(workflow: Workflow, plan: StepPlan): void {
    this.#d.timers.cancel(TIMER_KIND, timerKey(workflow, plan));
  }

  #publish(
    name: 'WORKFLOW_STEP_STARTED' | 'WORKFLOW_STEP_WAITING' | 'WORKFLOW_STEP_COMPLETED' | 'FAILED',
    workflow: Workflow,
    plan: StepPlan,
    step: StepStatus,
    detail: EventDetail,
    repeat?: number,
  ): void {
    this.#d.events.publish(name, stepSubject(workflow, plan, step), detail, repeat);
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}

/** A step that ends while its workflow is ending is taken back like those that had ended before. */
function undone({ row }: Workflow, plan: StepPlan, state: StepState, reason: StepStatus['reason']) {
  const isDue = row.ending !== null && isTakenBack(plan, { state, reason }, row.ending);
  return isDue ? ({ compensation: 'due' } as const) : {};
}

/** Steps of a workflow that fails are cancelled by the robot itself; of a cancelled one, by whoever cancelled it. */
function cancellerOf(ending: Ending | null): Canceller {
  if (ending?.reason === 'CANCELLED_BY_USER') return 'USER';
  return ending?.reason === 'CANCELLED_BY_CLOUD' ? 'CLOUD' : 'SYSTEM';
}

function timerKey(workflow: Workflow, plan: Pick<StepPlan, 'stepId'>): string {
  return `${workflow.row.workflowId}/${plan.stepId}`;
}
