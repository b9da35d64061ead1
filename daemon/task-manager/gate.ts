/** The gate that every task passes, whichever path it came by: what policy says, and whether a person has to be asked. */
import { Refusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';
import type { Decision } from '../policy/decide.js';
import { failure } from './lifecycle.js';
import type { OwnerHooks } from './owner.js';
import type { Outcome, TaskRequest, TaskRow } from './task.js';
import { subjectOf, type TaskEvents } from './task-events.js';

/** Whether a task may take its place in line. */
export type Passage =
  | { do: 'go' }
  /** `opened`: an approval was asked for just now. */
  | { do: 'hold'; approvalId: string; expiresAt: number; opened: boolean }
  | { do: 'refuse'; message: string };

/** Implemented by `daemon/policy`. Calls run inside the store's transaction. */
export interface TaskGate {
  /** What policy says of it now. */
  decide(request: TaskRequest, spec: MethodSpec): Decision;
  /** Asked for a task that takes an approval, each time it is about to take its place in line. */
  pass(row: TaskRow, spec: MethodSpec): Passage;
  /** Why it must not start now, or any more: a setting changed, or what was approved is not what would run. */
  refusesStart(row: TaskRow, spec: MethodSpec): Outcome | null;
  /** Why it must not go on running; null: it may. */
  stopsRunning(row: TaskRow, spec: MethodSpec): Outcome | null;
  /** A task that took an approval, or undoes something, is over. */
  ended(row: TaskRow): void;
  approvalOf(taskId: string): string | null;
}

/** Lets everything through; for a TaskManager without a policy. */
export const OPEN_GATE: TaskGate = {
  decide: () => ({ effect: 'allow', rule: 'none' }),
  pass: () => ({ do: 'go' }),
  refusesStart: () => null,
  stopsRunning: () => null,
  ended() {},
  approvalOf: () => null,
};

/** Throws `Refusal` for what is denied, and for what needs an approval and cannot wait for one. */
export function judged(gate: TaskGate, request: TaskRequest, spec: MethodSpec): TaskRequest {
  const decision = gate.decide(request, spec);
  if (decision.effect === 'deny') throw new Refusal(decision.reason, decision.message, decision.field);
  if (decision.effect === 'approve' && request.executionMode === 'IMMEDIATE' && !request.dryRun) {
    const how = request.legacy ? 'a legacy task' : 'executionMode IMMEDIATE';
    throw new Refusal(
      'APPROVAL_REQUIRED',
      `method: found "${spec.name}"; a person has to approve it first (${decision.why.en}), and ${how} cannot wait; send it as a managed task with executionMode QUEUED`,
      'method',
    );
  }
  return { ...request, decision };
}

interface AtTheGate {
  gate: TaskGate;
  events: TaskEvents;
  owner: OwnerHooks;
}

/** Null: the task goes on. `held`: it waits outside its line. An outcome: it ends so. */
export function atTheGate(
  row: TaskRow,
  spec: MethodSpec,
  { gate, events, owner }: AtTheGate,
): 'held' | Outcome | null {
  const { decision, role } = row.request;
  if (decision === null || decision.effect === 'allow') return null;
  if (decision.effect === 'deny') return failure(decision.reason, decision.message);
  const passage = gate.pass(row, spec);
  if (passage.do === 'go') return null;
  if (passage.do === 'refuse') return failure('APPROVAL_DENIED', passage.message);
  if (passage.opened) {
    const { approvalId, expiresAt } = passage;
    const data = { approval_id: approvalId, expires_at_ms: expiresAt };
    events.progress(subjectOf(row), 'awaiting_approval', data);
    if (role === 'step') owner.waiting(row, `approval ${approvalId} of a person: ${decision.why.en}`);
  }
  return 'held';
}
