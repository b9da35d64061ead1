/** `kind: workflow`: a whole document, its steps completed with the defaults of `task`. */
import type { Command, TaskMetadata } from '../../../config/contracts/wire/command.js';
import type { WorkflowDocument, WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import { invalid } from '../envelope.js';
import type { IntakeDeps, Principal } from '../types.js';
import { type Accepted, changes } from './accepted.js';
import { allowSteps } from './allow-steps.js';

type WorkflowCommand = Extract<Command, { kind: 'workflow' }>;

/** Metadata that makes sense for every step of a workflow, or for the workflow as a whole. */
const SHARED: readonly (keyof TaskMetadata)[] = [
  'managed',
  'priority',
  'timeoutMs',
  'failurePolicy',
  'wait_policy',
  'cancellable',
  'stateAware',
  'cloud_workflow_id',
  'cloud_plan_id',
  'traceId',
  'correlationId',
  'replyTo',
];

/** Throws `Refusal`. */
export function submitWorkflow(command: WorkflowCommand, principal: Principal, deps: IntakeDeps): Accepted {
  const task = command.task ?? {};
  judgeDefaults(task, command.workflow);
  const completed = withDefaults(command.workflow, task);
  allowSteps(completed.steps, 'workflow.steps', principal, deps);
  const { document, clamped } = deps.policy.applyToWorkflow(principal.source, completed);
  const record = deps.tasks.submitWorkflow(document, {
    source: principal.source,
    correlationId: command.correlation_id ?? null,
    traceId: task.traceId ?? null,
  });
  return {
    workflowId: record.workflowId,
    result: { revision: record.revision, ...changes(clamped) },
  };
}

function judgeDefaults(task: TaskMetadata, workflow: WorkflowDocument): void {
  for (const [key, value] of Object.entries(task)) {
    if (value === undefined || value === null || SHARED.some((shared) => shared === key)) continue;
    throw invalid(`task.${key}`, value, `for a workflow, task may carry ${SHARED.join(', ')}`);
  }
  if (task.managed === false) throw invalid('task.managed', false, 'a workflow is always managed');
  if (task.stateAware === false)
    throw invalid('task.stateAware', false, 'the device always checks its state');
  if (task.cancellable === false)
    throw invalid('task.cancellable', false, 'a workflow can always be cancelled');
  const { cloud_workflow_id: id } = task;
  if (id !== undefined && id !== null && id !== workflow.workflow_id) {
    throw invalid('task.cloud_workflow_id', id, `allowed is that of the document, ${workflow.workflow_id}`);
  }
}

/** What a step says itself wins. */
function withDefaults(document: WorkflowDocument, task: TaskMetadata): WorkflowDocument {
  const defaults: Partial<WorkflowStep> = {
    ...(task.priority === undefined ? {} : { priority: task.priority }),
    ...(task.timeoutMs === undefined ? {} : { timeout_ms: task.timeoutMs }),
    ...(task.failurePolicy === undefined ? {} : { failure_policy: task.failurePolicy }),
    ...(task.wait_policy === undefined ? {} : { wait_policy: task.wait_policy }),
  };
  const plan = document.plan_id ?? task.cloud_plan_id;
  return {
    ...document,
    ...(plan === undefined ? {} : { plan_id: plan }),
    steps: document.steps.map((step) => ({ ...defaults, ...step })),
  };
}
