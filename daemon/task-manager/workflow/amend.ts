/** `amendWorkflow`: what a live workflow becomes. Pure; throws one `Refusal` that lists everything that is wrong. */
import { Refusal } from '../../../config/contracts/errors.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import type { Amendment } from '../types.js';
import { type CompileDeps, compileWorkflow, invalid, type Problem } from './compile.js';
import { isOver } from './decide.js';
import { replansLeft } from './replan.js';
import { newStep, type StepPlan, type StepStatus, type Workflow, type WorkflowRequest } from './types.js';

export const MAX_AMENDMENTS = 100;

export interface Amended {
  request: WorkflowRequest;
  /** Every step of the amended document, in its order. */
  steps: ReadonlyMap<string, StepStatus>;
  /** Steps that were replaced or removed, as they stood: their tasks and timers have to go. */
  displaced: StepStatus[];
}

export function amendWorkflow(
  workflow: Workflow,
  amendment: Amendment,
  source: Source,
  deps: CompileDeps,
): Amended {
  const { request, revision, workflowId } = workflow.row;
  requireRevision(workflowId, revision, amendment.baseRevision);
  requireBudget(request, source);
  requireEnd(workflowId, revision);
  const problems: Problem[] = [];
  const steps = amendedSteps(workflow, amendment, problems);
  const changed = new Set([...amendment.add, ...amendment.replace].map((step) => step.step_id));
  const document = { ...request.document, steps };
  const compiled = compileWorkflow(document, deps, {
    kept: new Map(request.plans.filter((p) => !changed.has(p.stepId)).map((p) => [p.stepId, p])),
    withoutOutput: endedWithoutOutput(workflow),
    problems,
  });
  const plans = compiled.map((plan) => (changed.has(plan.stepId) ? ownedBy(plan, source, request) : plan));
  return {
    request: { ...request, document, plans, amended: accounted(request, amendment, source) },
    steps: new Map(
      plans.map(({ stepId }) => [stepId, statusOf(workflow.steps.get(stepId), stepId, changed)]),
    ),
    displaced: [...workflow.steps.values()].filter(
      ({ stepId }) => changed.has(stepId) || amendment.remove.includes(stepId),
    ),
  };
}

function requireRevision(workflowId: string, revision: number, base: number): void {
  if (revision === base) return;
  throw new Refusal(
    'ILLEGAL_STATE',
    `base_revision: found ${base}; workflow ${workflowId} stands at revision ${revision}: read it and amend that`,
    'base_revision',
  );
}

/** The budget bounds the planner in the cloud, not the people at home. */
function requireBudget(request: WorkflowRequest, source: Source): void {
  if (source !== 'CLOUD' || replansLeft(request) > 0) return;
  const used = request.amended?.cloudReplans ?? 0;
  throw new Refusal(
    'REPLAN_BUDGET_EXHAUSTED',
    `workflow ${request.document.workflow_id} was amended ${used} times by the cloud; no cloud_replans are left`,
    'workflow_id',
  );
}

/** People pay nothing, and what a row remembers of its amendments has an end all the same. */
function requireEnd(workflowId: string, revision: number): void {
  if (revision <= MAX_AMENDMENTS) return;
  throw new Refusal(
    'ILLEGAL_STATE',
    `workflow ${workflowId} was amended ${MAX_AMENDMENTS} times already: submit another one`,
    'workflow_id',
  );
}

/** Replaced in their places, without the removed, the new ones behind. */
function amendedSteps(workflow: Workflow, amendment: Amendment, problems: Problem[]): WorkflowStep[] {
  const { add, replace, remove } = amendment;
  if (add.length + replace.length + remove.length === 0) {
    problems.push(invalid('add', 'found nothing in add, replace and remove: an amendment changes something'));
  }
  const named = new Map<string, string>();
  const isFirst = (stepId: string, list: string): boolean => {
    const before = named.get(stepId);
    if (before === undefined) named.set(stepId, list);
    else problems.push(invalid(`${list}.${stepId}`, `this step stands in ${before} already`));
    return before === undefined;
  };
  const replaced = new Map(
    replace
      .filter(({ step_id: id }) => isFirst(id, 'replace') && mayChange(workflow, id, 'replace', problems))
      .map((step) => [step.step_id, step]),
  );
  const removed = new Set(
    remove.filter((id) => isFirst(id, 'remove') && mayChange(workflow, id, 'remove', problems)),
  );
  const added = add.filter(({ step_id: id }) => isFirst(id, 'add') && isNew(workflow, id, problems));
  const { steps } = workflow.row.request.document;
  const left = steps.filter((step) => !removed.has(step.step_id));
  const result = [...left.map((step) => replaced.get(step.step_id) ?? step), ...added];
  if (result.length === 0) problems.push(invalid('remove', 'no step would be left; cancel the workflow'));
  return result;
}

function isNew({ row, steps }: Workflow, stepId: string, problems: Problem[]): boolean {
  const field = `add.${stepId}`;
  if (steps.has(stepId)) problems.push(invalid(field, 'a step has this id; use replace, or another id'));
  else if (row.request.amended?.removed.includes(stepId) === true) {
    problems.push(invalid(field, 'a step that was removed had this id; every step needs its own'));
  } else return true;
  return false;
}

function mayChange({ steps }: Workflow, stepId: string, list: string, problems: Problem[]): boolean {
  const status = steps.get(stepId);
  if (status === undefined) problems.push(invalid(`${list}.${stepId}`, 'there is no such step'));
  else if (hasBegun(status)) {
    const text = `it is ${status.state}; only a step that has not begun, or failed and waits for an amendment, can change`;
    problems.push(invalid(`${list}.${stepId}`, text));
  } else return true;
  return false;
}

/** A failed step that waits for an amendment may change: that is what it waits for. */
function hasBegun(status: StepStatus): boolean {
  if (status.hold === 'amendment') return false;
  if (status.state !== 'PENDING' && status.state !== 'WAITING') return true;
  return status.startedAt !== null || status.attempt > (status.firstAttempt ?? 1);
}

function endedWithoutOutput({ steps }: Workflow): Map<string, string> {
  const ended = [...steps.values()].filter((step) => isOver(step) && step.output === null);
  return new Map(ended.map((step) => [step.stepId, step.state]));
}

/** A step runs with the rights of whoever wrote it, not of whoever wrote the rest of the workflow. */
function ownedBy(plan: StepPlan, source: Source, request: WorkflowRequest): StepPlan {
  return source === request.source ? plan : { ...plan, source };
}

function accounted(request: WorkflowRequest, { remove }: Amendment, source: Source) {
  const before = request.amended ?? { cloudReplans: 0, removed: [] };
  return {
    cloudReplans: before.cloudReplans + (source === 'CLOUD' ? 1 : 0),
    removed: [...before.removed, ...remove],
  };
}

/** A replaced step goes on counting attempts where events carry the number already. */
function statusOf(before: StepStatus | undefined, stepId: string, changed: ReadonlySet<string>): StepStatus {
  if (before === undefined) return newStep(stepId);
  if (!changed.has(stepId)) return before;
  const untold = before.state === 'PENDING' && before.waits === 0;
  return newStep(stepId, untold ? before.attempt : before.attempt + 1);
}
