/** Applies the policy table: allows, lowers or refuses. A refusal names the field, the value and what is allowed. */
import { Refusal, shown } from '../../config/contracts/errors.js';
import type { TaskMetadata } from '../../config/contracts/wire/command.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { WorkflowStep } from '../../config/contracts/wire/workflow.js';
import type { Clamped, Policy, PolicyConfig, SourceRules } from './types.js';

export function createPolicy(config: PolicyConfig): Policy {
  const personOnly = new Set(config.person_only);
  return {
    allowMethod(source, method, field) {
      if (source === 'CLOUD' && personOnly.has(method)) {
        throw denied(field, method, 'this belongs to a person at the robot and is never done for the cloud');
      }
      if (source === 'SCHEDULE' && personOnly.has(method)) {
        throw denied(field, method, 'this belongs to a person at the robot and is never done by a schedule');
      }
      if (config.sources[source].denied_methods.includes(method)) {
        throw denied(field, method, `${source} may not call this method`);
      }
    },
    applyToTask(source, method, task, path) {
      const rules = config.sources[source];
      requireListed(rules.execution_modes, task.executionMode, `${path}.executionMode`, source);
      requireListed(rules.preempt_policies, task.preemptPolicy, `${path}.preemptPolicy`, source);
      requireOwn(method.completionTarget, task.completionTarget, `${path}.completionTarget`, method.name);
      requireOwn(method.cancel?.method, task.cancelMethod, `${path}.cancelMethod`, method.name);
      requireOwn(
        method.compensation?.method,
        task.compensationMethod,
        `${path}.compensationMethod`,
        method.name,
      );
      if (task.stateAware === false) {
        throw denied(`${path}.stateAware`, false, 'the device always checks its state; allowed is true');
      }
      if (task.cancellable === false) {
        throw denied(`${path}.cancellable`, false, 'everything can be cancelled; allowed is true');
      }
      const clamped: Clamped[] = [];
      return { task: lowered(task, rules, path, clamped), clamped };
    },
    applyToWorkflow(source, document) {
      const { steps, clamped } = loweredSteps(document.steps, config.sources[source], 'workflow.steps');
      return { document: { ...document, steps }, clamped };
    },
    applyToSteps: (source, steps, path) => loweredSteps(steps, config.sources[source], path),
  };
}

function denied(field: string, value: unknown, allowed: string): Refusal {
  return new Refusal('POLICY_DENIED', `${field}: found ${shown(value)}; ${allowed}`, field);
}

function requireListed<T extends string>(
  allowed: readonly T[],
  value: T | undefined,
  field: string,
  source: Source,
): void {
  if (value === undefined || allowed.includes(value)) return;
  throw denied(field, value, `${source} may ask for ${allowed.join(', ')}`);
}

/** Completion, cancel and compensation are the method's own; naming them is allowed, changing them is not. */
function requireOwn(
  own: string | undefined,
  asked: string | null | undefined,
  field: string,
  method: string,
): void {
  if (asked === undefined || asked === null || asked === own) return;
  const allowed = own === undefined ? `${method} has none` : `that of ${method} is ${own}`;
  throw denied(field, asked, allowed);
}

function lowered(task: TaskMetadata, rules: SourceRules, path: string, clamped: Clamped[]): TaskMetadata {
  const priority = lower(task.priority, rules.max_priority, `${path}.priority`, clamped);
  const timeoutMs = lower(task.timeoutMs, rules.max_timeout_ms, `${path}.timeoutMs`, clamped);
  return {
    ...task,
    ...(priority === undefined ? {} : { priority }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function loweredSteps(steps: readonly WorkflowStep[], rules: SourceRules, path: string) {
  const clamped: Clamped[] = [];
  return { steps: steps.map((step, i) => loweredStep(step, rules, `${path}.${i}`, clamped)), clamped };
}

function loweredStep(step: WorkflowStep, rules: SourceRules, path: string, clamped: Clamped[]): WorkflowStep {
  const priority = lower(step.priority, rules.max_priority, `${path}.priority`, clamped);
  const timeout_ms = lower(step.timeout_ms, rules.max_timeout_ms, `${path}.timeout_ms`, clamped);
  return {
    ...step,
    ...(priority === undefined ? {} : { priority }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  };
}

function lower(
  value: number | undefined,
  cap: number,
  field: string,
  clamped: Clamped[],
): number | undefined {
  if (value === undefined || value <= cap) return value;
  clamped.push({ field, requested: value, applied: cap });
  return cap;
}
