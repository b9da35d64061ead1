/** `amendWorkflow`: steps added, replaced and removed pass the same policy as those of a document. */
import type { z } from 'zod';
import type { CONTROL_PARAMS } from '../../../config/contracts/wire/requests.js';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import type { IntakeDeps, Principal } from '../types.js';
import { type Accepted, changes } from './accepted.js';
import { allowSteps } from './allow-steps.js';

/** Throws `Refusal`. Policy's fields are named below `params.add` and `params.replace`. */
export function amendWorkflow(
  params: z.infer<(typeof CONTROL_PARAMS)['amendWorkflow']>,
  principal: Principal,
  deps: IntakeDeps,
): Accepted {
  const add = judged(params.add ?? [], 'params.add', principal, deps);
  const replace = judged(params.replace ?? [], 'params.replace', principal, deps);
  const record = deps.tasks.amendWorkflow(
    params.workflow_id,
    {
      baseRevision: params.base_revision,
      add: add.steps,
      replace: replace.steps,
      remove: params.remove ?? [],
    },
    principal.source,
  );
  return {
    workflowId: record.workflowId,
    result: {
      revision: record.revision,
      cloud_replans_left: record.replansLeft,
      ...changes([...add.clamped, ...replace.clamped]),
    },
  };
}

function judged(steps: WorkflowStep[], path: string, principal: Principal, deps: IntakeDeps) {
  allowSteps(steps, path, principal, deps);
  return deps.policy.applyToSteps(principal.source, steps, path);
}
