/** Everything that changes what the robot does passes the same gate as the cloud's commands. */
import { isoWithOffset } from '../../../config/contracts/clock.js';
import {
  type CommandResponse,
  commandResponseSchema,
  idSchema,
} from '../../../config/contracts/wire/command.js';
import { refused } from '../http/errors.js';
import type { RouteReply, RouteRequest, RouteResponse } from '../http/route.js';

export const ACCEPTED: RouteResponse = {
  description: 'Accepted and durable. Accepted is not done: the end comes as an event.',
  schema: commandResponseSchema,
};

/** The headers that belong to a command; documented once in the OpenAPI document. */
const IDEMPOTENCY_KEY = 'idempotency-key';
/** In front of such a key: it must not be taken for the id of another request. */
const OWN_IDS = 'api:';

type Request = Pick<RouteRequest<unknown, unknown, unknown>, 'caller' | 'services' | 'header'>;

/**
 * Hands a command to the intake under the caller's principal and answers once the outcome is on disk. Throws
 * the intake's refusal.
 */
export async function command(request: Request, fields: Record<string, unknown>): Promise<RouteReply> {
  const { runtime } = request.services;
  const response = runtime.intake.handle(
    {
      command_id: commandId(request),
      issued_at: isoWithOffset(runtime.clock.wall()),
      ...fields,
    },
    request.caller.principal,
  );
  await runtime.committed();
  if (response.status === 'rejected') throw rejection(response);
  return { status: 202, body: response };
}

export function control(
  request: Request,
  method: string,
  params: Record<string, unknown>,
): Promise<RouteReply> {
  return command(request, { kind: 'control', method, params });
}

/** A caller that may have to ask twice names its request; the intake then answers the second like the first. */
function commandId(request: Request): string {
  const key = request.header(IDEMPOTENCY_KEY);
  if (key === undefined) return `api-${request.services.secret(16)}`;
  if (!idSchema.safeParse(key).success || key.length > 100) {
    throw refused(
      'INVALID_PARAMS',
      'Idempotency-Key: allowed are 1–100 letters, digits, ".", "_", ":" or "-"',
      'Idempotency-Key',
    );
  }
  return `${OWN_IDS}${key}`;
}

function rejection(response: CommandResponse): Error {
  // The caller knows its key without what tells it from other channels' ids.
  const message = response.message?.replaceAll(`command_id: ${OWN_IDS}`, 'command_id: ');
  return refused(response.reason_code ?? 'INTERNAL_ERROR', message ?? 'refused without a reason');
}
