import type { Clamped } from '../../policy/types.js';
import type { Principal } from '../types.js';

/** What an accepted command led to; the rest of the response is the same for all. */
export interface Accepted {
  taskId?: string;
  workflowId?: string;
  scheduleId?: string;
  legacy?: boolean;
  result?: Record<string, unknown> | null;
}

/** The parts of `result` that say how the request was changed; null when it was taken as it came. */
export function changes(
  clamped: readonly Clamped[],
  ignored: readonly string[] = [],
): Record<string, unknown> | null {
  if (clamped.length === 0 && ignored.length === 0) return null;
  return { ...(clamped.length > 0 ? { clamped } : {}), ...(ignored.length > 0 ? { ignored } : {}) };
}

/** What a request from this principal is allowed to see of texts that somebody else spoke or typed. */
export function seesTexts(principal: Principal): boolean {
  return principal.source !== 'CLOUD';
}
