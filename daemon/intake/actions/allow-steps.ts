/** Whether a caller may ask for the steps of a document or of an amendment; whether they can run is judged later. */
import { isRefusal, Refusal } from '../../../config/contracts/errors.js';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import { invalid } from '../envelope.js';
import type { IntakeDeps, Principal } from '../types.js';

/** Throws one `Refusal` that lists what is wrong with any of them. `path` prefixes field names. */
export function allowSteps(
  steps: readonly WorkflowStep[],
  path: string,
  principal: Principal,
  deps: IntakeDeps,
): void {
  const found: Refusal[] = [];
  for (const [i, step] of steps.entries()) {
    try {
      allowStep(step, `${path}.${i}`, principal, deps);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      found.push(error);
    }
  }
  const [first] = found;
  if (first === undefined) return;
  if (found.length === 1) throw first;
  throw new Refusal(
    reasonOf(first, found),
    `${found.length} problems: ${found.map(({ message }) => message).join('; ')}`,
    first.field,
  );
}

/** What policy denies stays denied, whatever else is wrong. */
function reasonOf(first: Refusal, found: readonly Refusal[]): Refusal['reason'] {
  if (found.some(({ reason }) => reason === 'POLICY_DENIED')) return 'POLICY_DENIED';
  return found.every(({ reason }) => reason === first.reason) ? first.reason : 'INVALID_PARAMS';
}

function allowStep(step: WorkflowStep, path: string, principal: Principal, deps: IntakeDeps): void {
  const { method, capability } = step;
  if ((method === undefined) === (capability === undefined)) {
    const found = method === undefined ? 'neither' : 'both';
    throw invalid(`${path}.method`, method, `exactly one of method and capability is needed, found ${found}`);
  }
  if (method !== undefined) deps.policy.allowMethod(principal.source, method, `${path}.method`);
  if (capability !== undefined) {
    const resolved = deps.resolveCapability(capability, step.params ?? {});
    deps.policy.allowMethod(principal.source, resolved.method, `${path}.capability`);
  }
  const compensation = step.compensation?.method;
  if (compensation !== undefined) {
    deps.policy.allowMethod(principal.source, compensation, `${path}.compensation.method`);
  }
}
