/** Carries workflows out: asks `nextMove` what is next, and does it in the store's transaction. */
import { Refusal } from '../../../config/contracts/errors.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import { type Defects, defectMessage, tolerateStore } from '../defects.js';
import type { TaskManagerDeps, TaskManagerLimits } from '../deps.js';
import type { OwnerHooks } from '../owner.js';
import type { TaskRow } from '../task.js';
import type { TaskCore } from '../task-core.js';
import type { TaskEvents } from '../task-events.js';
import type { Amendment, Canceller } from '../types.js';
import { amendWorkflow } from './amend.js';
import { type CompileDeps, compileWorkflow } from './compile.js';
import { isTakenBack, type Move, nextMove } from './decide.js';
import { planOf } from './lookup.js';
import { WorkflowProgress } from './progress.js';
import { cloudOutputs, endEvidence, workflowSubject } from './records.js';
import { isHeld } from './replan.js';
import { Steps, TIMER_KIND } from './steps.js';
import type { Ending, StepPlan, Workflow, WorkflowRequest } from './types.js';
import { WorkflowTable } from './workflow-table.js';

export interface EngineDeps
  extends Pick<TaskManagerDeps, 'store' | 'outbox' | 'timers' | 'clock' | 'log' | 'context'> {
  defects: Defects;
  core: TaskCore;
  events: TaskEvents;
  limits: TaskManagerLimits;
  compile: Omit<CompileDeps, 'nowMs'>;
}

export class WorkflowEngine implements OwnerHooks {
  readonly table: WorkflowTable;
  readonly #d: EngineDeps;
  readonly #steps: Steps;
  readonly #progress: WorkflowProgress;
  /** Workflows whose moves are being made further up the stack; that loop sees what changes meanwhile. */
  readonly #advancing = new Set<string>();
  /** Tasks that were withdrawn because the condition of their step no longer held. */
  readonly #skipping = new Set<string>();
  #stopLooking: (() => void) | null = null;

  constructor(deps: EngineDeps) {
    this.#d = deps;
    this.table = new WorkflowTable(deps.store, deps.log, deps.limits.keepEndedWorkflows);
    this.#steps = new Steps({ ...deps, table: this.table, onConditionAwaited: () => this.#keepLooking() });
    this.#progress = new WorkflowProgress({ ...deps, table: this.table });
    deps.core.setOwner(this);
  }

