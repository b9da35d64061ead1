/** Workflows as others see them: records for callers, subjects and summaries for events. */
import type { EventSubject } from '../task-events.js';
import type { StepRecord, WorkflowRecord } from '../types.js';
import { replansLeft } from './replan.js';
import type { Ending, StepPlan, StepStatus, Workflow } from './types.js';

export function workflowRecord({ row, steps }: Workflow): WorkflowRecord {
  const { document, plans } = row.request;
  return {
    workflowId: row.workflowId,
    planId: document.plan_id ?? null,
    goal: document.goal ?? null,
    state: row.state,
    revision: row.revision,
    source: row.request.source,
    createdAt: row.createdAt,
    endedAt: row.endedAt,
    reasonCode: row.ending?.reason ?? null,
    message: row.ending?.message ?? null,
    replansLeft: replansLeft(row.request),
    document,
    steps: plans.flatMap((plan) => {
      const step = steps.get(plan.stepId);
      return step === undefined ? [] : [stepRecord(plan, step)];
    }),
  };
}

function stepRecord(plan: StepPlan, step: StepStatus): StepRecord {
  return {
    stepId: plan.stepId,
    method: plan.method,
    state: step.state,
    taskId: step.taskId,
    attempt: step.attempt,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    hold: step.hold,
    waitingFor: step.waitingFor,
    reasonCode: step.reason,
    message: step.message,
    evidence: step.evidence,
    output: step.output,
  };
}

export function workflowSubject({ row }: Workflow): EventSubject {
  return {
    taskId: null,
    method: null,
    attempt: 1,
    workflowId: row.workflowId,
    stepId: null,
    planId: row.request.document.plan_id ?? null,
    cloudOutputKey: null,
    source: row.request.source,
    correlationId: row.request.correlationId,
    traceId: row.request.traceId,
    revision: row.revision,
    run: row.request.run ?? null,
  };
}

export function stepSubject(workflow: Workflow, plan: StepPlan, step: StepStatus): EventSubject {
  return {
    ...workflowSubject(workflow),
    taskId: step.taskId,
    method: plan.method,
    attempt: step.attempt,
    stepId: plan.stepId,
    source: plan.source ?? workflow.row.request.source,
    cloudOutputKey: plan.cloudOutputKey,
  };
}

/** Outputs of completed steps by step id, as templates and conditions refer to them. */
export function outputsOf({ steps }: Workflow): Map<string, unknown> {
  const outputs = new Map<string, unknown>();
  for (const step of steps.values()) if (step.output !== null) outputs.set(step.stepId, step.output);
  return outputs;
}

/** Outputs by the key the cloud gave them; null when it gave none. */
export function cloudOutputs({ row, steps }: Workflow): Record<string, unknown> | null {
  const outputs: [string, unknown][] = [];
  for (const plan of row.request.plans) {
    const output = steps.get(plan.stepId)?.output ?? null;
    if (plan.cloudOutputKey !== null && output !== null) outputs.push([plan.cloudOutputKey, output]);
  }
  return outputs.length === 0 ? null : Object.fromEntries(outputs);
}

/** What proves a workflow's end: for CANCELLED that every step has stopped. */
export function endEvidence(
  { steps }: Workflow,
  ending: Ending,
  nowMs: number,
): Record<string, unknown> | null {
  const count = (state: StepStatus['state']) => [...steps.values()].filter((s) => s.state === state).length;
  const counts = { completed: count('COMPLETED'), skipped: count('SKIPPED'), failed: count('FAILED') };
  if (ending.as === 'CANCELLED') return { stopped: true, observed_at_ms: nowMs, steps: counts };
  return { steps: counts, observed_at_ms: nowMs };
}
