/** What happens to single steps: waiting, starting, ending, trying again, being undone. */
import { isRefusal } from '../../../config/contracts/errors.js';
import type { TaskReason } from '../../../config/contracts/reason-codes.js';
import { StoreError } from '../../store/store-error.js';
import { requestOf } from '../admission.js';
import { type Defects, defectMessage } from '../defects.js';
import type { TaskManagerDeps } from '../deps.js';
import { isRetryable, refusedOutcome } from '../lifecycle.js';
import type { TaskRow } from '../task.js';
import type { TaskCore } from '../task-core.js';
import type { EventDetail, TaskEvents } from '../task-events.js';
import type { Canceller, SubmitTask } from '../types.js';
import { parseCondition, type Verdict } from './conditions.js';
import { isOver } from './decide.js';
import { outputsOf, stepSubject } from './records.js';
import { MissingOutput, renderParams } from './templates.js';
import type { Ending, StepPlan, StepStatus, Workflow } from './types.js';
import type { WorkflowTable } from './workflow-table.js';

export interface StepsDeps extends Pick<TaskManagerDeps, 'timers' | 'clock' | 'log' | 'context'> {
  defects: Defects;
  table: WorkflowTable;
  core: TaskCore;
  events: TaskEvents;
  /** A step waits for a condition now: somebody has to look at it. */
  onConditionAwaited(): void;
}

export interface StepFailure {
  reason: TaskReason;
  message: string;
  observedAtMs?: number | null;
  evidence?: Record<string, unknown> | null;
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

