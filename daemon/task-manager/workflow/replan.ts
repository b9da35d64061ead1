/** `failure_policy` REPLAN: when a failed step waits for an amendment, and how often the cloud may amend. Pure. */
import type { TaskReason } from '../../../config/contracts/reason-codes.js';
import type { StepStatus, Workflow, WorkflowRequest } from './types.js';

/** Where a document says nothing: the contract's own example. */
export const DEFAULT_CLOUD_REPLANS = 2;

/** Nobody plans around a person's stop; and what a restart cut short is taken back, which ends the workflow. */
const NOT_REPLANNED: ReadonlySet<TaskReason> = new Set<TaskReason>([
  'CANCELLED_BY_USER',
  'CANCELLED_BY_CLOUD',
  'CANCELLED_BY_SYSTEM',
  'EMERGENCY_STOP',
  'RESTARTED',
]);

export function isReplannable(reason: TaskReason | null): boolean {
  return reason !== null && !NOT_REPLANNED.has(reason);
}

/** Amendments that the cloud may still make. */
export function replansLeft({ document, amended }: WorkflowRequest): number {
  const budget = document.replan_budget?.cloud_replans ?? DEFAULT_CLOUD_REPLANS;
  return Math.max(0, budget - (amended?.cloudReplans ?? 0));
}

/** Steps that failed and stand still until somebody amends the workflow. While there is one, nothing new starts. */
export function awaitingAmendment({ steps }: Pick<Workflow, 'steps'>): StepStatus[] {
  return [...steps.values()].filter((step) => step.hold === 'amendment');
}

/** Paused, or with a failed step that waits for an amendment: what runs goes on, and nothing starts. */
export function isHeld(workflow: Workflow): boolean {
  return workflow.row.state === 'PAUSED' || awaitingAmendment(workflow).length > 0;
}
