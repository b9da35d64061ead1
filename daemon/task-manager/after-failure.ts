/** What a task on its own does after it failed. Pure. The steps of workflows have their own rules. */
import type { MethodSpec } from '../../executors/method.js';
import { isRetryable } from './lifecycle.js';
import type { Outcome, TaskRow } from './task.js';
import type { SubmitTask } from './types.js';

/** `failurePolicy` RETRY: once more, if it had begun and another try can help. */
export function triesAgain(row: TaskRow, outcome: Outcome): boolean {
  const { failurePolicy, role } = row.request;
  if (role !== null || failurePolicy !== 'RETRY' || outcome.event !== 'FAILED' || row.attempt > 1)
    return false;
  return row.startedAt !== null && outcome.reason !== null && isRetryable(outcome.reason);
}

/**
 * What takes back a task that had begun and was not completed: asked for by `failurePolicy` COMPENSATE, whether it
 * failed or was cancelled, or because a restart cut it short. Null when there is nothing to run.
 */
export function compensationOf(
  row: TaskRow,
  spec: Pick<MethodSpec, 'compensation'> | null,
): SubmitTask | null {
  const { request, outcome } = row;
  if (request.role !== null || outcome === null || outcome.event === 'COMPLETED' || row.startedAt === null)
    return null;
  if (request.failurePolicy !== 'COMPENSATE' && outcome.reason !== 'RESTARTED') return null;
  const own = spec?.compensation ?? null;
  const method = request.compensationMethod ?? own?.method ?? null;
  if (method === null) return null;
  return {
    method,
    params: own !== null && own.method === method ? own.params : {},
    task: { priority: request.priority, traceId: request.traceId },
    source: request.source,
    origin: request.origin,
    legacy: false,
    correlationId: request.correlationId,
  };
}
