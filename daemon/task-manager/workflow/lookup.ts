/** Steps of a workflow by id. A step that is not there is a defect. */
import type { StepPlan, StepStatus, Workflow } from './types.js';

export function planOf(workflow: Workflow, stepId: string): StepPlan {
  const plan = workflow.row.request.plans.find((candidate) => candidate.stepId === stepId);
  if (plan === undefined) throw new Error(`workflow ${workflow.row.workflowId} has no step ${stepId}`);
  return plan;
}

export function stepIn(workflow: Workflow, stepId: string): StepStatus {
  const step = workflow.steps.get(stepId);
  if (step === undefined) throw new Error(`workflow ${workflow.row.workflowId} has no step ${stepId}`);
  return step;
}
