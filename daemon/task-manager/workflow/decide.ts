/** What a workflow does next: a pure function of its steps. */
import { awaitingAmendment, isReplannable, replansLeft } from './replan.js';
import type { Ending, StepPlan, StepStatus, Workflow } from './types.js';

export type Move =
  /** All that it depends on is there: conditions, then its task. */
  | { do: 'proceed'; stepId: string }
  /** It needs the output of a step that was skipped. */
  | { do: 'skip'; stepId: string; why: string }
  /** It needs the output of a step that failed. */
  | { do: 'fail'; stepId: string; why: string }
  | { do: 'beginEnding'; ending: Ending }
  /** It failed, and no amendment can come any more. */
  | { do: 'giveUp'; stepId: string }
  /** It has not begun, and will not. */
  | { do: 'drop'; stepId: string }
  /** Its task has to stop. */
  | { do: 'stop'; stepId: string }
  | { do: 'compensate'; stepId: string }
  | { do: 'finish'; ending: Ending };

/** The next move, or null while something is awaited. Each move changes the workflow, so moves come to an end. */
export function nextMove(workflow: Workflow): Move | null {
  if (workflow.row.endedAt !== null) return null;
  return workflow.row.ending === null ? moveOn(workflow) : wind(workflow, workflow.row.ending);
}

function moveOn(workflow: Workflow): Move | null {
  const { row, steps } = workflow;
  const { plans } = row.request;
  const failed = [...steps.values()].find(
    (s) => (s.state === 'FAILED' || s.state === 'CANCELLED') && !s.tolerated,
  );
  if (failed !== undefined) return beginFailing(workflow, failed);
  if ([...steps.values()].every(isOver)) return { do: 'beginEnding', ending: completed(steps) };
  const [awaiting] = awaitingAmendment(workflow);
  if (awaiting !== undefined) {
    return replansLeft(row.request) > 0 ? null : { do: 'giveUp', stepId: awaiting.stepId };
  }
  if (row.state === 'PAUSED') return null;
  for (const plan of plans) {
    if (steps.get(plan.stepId)?.state !== 'PENDING') continue;
    if (!plan.dependsOn.every((id) => isReleased(workflow, id))) continue;
    return missingNeed(plan, steps) ?? { do: 'proceed', stepId: plan.stepId };
  }
  return null;
}

function missingNeed(plan: StepPlan, steps: Workflow['steps']): Move | null {
  for (const id of plan.needs) {
    const state = steps.get(id)?.state;
    if (state === 'SKIPPED') {
      return { do: 'skip', stepId: plan.stepId, why: `it needs the output of ${id}, which was skipped` };
    }
    if (state === 'FAILED' || state === 'CANCELLED') {
      return { do: 'fail', stepId: plan.stepId, why: `it needs the output of ${id}, which failed` };
    }
  }
  return null;
}

/** Whether a step lets go of those that depend on it. */
function isReleased(workflow: Workflow, stepId: string): boolean {
  const status = workflow.steps.get(stepId);
  if (status === undefined) return false;
  if (isOver(status)) return true;
  const policy = workflow.row.request.plans.find((plan) => plan.stepId === stepId)?.waitPolicy;
  if (policy === 'ACCEPTED') return status.state === 'RUNNING';
  return policy === 'NONE' && (status.state === 'RUNNING' || status.hold === 'queue');
}

export function isOver(status: StepStatus): boolean {
  return (
    status.state === 'COMPLETED' ||
    status.state === 'SKIPPED' ||
    status.state === 'FAILED' ||
    status.state === 'CANCELLED'
  );
}

function completed(steps: Workflow['steps']): Ending {
  const tolerated = [...steps.values()].filter((s) => s.tolerated).map((s) => s.stepId);
  const message = tolerated.length === 0 ? null : `failed and tolerated: ${tolerated.join(', ')}`;
  return { as: 'COMPLETED', reason: null, message };
}