  /** See `TaskManager.submitWorkflow`. */
  submit(document: WorkflowDocument, options: Omit<WorkflowRequest, 'document' | 'plans'>): Workflow {
    return this.#d.store.write(() => {
      const { workflow_id } = document;
      this.#checkRoom(workflow_id);
      const plans = compileWorkflow(document, { ...this.#d.compile, nowMs: this.#now() });
      this.table.insert(workflow_id, { document, plans, ...options }, this.#now());
      this.#advance(workflow_id);
      return this.#mustGet(workflow_id);
    });
  }

  cancel(workflowId: string, by: Canceller): void {
    this.#d.store.write(() => {
      const workflow = this.#mustBeLive(workflowId);
      this.#mustNotEnd(workflow);
      const cancelled: Ending = {
        as: 'CANCELLED',
        reason: `CANCELLED_BY_${by}`,
        message: 'cancelled on request',
        ...(workflow.row.request.document.on_cancel === 'NONE' ? {} : { undo: 'all' }),
      };
      this.#beginEnding(workflowId, cancelled);
      this.#advance(workflowId);
    });
  }

  /** Steps that run go on to their end; nothing new starts. */
  pause(workflowId: string): void {
    this.#d.store.write(() => {
      this.#mustBe(this.#mustBeLive(workflowId), 'RUNNING', 'paused');
      const workflow = this.table.setState(workflowId, 'PAUSED');
      this.#d.events.progress(workflowSubject(workflow), 'paused', null);
      for (const plan of workflow.row.request.plans) this.#steps.pause(workflow, plan);
      this.#d.core.scheduler.pump();
    });
  }

  resume(workflowId: string): void {
    this.#d.store.write(() => {
      this.#mustBe(this.#mustBeLive(workflowId), 'PAUSED', 'resumed');
      const workflow = this.table.setState(workflowId, 'RUNNING');
      this.#d.events.progress(workflowSubject(workflow), 'resumed', null);
      for (const plan of workflow.row.request.plans) this.#steps.resume(workflow, plan);
      this.#goOn(workflowId);
    });
  }

  /** See `TaskManager.amendWorkflow`. */
  amend(workflowId: string, amendment: Amendment, source: Source): Workflow {
    return this.#d.store.write(() => {
      const before = this.#mustBeLive(workflowId);
      this.#mustNotEnd(before);
      const compile = { ...this.#d.compile, nowMs: this.#now() };
      const { request, steps, displaced } = amendWorkflow(before, amendment, source, compile);
      const workflow = this.table.amend(workflowId, request, steps);
      for (const step of displaced) this.#steps.displace(workflow, step, cancellerOf(source));
      this.#d.events.progress(workflowSubject(workflow), 'amended', {
        added: amendment.add.map((step) => step.step_id),
        replaced: amendment.replace.map((step) => step.step_id),
        removed: amendment.remove,
      });
      this.#goOn(workflowId);
      return this.#mustGet(workflowId);
    });
  }

  /** After what kept steps from starting is gone, if it is: tasks stand in line again. */
  #goOn(workflowId: string): void {
    const workflow = this.table.getLive(workflowId);
    if (workflow !== null && !isHeld(workflow)) {
      for (const plan of workflow.row.request.plans) {
        const now = this.table.getLive(workflowId);
        if (now !== null) this.#steps.takeUp(now, plan);
      }
    }
    this.#advance(workflowId);
  }

  /** Whether a PENDING task must not stand in line now: nothing of its workflow starts. What had begun goes on. */
  holdsBack(row: TaskRow): boolean {
    const workflow = row.request.role === 'step' ? this.#owner(row) : null;
    if (workflow === null || workflow.row.ending !== null || !isHeld(workflow)) return false;
    return workflow.steps.get(row.request.stepId ?? '')?.hold === 'queue';
  }

  /** After a restart, once tasks are reconciled: timers get a listener and every live workflow goes on. */
  start(): void {
    this.#d.timers.on(TIMER_KIND, (timer) => this.#timerDue(timer.payload));
    for (const { row } of this.table.live()) this.#d.store.write(() => this.#advance(row.workflowId));
    this.#keepLooking();
  }

  stop(): void {
    this.#progress.stop();
    this.#lookNoMore();
  }

  #lookNoMore(): void {
    this.#stopLooking?.();
    this.#stopLooking = null;
  }

  /** Looks at every `wait_until` again; stops doing so regularly when there is none. */
  look(): void {
    const waiting = this.table.live().flatMap((workflow) => this.#awaiting(workflow));
    if (waiting.length === 0) {
      this.#lookNoMore();
      return;
    }
    const context = this.#steps.context();
    for (const { workflow, plan } of waiting) {
      if (plan.waitUntil === null) continue;
      if (!this.#steps.verdict(plan.waitUntil.condition, workflow, context).holds) continue;
      this.#d.store.write(() => this.#letGo(workflow.row.workflowId, plan.stepId));
    }
  }

  /** What the step waited for is there, unless something else has happened to it since it was looked at. */
  #letGo(workflowId: string, stepId: string): void {
    const workflow = this.table.getLive(workflowId);
    if (workflow?.steps.get(stepId)?.hold !== 'condition') return;
    this.#steps.release(workflow, planOf(workflow, stepId));
    this.#advance(workflowId);
  }

  beforeStart(row: TaskRow): { skip: boolean; message: string } | null {
    const found = this.#stepOf(row);
    if (found === null || row.request.role !== 'step') return null;
    const { workflow, plan } = found;
    // Without a wait the condition was looked at a moment ago; what goes on after a restart had begun already.
    if (plan.condition === null || row.attempt > 1 || row.createdAt >= this.#now()) return null;
    const verdict = this.#steps.verdict(plan.condition, workflow, this.#steps.context());
    if (verdict.holds) return null;
    const skip = plan.onConditionFalse === 'SKIP';
    if (skip) this.#skipping.add(row.taskId);
    return { skip, message: verdict.why };
  }

  started(row: TaskRow): void {
    const found = this.#stepOf(row);
    if (found === null || row.request.role !== 'step') return;
    this.#steps.started(found.workflow, found.plan);
    this.#progress.changed(found.workflow.row.workflowId);
    this.#advance(found.workflow.row.workflowId);
  }

  waiting(row: TaskRow, why: string): void {
    const found = this.#stepOf(row);
    if (found === null || row.request.role !== 'step') return;
    this.#steps.wait(found.workflow, found.plan, { hold: 'queue' }, why);
    this.#progress.changed(found.workflow.row.workflowId);
  }

  ended(row: TaskRow): void {
    const found = this.#stepOf(row);
    if (found === null || row.outcome === null) return;
    const { workflow, plan } = found;
    const completed = row.outcome.event === 'COMPLETED';
    if (row.request.role === 'compensation') this.#steps.compensated(workflow, plan, completed);
    else if (completed) this.#steps.completed(workflow, plan, row.outcome);
    else if (this.#skipping.delete(row.taskId)) {
      this.#steps.skip(workflow, plan, row.outcome.message ?? 'its condition is false');
    } else this.#steps.taskFailed(workflow, plan, row);
    this.#progress.changed(workflow.row.workflowId);
    this.#advance(workflow.row.workflowId);
  }

  /** Ends the workflow without what the defect kept it from: its step counts as failed. */
  broken(row: TaskRow, errorId: string): void {
    const found = this.#stepOf(row);
    if (found === null) return;
    const { workflow, plan } = found;
    const { workflowId, ending } = workflow.row;
    const failed = { reason: 'INTERNAL_ERROR', message: defectMessage(errorId) } as const;
    if (row.request.role === 'compensation') this.#steps.compensated(workflow, plan, false);
    else
      this.table.patchStep(workflowId, plan.stepId, {
        ...failed,
        state: 'FAILED',
        hold: null,
        endedAt: this.#now(),
      });
    if (ending === null) this.#beginEnding(workflowId, { as: 'FAILED', ...failed });
    this.#advance(workflowId);
  }

  #advance(workflowId: string): void {
    if (this.#advancing.has(workflowId)) return;
    this.#advancing.add(workflowId);
    try {
      for (;;) {
        const workflow = this.table.getLive(workflowId);
        const move = workflow === null ? null : nextMove(workflow);
        if (workflow === null || move === null) return;
        this.#make(workflow, move);
        this.#progress.changed(workflowId);
      }
    } finally {
      this.#advancing.delete(workflowId);
    }
  }

  #make(workflow: Workflow, move: Move): void {
    const { workflowId } = workflow.row;
    const plan = 'stepId' in move ? planOf(workflow, move.stepId) : null;
    if (plan !== null) this.#makeStep(workflow, plan, move);
    else if (move.do === 'beginEnding') this.#beginEnding(workflowId, move.ending);
    else if (move.do === 'finish') this.#finish(workflowId, move.ending);
  }

  #makeStep(workflow: Workflow, plan: StepPlan, move: Move): void {
    const steps = this.#steps;
    if (move.do === 'proceed') steps.proceed(workflow, plan);
    else if (move.do === 'skip') steps.skip(workflow, plan, move.why);
    else if (move.do === 'fail')
      steps.fail(workflow, plan, { reason: 'DEPENDENCY_FAILED', message: move.why });
    else if (move.do === 'giveUp') steps.giveUp(workflow, plan, null);
    else if (move.do === 'drop') steps.drop(workflow, plan);
    else if (move.do === 'stop') steps.stop(workflow, plan);
    else if (move.do === 'compensate') steps.compensate(workflow, plan);
  }

  #beginEnding(workflowId: string, ending: Ending): void {
    const { row, steps } = this.table.setState(workflowId, 'CANCELLING', { ending });
    // All at once: a lease that the first of them gives back must not start the next.
    for (const { taskId } of steps.values()) if (taskId !== null) this.#d.core.hold(taskId);
    for (const plan of row.request.plans) {
      const step = steps.get(plan.stepId);
      if (step === undefined || !isTakenBack(plan, step, ending)) continue;
      this.table.patchStep(workflowId, plan.stepId, { compensation: 'due' });
    }
  }

  #finish(workflowId: string, ending: Ending): void {
    const ended = this.table.setState(workflowId, ending.as, { ending, endedAt: this.#now() });
    this.#d.events.publish(ending.as, workflowSubject(ended), {
      reason: ending.reason,
      message: ending.message,
      evidence: endEvidence(ended, ending, this.#now()),
      output: ending.as === 'COMPLETED' ? cloudOutputs(ended) : null,
    });
  }

  #timerDue(payload: unknown): void {
    if (!isTimerPayload(payload)) throw new Error('a workflow timer carries no step');
    const workflow = this.table.getLive(payload.workflowId);
    const step = workflow?.steps.get(payload.stepId);
    if (!workflow || !step) return;
    const plan = planOf(workflow, step.stepId);
    if (step.hold === 'condition') this.#steps.timedOut(workflow, plan);
    else if (step.hold === 'amendment') {
      this.#steps.giveUp(workflow, plan, `no amendment came within ${this.#d.limits.amendmentWaitMs} ms`);
    } else if (step.hold === 'delay' || step.hold === 'backoff') this.#steps.release(workflow, plan);
    this.#advance(payload.workflowId);
  }

  #awaiting(workflow: Workflow): { workflow: Workflow; plan: StepPlan }[] {
    return [...workflow.steps.values()]
      .filter((step) => step.hold === 'condition')
      .map((step) => ({ workflow, plan: planOf(workflow, step.stepId) }));
  }

  #keepLooking(): void {
    this.#stopLooking ??= this.#d.clock.every(this.#d.limits.conditionPollMs, () => {
      // What cannot be stored now still holds at the next look, or it does not.
      tolerateStore(() => this.look());
    });
  }

  #checkRoom(workflowId: string): void {
    const { outbox, limits } = this.#d;
    if (this.table.get(workflowId) !== null) {
      const message = `workflow.workflow_id: found "${workflowId}"; this id was used before`;
      throw new Refusal('INVALID_PARAMS', message, 'workflow.workflow_id');
    }
    if (!outbox.hasRoom()) {
      throw new Refusal('TASK_MANAGER_BUSY', 'no further workflow is taken now: the outbox is full');
    }
    if (this.table.live().length >= limits.maxLiveWorkflows) {
      const message = `no further workflow is taken now: ${limits.maxLiveWorkflows} are live`;
      throw new Refusal('TASK_MANAGER_BUSY', message);
    }
  }

  #owner(row: TaskRow): Workflow | null {
    const { role, workflowId } = row.request;
    return role === null || workflowId === null ? null : this.table.getLive(workflowId);
  }

  /** The step whose newest task, or whose compensation, this is. */
  #stepOf(row: TaskRow): { workflow: Workflow; plan: StepPlan } | null {
    const workflow = this.#owner(row);
    const step = workflow?.steps.get(row.request.stepId ?? '');
    if (!workflow || !step) return null;
    if (step.taskId !== row.taskId && step.compensationTaskId !== row.taskId) return null;
    return { workflow, plan: planOf(workflow, step.stepId) };
  }

  #mustGet(workflowId: string): Workflow {
    const workflow = this.table.get(workflowId);
    if (workflow === null)
      throw new Refusal('NOT_FOUND', `there is no workflow ${workflowId}`, 'workflow_id');
    return workflow;
  }

  #mustBeLive(workflowId: string): Workflow {
    const workflow = this.#mustGet(workflowId);
    if (workflow.row.endedAt === null) return workflow;
    throw new Refusal(
      'ILLEGAL_STATE',
      `workflow ${workflowId} is ${workflow.row.state} already`,
      'workflow_id',
    );
  }

  #mustNotEnd({ row }: Workflow): void {
    if (row.ending === null) return;
    const message = `workflow ${row.workflowId} is ending already (${row.ending.as})`;
    throw new Refusal('ILLEGAL_STATE', message, 'workflow_id');
  }

  #mustBe({ row }: Workflow, state: 'RUNNING' | 'PAUSED', what: string): void {
    if (row.state === state) return;
    const message = `workflow ${row.workflowId} is ${row.state}: it cannot be ${what}`;
    throw new Refusal('ILLEGAL_STATE', message, 'workflow_id');
  }

  #now(): number {
    return Math.round(this.#d.clock.now());
  }
}

/** Who takes back what an amendment displaced. */
function cancellerOf(source: Source): Canceller {
  if (source === 'CLOUD') return 'CLOUD';
  return source === 'VOICE' || source === 'APP' || source === 'LOCAL' ? 'USER' : 'SYSTEM';
}

function isTimerPayload(value: unknown): value is { workflowId: string; stepId: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'workflowId' in value &&
    typeof value.workflowId === 'string' &&
    'stepId' in value &&
    typeof value.stepId === 'string'
  );
}
