/** `kind: task` and `kind: legacy`: both become a task that the same executors run. */
import type { Command, TaskMetadata } from '../../../config/contracts/wire/command.js';
import type { MethodSpec } from '../../../executors/method.js';
import { noSuchMethod } from '../../../executors/not-built.js';
import { invalid } from '../envelope.js';
import type { IntakeDeps, Principal } from '../types.js';
import { type Accepted, changes } from './accepted.js';

type TaskCommand = Extract<Command, { kind: 'task' | 'legacy' }>;

/** What a legacy task takes over from its metadata; everything else has its default. */
const LEGACY_KEEPS: readonly (keyof TaskMetadata)[] = [
  'managed',
  'dryRun',
  'timeoutMs',
  'completionAreaId',
  'cloud_workflow_id',
  'cloud_step_id',
  'cloud_plan_id',
  'cloud_output_key',
  'traceId',
  'correlationId',
  'replyTo',
];

/** Throws `Refusal`. */
export function submitTask(command: TaskCommand, principal: Principal, deps: IntakeDeps): Accepted {
  const { method, params, field } = resolveTarget(command, deps);
  deps.policy.allowMethod(principal.source, method, field);
  const spec = requireMethod(method, field, deps.methods);
  const legacy = isLegacy(command);
  const { kept, ignored } = legacy
    ? legacyMetadata(command.task ?? {})
    : { kept: command.task ?? {}, ignored: [] };
  const { task, clamped } = deps.policy.applyToTask(principal.source, spec, kept, 'task');
  const record = deps.tasks.submit({
    method,
    params,
    task: { managed: !legacy, ...task },
    source: principal.source,
    legacy,
    correlationId: command.correlation_id ?? null,
  });
  const { approvalId } = record;
  const changed = changes(clamped, ignored);
  const result = approvalId === null ? changed : { ...changed, approval_id: approvalId };
  return { taskId: record.taskId, legacy, result };
}

/** A task without metadata, or that asks not to be managed, takes the compatibility path. */
function isLegacy(command: TaskCommand): boolean {
  return command.kind === 'legacy' || command.task === undefined || command.task.managed === false;
}

export function requireMethod(name: string, field: string, methods: readonly MethodSpec[]): MethodSpec {
  const spec = methods.find((method) => method.name === name);
  if (spec !== undefined) return spec;
  throw noSuchMethod(
    name,
    field,
    methods.map((method) => method.name),
  );
}

/** Exactly one of `method` and `capability`. Throws `Refusal`. */
export function resolveTarget(
  command: Pick<TaskCommand, 'method' | 'capability' | 'params'>,
  deps: Pick<IntakeDeps, 'resolveCapability'>,
) {
  const { method, capability } = command;
  const params = command.params ?? {};
  if (method !== undefined && capability === undefined) return { method, params, field: 'method' };
  if (capability !== undefined && method === undefined) {
    return { ...deps.resolveCapability(capability, params), field: 'capability' };
  }
  throw invalid(
    'method',
    method,
    `exactly one of method and capability is needed, found ${method === undefined ? 'neither' : 'both'}`,
  );
}

function legacyMetadata(task: TaskMetadata): { kept: TaskMetadata; ignored: string[] } {
  if (task.managed === true) {
    throw invalid('task.managed', true, 'kind legacy is the path without management; use kind task');
  }
  const entries = Object.entries(task).filter(([, value]) => value !== undefined);
  const isKept = ([key]: [string, unknown]) => LEGACY_KEEPS.some((kept) => kept === key);
  const kept: TaskMetadata = Object.fromEntries(entries.filter(isKept));
  const ignored = entries.filter((entry) => !isKept(entry)).map(([key]) => `task.${key}`);
  return { kept: { ...kept, executionMode: 'IMMEDIATE' }, ignored };
}
