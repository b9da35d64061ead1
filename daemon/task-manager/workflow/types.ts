/** Workflows as the engine keeps them. Values are never changed in place. */
import type { TaskReason } from '../../../config/contracts/reason-codes.js';
import type { Source } from '../../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../../config/contracts/wire/workflow.js';
import type { RunLabel } from '../schedule/types.js';
import type { StepState, WorkflowState } from '../types.js';

/** A step of the document with everything decided that can be decided before it runs. */
export interface StepPlan {
  stepId: string;
  method: string;
  /** May hold templates. */
  params: Record<string, unknown>;
  /** Steps that have to be over, or (by their `waitPolicy`) begun, first; those of `after_step` included. */
  dependsOn: string[];
  /** Steps whose output params or conditions refer to. */
  needs: string[];
  condition: string | null;
  onConditionFalse: 'FAIL' | 'SKIP';
  waitUntil: { condition: string; timeoutMs: number } | null;
  afterStep: { stepId: string; delayMs: number } | null;
  failurePolicy: 'ABORT' | 'CONTINUE' | 'RETRY' | 'COMPENSATE' | 'REPLAN';
  retry: { max: number; backoffMs: number };
  /** `declared`: by the document; otherwise the method's own. */
  compensation: { method: string; params: Record<string, unknown>; declared: boolean } | null;
  timeoutMs: number | null;
  waitPolicy: 'COMPLETION' | 'ACCEPTED' | 'NONE';
  priority: number | null;
  cloudOutputKey: string | null;
  /** Who put it in, when an amendment by somebody else than the workflow's own source did. */
  source?: Source;
}

export interface StepStatus {
  stepId: string;
  state: StepState;
  /** What a WAITING step waits for. `queue`: its task has not started yet. `amendment`: it failed, see REPLAN. */
  hold: 'delay' | 'condition' | 'backoff' | 'queue' | 'amendment' | null;
  attempt: number;
  /** The attempt at which its present plan began; an amendment that replaces a step goes on counting. Absent: 1. */
  firstAttempt?: number;
  /** The task of the newest attempt. */
  taskId: string | null;
  startedAt: number | null;
  endedAt: number | null;
  waitingFor: string | null;
  /** WORKFLOW_STEP_WAITING events of this attempt. */
  waits: number;
  reason: TaskReason | null;
  message: string | null;
  evidence: Record<string, unknown> | null;
  output: Record<string, unknown> | null;
  /** It failed, and its policy is to go on. */
  tolerated: boolean;
  delayServed: boolean;
  /** What is left of the time-out of a `wait_until`, or of the wait for an amendment, after a pause, ms. */
  waitLeftMs: number | null;
  /** Its place among the finished steps; compensations run in the reverse order. */
  order: number | null;
  stopAsked: boolean;
  compensation: 'due' | 'running' | 'done' | 'failed' | null;
  compensationTaskId: string | null;
}

export interface WorkflowRequest {
  document: WorkflowDocument;
  plans: StepPlan[];
  source: Source;
  /** Who wanted it, when that is not the source. */
  origin?: Source;
  correlationId: string | null;
  traceId: string | null;
  /** The run of a schedule that it is. */
  run?: RunLabel;
  /** What amendments did to it; absent: none. */
  amended?: Amended;
}

export interface Amended {
  /** Amendments by the cloud: each costs one of `replan_budget.cloud_replans`. */
  cloudReplans: number;
  /** Ids of removed steps: the keys of their events are used up. */
  removed: string[];
}

/** How a workflow is ending; it ends once everything has stopped and the compensations are done. */
export interface Ending {
  as: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  reason: TaskReason | null;
  message: string | null;
  /** Which compensations run, also of steps that end only now; absent: none. */
  undo?: 'declared' | 'all';
}

export interface WorkflowRow {
  n: number;
  workflowId: string;
  state: WorkflowState;
  revision: number;
  request: WorkflowRequest;
  ending: Ending | null;
  createdAt: number;
  endedAt: number | null;
}

/** A live workflow and its steps, by id in the order of the document. */
export interface Workflow {
  row: WorkflowRow;
  steps: ReadonlyMap<string, StepStatus>;
}

export function newStep(stepId: string, attempt = 1): StepStatus {
  return {
    stepId,
    state: 'PENDING',
    hold: null,
    attempt,
    firstAttempt: attempt,
    taskId: null,
    startedAt: null,
    endedAt: null,
    waitingFor: null,
    waits: 0,
    reason: null,
    message: null,
    evidence: null,
    output: null,
    tolerated: false,
    delayServed: false,
    waitLeftMs: null,
    order: null,
    stopAsked: false,
    compensation: null,
    compensationTaskId: null,
  };
}
