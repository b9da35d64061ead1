/** Makes the task or the workflow of a run, or says why not. */
import { isRefusal, Refusal } from '../../../config/contracts/errors.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import type { Store } from '../../store/store.js';
import { type Admitted, requestOf } from '../admission.js';
import { contender } from '../candidates.js';
import { type Defects, defectMessage } from '../defects.js';
import type { TaskCore } from '../task-core.js';
import type { SubmitTask } from '../types.js';
import type { CompileDeps } from '../workflow/compile.js';
import { compileWorkflow } from '../workflow/compile.js';
import type { WorkflowEngine } from '../workflow/engine.js';
import type { StepPlan } from '../workflow/types.js';
import type { RunLabel, ScheduleRequest } from './types.js';

export interface RunAdmissionDeps {
  store: Store;
  core: TaskCore;
  engine: WorkflowEngine;
  defects: Defects;
  compile: Omit<CompileDeps, 'nowMs'>;
}

export type RunAdmission =
  | { as: 'submitted'; taskId: string | null; workflowId: string | null }
  /** Tried again while its grace lasts. */
  | { as: 'blocked'; message: string }
  | { as: 'refused'; refusal: Refusal };

/** Inside a `write`; what a refusal leaves half done is undone. */
export function admitRun(
  request: ScheduleRequest,
  label: RunLabel,
  nowMs: number,
  deps: RunAdmissionDeps,
): RunAdmission {
  try {
    return deps.store.write(() => submitted(request, label, nowMs, deps));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (error.reason === 'TASK_MANAGER_BUSY') return { as: 'blocked', message: error.message };
    return { as: 'refused', refusal: error };
  }
}

function submitted(
  request: ScheduleRequest,
  label: RunLabel,
  nowMs: number,
  deps: RunAdmissionDeps,
): RunAdmission {
  const { target, createdBy, correlationId } = request;
  const owner = { source: 'SCHEDULE', origin: createdBy, correlationId, run: label } as const;
  if (target.kind === 'task') {
    const { method, params, task } = target;
    const submit: SubmitTask = { method, params, task, legacy: false, ...owner };
    requireTurn(submit, deps.core.admit(method, params), deps.core);
    return { as: 'submitted', taskId: deps.core.submit(submit).taskId, workflowId: null };
  }
  const document = documentOf(target.document, label.runId);
  for (const plan of compileWorkflow(document, { ...deps.compile, nowMs })) {
    const submit = firstTask(plan, owner);
    if (submit !== null) requireTurn(submit, deps.core.admit(submit.method, submit.params), deps.core);
  }
  const { row } = deps.engine.submit(document, { ...owner, traceId: target.traceId });
  return { as: 'submitted', taskId: null, workflowId: row.workflowId };
}

/** Each run has a workflow of its own: ids of workflows are never used twice. */
function documentOf(document: WorkflowDocument, runId: string): WorkflowDocument {
  return { ...document, workflow_id: `${document.workflow_id}.${runId}` };
}

/** The task with which a workflow begins at once; null for a step that waits for something first. */
function firstTask(plan: StepPlan, owner: Pick<SubmitTask, 'source' | 'origin' | 'correlationId'>) {
  if (plan.dependsOn.length > 0 || plan.condition !== null || plan.waitUntil !== null) return null;
  const { method, params, priority } = plan;
  const submit: SubmitTask = {
    method,
    params,
    task: priority === null ? {} : { priority },
    legacy: false,
    ...owner,
  };
  return submit;
}

/** Throws TASK_MANAGER_BUSY when something runs in its place that does not give way to it. */
function requireTurn(submit: SubmitTask, admitted: Admitted, { scheduler }: TaskCore): void {
  const request = requestOf(submit, admitted);
  if (request.dryRun || request.executionMode === 'PARALLEL') return;
  const plan = scheduler.plan(contender('new', request, admitted.spec));
  if (plan.do !== 'wait') return;
  throw new Refusal('TASK_MANAGER_BUSY', `${submit.method} cannot begin: ${plan.why}`);
}

/** A defect ends the run, not the scheduler. */
export function defectRefusal(error: unknown, scheduleId: string, defects: Defects): Refusal {
  const errorId = defects.record(error, { scheduleId, where: 'run of a schedule' });
  return new Refusal('INTERNAL_ERROR', defectMessage(errorId));
}