  started(workflow: Workflow, plan: StepPlan, row: TaskRow): void {
    const before = stepIn(workflow, plan.stepId);
    const step = this.#patch(workflow, plan, {
      state: 'RUNNING',
      hold: null,
      waitingFor: null,
      startedAt: before.startedAt ?? this.#now(),
    });
    // A task that a restart continues belongs to the same attempt of its step, which was announced before.
    if (row.attempt === 1) this.#publish('WORKFLOW_STEP_STARTED', workflow, plan, step, {});
  }

  completed(workflow: Workflow, plan: StepPlan, outcome: NonNullable<TaskRow['outcome']>): void {
    const { evidence, output, stage } = outcome;
    const step = this.#patch(workflow, plan, { ...this.#over(workflow, 'COMPLETED'), evidence, output });
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
    this.#failed(workflow, plan, outcome?.event === 'CANCELLED' ? 'CANCELLED' : 'FAILED', failure);
  }

  /** A step that fails without a task of its own to say so, says it itself. */
  fail(workflow: Workflow, plan: StepPlan, failure: StepFailure): void {
    if (this.#triedAgain(workflow, plan, failure)) return;
    const step = this.#failed(workflow, plan, 'FAILED', failure);
    this.#publish('FAILED', workflow, plan, { ...step, taskId: null }, failure);
  }

  /** Waits, and says for what. */
  wait(workflow: Workflow, plan: StepPlan, change: Partial<StepStatus>, why: string): void {
    const waits = (change.waits ?? stepIn(this.#current(workflow), plan.stepId).waits) + 1;
    const step = this.#patch(workflow, plan, { ...change, state: 'WAITING', waitingFor: why, waits });
    this.#publish('WORKFLOW_STEP_WAITING', workflow, plan, step, { message: why, stage: step.hold }, waits);
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
        ? failureText('it has no compensation')
        : this.#prepare(workflow, { ...plan, timeoutMs: null }, compensation.method, compensation.params);
    if ('failure' in prepared) {
      const why = prepared.failure.message;
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

  /** Nothing of it starts while the workflow is paused; what runs goes on. */
  pause(workflow: Workflow, plan: StepPlan): void {
    const step = stepIn(workflow, plan.stepId);
    if (step.hold === 'queue' && step.taskId !== null) this.#d.core.hold(step.taskId);
    if (step.hold !== 'condition') return;
    const timer = this.#d.timers.get(TIMER_KIND, timerKey(workflow, plan));
    const waitLeftMs = timer === null ? null : Math.max(1, timer.dueAt - this.#now());
    this.#clearTimer(workflow, plan);
    this.#patch(workflow, plan, { state: 'PENDING', hold: null, waitLeftMs });
  }

  resume(workflow: Workflow, plan: StepPlan): void {
    const { taskId, hold } = stepIn(workflow, plan.stepId);
    const row = hold === 'queue' && taskId !== null ? this.#d.core.table.getLive(taskId) : null;
    if (row?.state === 'PENDING') this.#d.core.takeUp(row);
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
    const prepared = this.#prepare(workflow, plan, plan.method, plan.params);
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

  /** Puts outputs into the params and asks the method whether it takes them. */
  #prepare(workflow: Workflow, plan: StepPlan, method: string, template: Record<string, unknown>) {
    try {
      const params = renderParams(template, outputsOf(workflow));
      return {
        submit: submitOf(workflow, plan, method, params),
        admitted: this.#d.core.admit(method, params),
      };
    } catch (error) {
      return { failure: this.#failureOf(error) };
    }
  }

  #failureOf(error: unknown): StepFailure {
    if (error instanceof StoreError) throw error;
    if (error instanceof MissingOutput) return { reason: 'STATE_CONDITION_FAILED', message: error.message };
    if (isRefusal(error)) {
      const { reason, observedAtMs } = refusedOutcome(error);
      return { reason: reason ?? 'CAPABILITY_UNAVAILABLE', message: error.message, observedAtMs };
    }
    const errorId = this.#d.defects.record(error, { where: 'admission of a step' });
    return { reason: 'INTERNAL_ERROR', message: defectMessage(errorId) };
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
    });
  }

  /** Uses up one retry, if there is one and it makes sense. */
  #triedAgain(workflow: Workflow, plan: StepPlan, failure: StepFailure): boolean {
    const step = stepIn(workflow, plan.stepId);
    if (workflow.row.ending !== null || step.attempt > plan.retry.max || !isRetryable(failure.reason))
      return false;
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
    const why = `retry ${step.attempt} of ${max} in ${backoffMs} ms, after ${failure.reason}: ${failure.message}`;
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

export function planOf(workflow: Workflow, stepId: string): StepPlan {
  const plan = workflow.row.request.plans.find((candidate) => candidate.stepId === stepId);
  if (plan === undefined) throw new Error(`workflow ${workflow.row.workflowId} has no step ${stepId}`);
  return plan;
}

function stepIn(workflow: Workflow, stepId: string): StepStatus {
  const step = workflow.steps.get(stepId);
  if (step === undefined) throw new Error(`workflow ${workflow.row.workflowId} has no step ${stepId}`);
  return step;
}

function submitOf(
  { row }: Workflow,
  plan: StepPlan,
  method: string,
  params: Record<string, unknown>,
): SubmitTask {
  return {
    method,
    params,
    task: {
      ...(plan.timeoutMs === null ? {} : { timeoutMs: plan.timeoutMs }),
      ...(plan.priority === null ? {} : { priority: plan.priority }),
      traceId: row.request.traceId,
    },
    source: row.request.source,
    legacy: false,
    correlationId: row.request.correlationId,
    workflow: {
      workflowId: row.workflowId,
      stepId: plan.stepId,
      planId: row.request.document.plan_id ?? null,
    },
  };
}

function failureText(message: string): { failure: StepFailure } {
  return { failure: { reason: 'INTERNAL_ERROR', message } };
}

/** Steps of a workflow that fails are cancelled by the robot itself; of a cancelled one, by whoever cancelled it. */
function cancellerOf(ending: Ending | null): Canceller {
  if (ending?.reason === 'CANCELLED_BY_USER') return 'USER';
  return ending?.reason === 'CANCELLED_BY_CLOUD' ? 'CLOUD' : 'SYSTEM';
}

function timerKey(workflow: Workflow, plan: StepPlan): string {
  return `${workflow.row.workflowId}/${plan.stepId}`;
}
