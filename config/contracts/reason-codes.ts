/** Every reason a request can be refused, or a task can end, as it stands on the wire. */

export const TASK_REASONS = [
  'TIMEOUT',
  'STATE_CONDITION_FAILED',
  'CAPABILITY_UNAVAILABLE',
  'INVALID_PARAMS',
  'AMBIGUOUS_TARGET',
  'UNKNOWN_TARGET',
  'TARGET_UNREACHABLE',
  'RESOURCE_BUSY',
  'PREEMPTED',
  'POLICY_DENIED',
  'APPROVAL_REQUIRED',
  'APPROVAL_DENIED',
  'PRIVACY_BLOCKED',
  'OBSTRUCTED',
  'LOCALIZATION_LOST',
  'HARDWARE_FAULT',
  'LOW_BATTERY',
  'EMERGENCY_STOP',
  'CANCELLED_BY_USER',
  'CANCELLED_BY_CLOUD',
  'CANCELLED_BY_SYSTEM',
  'RESTARTED',
  'DEPENDENCY_FAILED',
  'REPLAN_BUDGET_EXHAUSTED',
  'TASK_MANAGER_BUSY',
  'MISSED_RUN_EXPIRED',
  'MANUAL_HANDOFF',
  'BUDGET_EXCEEDED',
  'INTERNAL_ERROR',
] as const;

/** Reasons that stand only in a rejection, never in a task event. */
const REJECTION_REASONS = [
  'MALFORMED',
  'PAYLOAD_TOO_LARGE',
  'UNKNOWN_METHOD',
  'UNKNOWN_CAPABILITY',
  'NOT_FOUND',
  'TIMESTAMP_INVALID',
  'STALE_COMMAND',
  'EXPIRED',
  'CLOCK_UNTRUSTED',
  'COMMAND_ID_REUSED',
  'ILLEGAL_STATE',
] as const;

export type TaskReason = (typeof TASK_REASONS)[number];
export type ReasonCode = TaskReason | (typeof REJECTION_REASONS)[number];
export const REASON_CODES: readonly ReasonCode[] = [...TASK_REASONS, ...REJECTION_REASONS];

/** Whether a reason can end a task, and does not only refuse a request. */
export function isTaskReason(reason: string): reason is TaskReason {
  return (TASK_REASONS as readonly string[]).includes(reason);
}
