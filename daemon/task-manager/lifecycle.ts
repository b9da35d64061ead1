/** The states of a task and what may follow what; and how a task ends, given how its `run` did. Pure. */
import { Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { isTaskReason, type TaskReason } from '../../config/contracts/reason-codes.js';
import { type Completion, type MethodSpec, StoppedWithProof } from '../../executors/method.js';
import { defectMessage } from './defects.js';
import type { Outcome, Stopping } from './task.js';
import type { TaskState } from './types.js';

const NEXT: Record<TaskState, readonly TaskState[]> = {
  // Straight to the end: refused by its precondition, or cancelled before it ran. Paused: held before it ran.
  PENDING: ['STARTED', 'PAUSED', 'FAILED', 'CANCELLED'],
  // Back to PENDING: continued after a restart, or tried again.
  STARTED: ['PENDING', 'PAUSED', 'CANCELLING', 'COMPLETED', 'FAILED', 'CANCELLED'],
  // Nothing of it moves, so it can end at once; what goes on waits for its turn first.
  PAUSED: ['PENDING', 'FAILED', 'CANCELLED'],
  // What was being stopped may have reached its goal first, or may not have stopped; what timed out may try again.
  CANCELLING: ['PENDING', 'COMPLETED', 'FAILED', 'CANCELLED'],
  COMPLETED: [],
  FAILED: [],
  CANCELLED: [],
};

export function isTerminal(state: TaskState): boolean {
  return NEXT[state].length === 0;
}

/** Throws when `to` may not follow `from`: that is a defect of the caller. */
export function assertTransition(taskId: string, from: TaskState, to: TaskState): void {
  if (!NEXT[from].includes(to)) {
    throw new Error(
      `task ${taskId} is ${from}: it cannot become ${to} (allowed: ${NEXT[from].join(', ') || 'nothing'})`,
    );
  }
}

/** Whether a run that was told to stop has come to rest without reaching its goal. */
export function isAtRest(
  result: RunResult,
  spec: Pick<MethodSpec, 'cancel'>,
): result is Extract<RunResult, { kind: 'stopped' | 'aborted' }> {
  return result.kind === 'stopped' || (result.kind === 'aborted' && spec.cancel === null);
}

/** How a `run` came back. */
export type RunResult =
  | { kind: 'completed'; completion: Completion }
  | { kind: 'stopped'; evidence: StoppedWithProof['evidence'] }
  | { kind: 'failed'; failure: TaskFailure }
  /** It ended because it was told to, and proved nothing. */
  | { kind: 'aborted' }
  /** It did not end within its stop grace. */
  | { kind: 'unproven'; graceMs: number }
  | { kind: 'defect'; errorId: string };

/** Sorts out what `run` threw. `abortReason`: what its signal was aborted with, or undefined. */
export function classifyThrown(
  error: unknown,
  abortReason: unknown,
  errorId: () => string,
): Exclude<RunResult, { kind: 'completed' | 'unproven' }> {
  if (error instanceof StoppedWithProof) return { kind: 'stopped', evidence: error.evidence };
  if (error instanceof TaskFailure) return { kind: 'failed', failure: error };
  if (error instanceof Refusal && isTaskReason(error.reason)) {
    const options = { ...(error.observedAtMs === undefined ? {} : { observedAtMs: error.observedAtMs }) };
    return { kind: 'failed', failure: new TaskFailure(error.reason, error.message, options) };
  }
  if (abortReason !== undefined && (error === abortReason || isAbortError(error))) return { kind: 'aborted' };
  return { kind: 'defect', errorId: errorId() };
}

export interface Conclusion {
  outcome: Outcome;
  /** The physical thing may still be going: the drive has to be cut. */
  cut: boolean;
}

/**
 * How a task ends. What is proven decides: a completion counts whatever was wanted meanwhile; CANCELLED takes a
 * proof of the stop, which a method without anything to stop gives by ending. `unaskedReason`: for a `run` that was
 * stopped by another way than through this task. `areaId`: see `completedOutcome`.
 */
export function conclude(
  result: RunResult,
  stopping: Stopping | null,
  spec: Pick<MethodSpec, 'name' | 'cancel'>,
  unaskedReason: TaskReason,
  nowMs: number,
  areaId: string | null = null,
): Conclusion {
  switch (result.kind) {
    case 'completed':
      return kept(completedOutcome(result.completion, areaId));
    case 'stopped':
      return kept(stoppedOutcome(stopping ?? unasked(spec.name, unaskedReason), result.evidence));
    case 'failed':
      return kept(failedOutcome(result.failure));
    case 'aborted':
      if (spec.cancel === null) {
        const evidence = { stopped: true, observed_at_ms: nowMs };
        return kept(stoppedOutcome(stopping ?? unasked(spec.name, unaskedReason), evidence));
      }
      return { outcome: unproven(`${spec.name} ended without proving that it stopped`), cut: true };
    case 'unproven':
      return {
        outcome: unproven(`the stop of ${spec.name} was not proven within ${result.graceMs} ms`),
        cut: spec.cancel !== null,
      };
    case 'defect':
      return { outcome: defect(result.errorId), cut: stopping !== null && spec.cancel !== null };
  }
}

/**
 * What is done was done where it was to be done: with `areaId`, evidence that names another area, or none although the
 * method tells areas, is no completion.
 */
export function completedOutcome(
  { evidence, output, stage }: Completion,
  areaId: string | null,
  message: string | null = null,
): Outcome {
  if (areaId !== null && 'area_id' in evidence && evidence.area_id !== areaId) {
    const where = evidence.area_id === null ? 'in no known area' : `in area ${String(evidence.area_id)}`;
    const why = `completed ${where}; completionAreaId asked for area ${areaId}`;
    return failure('STATE_CONDITION_FAILED', why, { evidence });
  }
  return { event: 'COMPLETED', reason: null, message, observedAtMs: null, stage, evidence, output };
}

/** A failure that another try cannot mend or must not risk: decisions, a person's business, half-done things. */
const NOT_RETRYABLE: ReadonlySet<TaskReason> = new Set<TaskReason>([
  'INVALID_PARAMS',
  'AMBIGUOUS_TARGET',
  'UNKNOWN_TARGET',
  'POLICY_DENIED',
  'APPROVAL_REQUIRED',
  'APPROVAL_DENIED',
  'PRIVACY_BLOCKED',
  'EMERGENCY_STOP',
  'RESTARTED',
  'CANCELLED_BY_USER',
  'CANCELLED_BY_CLOUD',
  'CANCELLED_BY_SYSTEM',
  'REPLAN_BUDGET_EXHAUSTED',
  'MANUAL_HANDOFF',
  'BUDGET_EXCEEDED',
  'INTERNAL_ERROR',
]);

export function isRetryable(reason: TaskReason): boolean {
  return !NOT_RETRYABLE.has(reason);
}

export function failure(
  reason: TaskReason,
  message: string,
  more: { observedAtMs?: number | null; evidence?: Record<string, unknown> | null } = {},
): Outcome {
  return {
    event: 'FAILED',
    reason,
    message,
    observedAtMs: more.observedAtMs ?? null,
    stage: null,
    evidence: more.evidence ?? null,
    output: null,
  };
}

/** A refusal after the task was accepted is its end. Reasons that stand only in rejections become the nearest one. */
export function refusedOutcome(refusal: Refusal): Outcome {
  const reason = isTaskReason(refusal.reason) ? refusal.reason : 'CAPABILITY_UNAVAILABLE';
  return failure(reason, refusal.message, { observedAtMs: refusal.observedAtMs ?? null });
}

/** The end of a task whose stop is proven. */
export function stoppedOutcome(stopping: Stopping, evidence: Record<string, unknown>): Outcome {
  return {
    event: stopping.as,
    reason: stopping.reason,
    message: stopping.message,
    observedAtMs: stopping.observedAtMs,
    stage: null,
    evidence,
    output: null,
  };
}

export function defect(errorId: string): Outcome {
  return failure('INTERNAL_ERROR', defectMessage(errorId));
}

function kept(outcome: Outcome): Conclusion {
  return { outcome, cut: false };
}

function unasked(method: string, reason: TaskReason): Stopping {
  return { as: 'CANCELLED', reason, message: `${method} was stopped by another request`, observedAtMs: null };
}

function failedOutcome(thrown: TaskFailure): Outcome {
  return failure(thrown.reason, thrown.message, {
    observedAtMs: thrown.observedAtMs ?? null,
    evidence: thrown.evidence,
  });
}

function unproven(message: string): Outcome {
  return failure('HARDWARE_FAULT', message, { evidence: { stopped: false } });
}

function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
