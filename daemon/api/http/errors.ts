/** One error shape for everything the API refuses: `{"error":{"code","message","field"?}}`. */
import { z } from 'zod';
import { isRefusal } from '../../../config/contracts/errors.js';
import { REASON_CODES, type ReasonCode } from '../../../config/contracts/reason-codes.js';
import { TOO_LARGE } from '../../intake/read-payload.js';
import { StoreError } from '../../store/store-error.js';

export const errorBodySchema = z.strictObject({
  error: z.strictObject({
    code: z.enum(REASON_CODES),
    message: z.string(),
    field: z.string().optional(),
  }),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

/** A refusal with its HTTP status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    readonly code: ReasonCode,
    message: string,
    readonly field?: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The HTTP status that says what a reason says: whose fault it is, and whether trying again helps. */
const STATUS: Readonly<Record<ReasonCode, number>> = {
  MALFORMED: 400,
  INVALID_PARAMS: 400,
  TIMESTAMP_INVALID: 400,
  STALE_COMMAND: 400,
  EXPIRED: 400,
  UNKNOWN_METHOD: 400,
  UNKNOWN_CAPABILITY: 400,
  POLICY_DENIED: 403,
  APPROVAL_REQUIRED: 403,
  APPROVAL_DENIED: 403,
  PRIVACY_BLOCKED: 403,
  NOT_FOUND: 404,
  ILLEGAL_STATE: 409,
  COMMAND_ID_REUSED: 409,
  RESOURCE_BUSY: 409,
  STATE_CONDITION_FAILED: 409,
  EMERGENCY_STOP: 409,
  LOW_BATTERY: 409,
  PREEMPTED: 409,
  OBSTRUCTED: 409,
  LOCALIZATION_LOST: 409,
  CANCELLED_BY_USER: 409,
  CANCELLED_BY_CLOUD: 409,
  CANCELLED_BY_SYSTEM: 409,
  RESTARTED: 409,
  DEPENDENCY_FAILED: 409,
  REPLAN_BUDGET_EXHAUSTED: 409,
  MISSED_RUN_EXPIRED: 409,
  MANUAL_HANDOFF: 409,
  BUDGET_EXCEEDED: 409,
  PAYLOAD_TOO_LARGE: 413,
  AMBIGUOUS_TARGET: 422,
  UNKNOWN_TARGET: 422,
  TARGET_UNREACHABLE: 422,
  INTERNAL_ERROR: 500,
  CAPABILITY_UNAVAILABLE: 503,
  CLOCK_UNTRUSTED: 503,
  HARDWARE_FAULT: 503,
  TASK_MANAGER_BUSY: 503,
  TIMEOUT: 504,
};

function statusOf(code: ReasonCode): number {
  return STATUS[code];
}

/** A refusal by its reason code alone. */
export function refused(code: ReasonCode, message: string, field?: string): ApiError {
  const headers: Record<string, string> = code === 'TASK_MANAGER_BUSY' ? { 'retry-after': '1' } : {};
  return new ApiError(statusOf(code), code, message, field, headers);
}

export function errorBody(error: ApiError): ErrorBody {
  const { code, message, field } = error;
  return { error: { code, message, ...(field === undefined || field === '' ? {} : { field }) } };
}

/** Makes an `ApiError` of whatever was thrown; null for a defect, which nobody outside may read. */
export function asApiError(thrown: unknown): ApiError | null {
  if (thrown instanceof ApiError) return thrown;
  if (isRefusal(thrown)) return refused(thrown.reason, thrown.message, thrown.field);
  if (thrown instanceof StoreError) return notStored(thrown);
  return fromFastify(thrown);
}

/** A disk without room, or a broken one, is no defect of the daemon. */
function notStored({ code, message }: StoreError): ApiError {
  if (code === 'FULL') {
    return refused(
      'TASK_MANAGER_BUSY',
      'the disk is full, so nothing can be stored: only stops are carried out; free some space',
    );
  }
  return refused('CAPABILITY_UNAVAILABLE', `the database fails (${message}): only stops are carried out`);
}

/** Fastify's own refusals, by its error codes (https://fastify.dev/docs/latest/Reference/Errors/). */
function fromFastify(thrown: unknown): ApiError | null {
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refused('PAYLOAD_TOO_LARGE', TOO_LARGE);
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError(415, 'MALFORMED', 'the body has to be application/json', 'Content-Type');
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return refused('MALFORMED', 'Content-Length does not match the body', 'Content-Length');
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new ApiError(statusCode, 'MALFORMED', 'the request cannot be read');
  }
  return null;
}
