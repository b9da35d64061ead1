/** The tasks of steps and of compensations: from a plan to what the TaskManager takes. */
import { isRefusal } from '../../../config/contracts/errors.js';
import type { TaskReason } from '../../../config/contracts/reason-codes.js';
import { StoreError } from '../../store/store-error.js';
import type { Admitted } from '../admission.js';
import { type Defects, defectMessage } from '../defects.js';
import { refusedOutcome } from '../lifecycle.js';
import type { TaskCore } from '../task-core.js';
import type { SubmitTask } from '../types.js';
import { outputsOf } from './records.js';
import { MissingOutput, renderParams } from './templates.js';
import type { StepPlan, Workflow } from './types.js';

export interface StepFailure {
  reason: TaskReason;
  message: string;
  observedAtMs?: number | null;
  evidence?: Record<string, unknown> | null;
}

interface PrepareDeps {
  core: TaskCore;
  defects: Defects;
}

/** Puts outputs into the params and asks the method whether it takes them. */
export function prepareTask(
  deps: PrepareDeps,
  workflow: Workflow,
  plan: StepPlan,
  method: string,
  template: Record<string, unknown>,
): { submit: SubmitTask; admitted: Admitted } | { failure: StepFailure } {
  try {
    const params = renderParams(template, outputsOf(workflow));
    return { submit: submitOf(workflow, plan, method, params), admitted: deps.core.admit(method, params) };
  } catch (error) {
    return { failure: failureOf(error, deps.defects) };
  }
}

function failureOf(error: unknown, defects: Defects): StepFailure {
  if (error instanceof StoreError) throw error;
  if (error instanceof MissingOutput) return { reason: 'STATE_CONDITION_FAILED', message: error.message };
  if (isRefusal(error)) {
    const { reason, observedAtMs } = refusedOutcome(error);
    return { reason: reason ?? 'CAPABILITY_UNAVAILABLE', message: error.message, observedAtMs };
  }
  const errorId = defects.record(error, { where: 'admission of a step' });
  return { reason: 'INTERNAL_ERROR', message: defectMessage(errorId) };
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
    source: plan.source ?? row.request.source,
    legacy: false,
    correlationId: row.request.correlationId,
    // A step that an amendment brought acts for whoever sent that.
    ...(row.request.origin === undefined || plan.source != null ? {} : { origin: row.request.origin }),
    ...(row.request.run === undefined ? {} : { run: row.request.run }),
    workflow: {
      workflowId: row.workflowId,
      stepId: plan.stepId,
      planId: row.request.document.plan_id ?? null,
    },
  };
}
