/** Commands that the robot takes whatever the clocks say: what only ever makes it stop. */
import type { TaskManager } from '../task-manager/types.js';
import type { JsonObject } from './read-payload.js';
import { isObject } from './read-payload.js';

export const EMERGENCY_STOP = 'emergencyStop';

const STOP_METHODS: ReadonlySet<string> = new Set([
  'stopMove',
  'stopCleaning',
  'ampStop',
  'stopFollowMe',
  'stopLiveView',
  'stopTts',
]);

export function isStopMethod(method: string): boolean {
  return STOP_METHODS.has(method);
}

/** Whatever runs this is a security session: ending it is no mere stop. */
const SECURITY_SESSION = 'startSecurityMode';

type Lookup = Pick<TaskManager, 'getTask' | 'getWorkflow'>;

/**
 * True for stops and cancellations, judged on `kind` and method alone. Never for anything that ends a security
 * session, its task or its workflow. `methodOf` names the method behind a capability, or null.
 */
export function isExempt(
  body: JsonObject,
  tasks: Lookup,
  methodOf: (capability: string) => string | null,
): boolean {
  const { kind, method, capability, params } = body;
  if (method === EMERGENCY_STOP) return true;
  if (kind === 'control') return isCancellation(method, isObject(params) ? params : {}, tasks, methodOf);
  if (kind !== 'task' && kind !== 'legacy') return false;
  const named =
    typeof method === 'string' ? method : typeof capability === 'string' ? methodOf(capability) : null;
  return named !== null && STOP_METHODS.has(named);
}

function isCancellation(
  method: unknown,
  params: JsonObject,
  tasks: Lookup,
  methodOf: (capability: string) => string | null,
): boolean {
  if (method === 'cancelTask') {
    const task = typeof params.task_id === 'string' ? tasks.getTask(params.task_id) : null;
    return task?.method !== SECURITY_SESSION;
  }
  if (method !== 'cancelWorkflow') return false;
  const workflow = typeof params.workflow_id === 'string' ? tasks.getWorkflow(params.workflow_id) : null;
  const steps = workflow?.document.steps ?? [];
  return !steps.some((step) => {
    const named = step.method ?? (step.capability === undefined ? null : methodOf(step.capability));
    return named === SECURITY_SESSION;
  });
}