function beginFailing(workflow: Workflow, failed: StepStatus): Move {
  const message = `step ${failed.stepId}: ${failed.message ?? failed.reason ?? failed.state}`;
  const undo = undoOfFailure(workflow, failed);
  const ending: Ending = isOutOfReplans(workflow, failed)
    ? {
        as: 'FAILED',
        reason: 'REPLAN_BUDGET_EXHAUSTED',
        message: `${message} (${failed.reason}); no cloud_replans are left`,
        undo,
      }
    : { as: 'FAILED', reason: failed.reason, message, undo };
  return { do: 'beginEnding', ending };
}

/** It would have waited for an amendment, had the cloud still been allowed one. */
function isOutOfReplans({ row }: Workflow, failed: StepStatus): boolean {
  const policy = row.request.plans.find((plan) => plan.stepId === failed.stepId)?.failurePolicy;
  return policy === 'REPLAN' && isReplannable(failed.reason) && replansLeft(row.request) === 0;
}

/** A failed workflow runs the compensations that its document declares. Policy COMPENSATE adds the methods' own. */
function undoOfFailure({ row }: Workflow, failed: StepStatus): 'declared' | 'all' {
  const policy = row.request.plans.find((plan) => plan.stepId === failed.stepId)?.failurePolicy;
  return policy === 'COMPENSATE' ? 'all' : 'declared';
}

/**
 * Whether a step is taken back when its workflow ends so: when it was completed, be it while everything else was being
 * stopped. One that a restart cut short is taken back in any case: nobody knows how much of it was done.
 */
export function isTakenBack(
  { compensation }: StepPlan,
  { state, reason }: Pick<StepStatus, 'state' | 'reason'>,
  { undo }: Ending,
): boolean {
  if (compensation === null || undo === undefined) return false;
  if (state === 'FAILED' && reason === 'RESTARTED') return true;
  return state === 'COMPLETED' && (undo === 'all' || compensation.declared);
}

/** Stops what runs, then takes back what is to be taken back, newest first, one at a time. */
function wind({ steps }: Workflow, ending: Ending): Move | null {
  const all = [...steps.values()];
  const active = all.filter((status) => !isOver(status));
  for (const status of active) {
    if (status.hold === 'amendment') return { do: 'giveUp', stepId: status.stepId };
    if (!hasLiveTask(status)) return { do: 'drop', stepId: status.stepId };
    if (!status.stopAsked) return { do: 'stop', stepId: status.stepId };
  }
  if (active.length > 0 || all.some((s) => s.compensation === 'running')) return null;
  const due = all.filter((s) => s.compensation === 'due').sort((a, b) => (b.order ?? 0) - (a.order ?? 0));
  const next = due[0];
  if (next !== undefined) return { do: 'compensate', stepId: next.stepId };
  return { do: 'finish', ending: finalEnding(ending, all) };
}

function hasLiveTask(status: StepStatus): boolean {
  return status.state === 'RUNNING' || (status.state === 'WAITING' && status.hold === 'queue');
}

/** CANCELLED says that everything stands still. Where a stop was not proven, the workflow failed. */
function finalEnding(ending: Ending, steps: readonly StepStatus[]): Ending {
  const failedUndo = steps.filter((s) => s.compensation === 'failed').map((s) => s.stepId);
  const note = failedUndo.length === 0 ? '' : `; not compensated: ${failedUndo.join(', ')}`;
  const message = note === '' ? ending.message : `${ending.message ?? ending.as}${note}`;
  const unproven = steps.find(
    (s) =>
      s.stopAsked &&
      s.state === 'FAILED' &&
      (s.reason === 'HARDWARE_FAULT' || s.reason === 'INTERNAL_ERROR' || s.reason === 'RESTARTED'),
  );
  if (ending.as !== 'CANCELLED' || unproven === undefined) return { ...ending, message };
  return {
    as: 'FAILED',
    reason: unproven.reason,
    message: `cancelled, but step ${unproven.stepId} did not prove its stop: ${unproven.message ?? ''}${note}`,
  };
}
