/** From a request to a task: defaults, the method's own schema and admission check. */
import { describeZodError, isRefusal, Refusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';
import { noSuchMethod } from '../../executors/not-built.js';
import { PEOPLE } from './stop-sources.js';
import type { TaskRequest } from './task.js';
import type { SubmitTask } from './types.js';

export interface Admitted {
  spec: MethodSpec;
  /** What `MethodSpec.params` made of them. */
  params: unknown;
}

/** Methods by name. */
export type Methods = ReadonlyMap<string, MethodSpec>;

export function methodsByName(methods: readonly MethodSpec[]): Methods {
  const byName = new Map<string, MethodSpec>();
  for (const spec of methods) {
    if (byName.has(spec.name)) throw new Error(`method ${spec.name} is registered twice`);
    byName.set(spec.name, spec);
  }
  return byName;
}

/** Throws `Refusal` UNKNOWN_METHOD, or CAPABILITY_UNAVAILABLE for one that this version does not build. */
export function findMethod(methods: Methods, name: string, field = 'method'): MethodSpec {
  const spec = methods.get(name);
  if (spec !== undefined) return spec;
  throw noSuchMethod(name, field, methods.keys());
}

/** Throws `Refusal` INVALID_PARAMS naming the field below `path`. */
export function parseParams(spec: MethodSpec, params: Record<string, unknown>, path = 'params'): unknown {
  const parsed = spec.params.safeParse(params);
  if (parsed.success) return parsed.data;
  const { field, message } = describeZodError(parsed.error, params);
  if (field === '') throw new Refusal('INVALID_PARAMS', message.replace('the document', path), path);
  throw new Refusal('INVALID_PARAMS', `${path}.${message}`, `${path}.${field}`);
}

/** The same refusal with its field named from further up: `positionName` below `params` is `params.positionName`. */
export function below(path: string, refusal: Refusal): Refusal {
  const { reason, message, field, observedAtMs } = refusal;
  if (field === undefined || field.startsWith(`${path}.`)) return refusal;
  const text = message.startsWith(field) ? `${path}.${message}` : message;
  return new Refusal(reason, text, `${path}.${field}`, observedAtMs);
}

/** The method's own check at admission; throws `Refusal` naming the field below `path`. */
export function checkAdmission(spec: MethodSpec, params: unknown, nowMs: number, path = 'params'): void {
  try {
    spec.admit?.({ params, nowMs });
  } catch (error) {
    throw isRefusal(error) ? below(path, error) : error;
  }
}

/** Throws `Refusal` for what can never work. */
export function admit(
  methods: Methods,
  name: string,
  params: Record<string, unknown>,
  nowMs: number,
): Admitted {
  const spec = findMethod(methods, name);
  const parsed = parseParams(spec, params);
  checkAdmission(spec, parsed, nowMs);
  return { spec, params: parsed };
}

function timeoutOf(spec: MethodSpec, params: unknown): number {
  return typeof spec.timeoutMs === 'function' ? spec.timeoutMs(params) : spec.timeoutMs;
}

function defaultQueueKey(spec: MethodSpec): string {
  return spec.resources[0]?.resource ?? spec.name;
}

/** Fills in what the request left open. */
export function requestOf(submit: SubmitTask, { spec, params }: Admitted): TaskRequest {
  const { task } = submit;
  return {
    method: spec.name,
    params: submit.params,
    priority: task.priority ?? 50,
    queueKey: task.queueKey ?? defaultQueueKey(spec),
    executionMode: task.executionMode ?? (submit.legacy ? 'IMMEDIATE' : 'QUEUED'),
    // A person who asks for something expects it now, and what has to make room for it goes on afterwards.
    preemptPolicy: task.preemptPolicy ?? (PEOPLE.has(submit.source) ? 'PREEMPT_LOWER' : 'NONE'),
    failurePolicy: task.failurePolicy ?? 'ABORT',
    compensationMethod: task.compensationMethod ?? null,
    completionAreaId: task.completionAreaId ?? null,
    timeoutMs: task.timeoutMs ?? timeoutOf(spec, params),
    cancellable: task.cancellable ?? true,
    dryRun: task.dryRun ?? false,
    source: submit.source,
    origin: submit.origin ?? submit.source,
    undoes: submit.undoes ?? null,
    decision: null,
    legacy: submit.legacy,
    correlationId: submit.correlationId ?? task.correlationId ?? null,
    traceId: task.traceId ?? null,
    workflowId: submit.workflow?.workflowId ?? task.cloud_workflow_id ?? null,
    stepId: submit.workflow?.stepId ?? task.cloud_step_id ?? null,
    planId: submit.workflow?.planId ?? task.cloud_plan_id ?? null,
    cloudOutputKey: task.cloud_output_key ?? null,
    run: submit.run ?? null,
    role: null,
  };
}
