/** Tasks, workflows and the rest as they stand in responses: the wire's snake_case, times in epoch ms. */
import { z } from 'zod';
import { REASON_CODES, TASK_REASONS } from '../config/contracts/reason-codes.js';
import { SOURCES } from '../config/contracts/wire/events.js';
import { workflowSchema } from '../config/contracts/wire/workflow.js';
import type { MethodSpec } from '../executors/method.js';
import type { Decision } from './policy/decide.js';
import type { Capability } from './runtime.js';
import type { DeadLetter, OutboxStats } from './store/outbox-types.js';
import {
  type LeaseEntry,
  type StepRecord,
  TASK_STATES,
  type TaskRecord,
  type WorkflowRecord,
} from './task-manager/types.js';

const data = z.record(z.string(), z.unknown()).nullable();
const time = z.number().nullable();
const reason = z.enum(TASK_REASONS).nullable();

/** `reason`: why it was denied, or has to be approved. */
const decisionView = z.strictObject({
  effect: z.enum(['allow', 'approve', 'deny']),
  rule: z.string(),
  reason: z.string().nullable(),
});

export const taskView = z.strictObject({
  task_id: z.string(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()),
  state: z.enum(TASK_STATES),
  attempt: z.int(),
  source: z.enum(SOURCES),
  decision: decisionView.nullable().describe('what policy said of it; null where it was not asked'),
  approval_id: z.string().nullable(),
  legacy: z.boolean(),
  priority: z.number(),
  queue_key: z.string(),
  execution_mode: z.enum(['QUEUED', 'IMMEDIATE', 'PARALLEL']),
  workflow_id: z.string().nullable(),
  step_id: z.string().nullable(),
  plan_id: z.string().nullable(),
  created_at_ms: z.number(),
  started_at_ms: time,
  ended_at_ms: time,
  reason_code: reason,
  message: z.string().nullable(),
  stage: z.string().nullable(),
  progress: data,
  evidence: data,
  output: z.unknown(),
  correlation_id: z.string().nullable(),
  trace_id: z.string().nullable(),
});
export type TaskView = z.infer<typeof taskView>;

export const leaseView = z.strictObject({
  resource: z.string(),
  owners: z.array(z.string()),
  mode: z.enum(['exclusive', 'shared']).nullable(),
  fence: z.int(),
  waiting: z.array(
    z.strictObject({
      task_id: z.string(),
      method: z.string(),
      priority: z.number(),
      why: z.string().nullable(),
    }),
  ),
  waiting_count: z.int(),
});

export function viewLease(lease: LeaseEntry): z.infer<typeof leaseView> {
  const { waitingCount, waiting, ...rest } = lease;
  return {
    ...rest,
    waiting: waiting.map(({ taskId, ...about }) => ({ task_id: taskId, ...about })),
    waiting_count: waitingCount,
  };
}

export const stepView = z.strictObject({
  step_id: z.string(),
  method: z.string(),
  state: z.enum(['PENDING', 'WAITING', 'RUNNING', 'COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED']),
  task_id: z.string().nullable(),
  attempt: z.int(),
  started_at_ms: time,
  ended_at_ms: time,
  hold: z
    .enum(['delay', 'condition', 'backoff', 'queue', 'amendment'])
    .nullable()
    .describe('what it waits for while WAITING; in words in waiting_for'),
  waiting_for: z.string().nullable(),
  reason_code: reason,
  message: z.string().nullable(),
  evidence: data,
  output: z.unknown(),
});

export const workflowView = z.strictObject({
  workflow_id: z.string(),
  plan_id: z.string().nullable(),
  goal: z.string().nullable(),
  state: z.enum(['RUNNING', 'PAUSED', 'CANCELLING', 'COMPLETED', 'FAILED', 'CANCELLED']),
  revision: z.int(),
  source: z.enum(SOURCES),
  created_at_ms: z.number(),
  ended_at_ms: time,
  reason_code: reason,
  message: z.string().nullable(),
  cloud_replans_left: z.int().describe('amendments that the cloud may still make'),
  steps: z.array(stepView),
  document: workflowSchema,
});
export type WorkflowView = z.infer<typeof workflowView>;

export function viewTask(task: TaskRecord): TaskView {
  return {
    task_id: task.taskId,
    method: task.method,
    params: task.params,
    state: task.state,
    attempt: task.attempt,
    source: task.source,
    decision: task.decision === null ? null : viewDecision(task.decision),
    approval_id: task.approvalId,
    legacy: task.legacy,
    priority: task.priority,
    queue_key: task.queueKey,
    execution_mode: task.executionMode,
    workflow_id: task.workflowId,
    step_id: task.stepId,
    plan_id: task.planId,
    created_at_ms: task.createdAt,
    started_at_ms: task.startedAt,
    ended_at_ms: task.endedAt,
    reason_code: task.reasonCode,
    message: task.message,
    stage: task.stage,
    progress: task.progress,
    evidence: task.evidence,
    output: task.output ?? null,
    correlation_id: task.correlationId,
    trace_id: task.traceId,
  };
}

function viewDecision(decision: Decision): z.infer<typeof decisionView> {
  const { effect, rule } = decision;
  const reason =
    decision.effect === 'allow' ? null : decision.effect === 'deny' ? decision.message : decision.why.en;
  return { effect, rule, reason };
}

function viewStep(step: StepRecord): z.infer<typeof stepView> {
  return {
    step_id: step.stepId,
    method: step.method,
    state: step.state,
    task_id: step.taskId,
    attempt: step.attempt,
    started_at_ms: step.startedAt,
    ended_at_ms: step.endedAt,
    hold: step.hold,
    waiting_for: step.waitingFor,
    reason_code: step.reasonCode,
    message: step.message,
    evidence: step.evidence,
    output: step.output ?? null,
  };
}

export function viewWorkflow(workflow: WorkflowRecord): WorkflowView {
  return {
    workflow_id: workflow.workflowId,
    plan_id: workflow.planId,
    goal: workflow.goal,
    state: workflow.state,
    revision: workflow.revision,
    source: workflow.source,
    created_at_ms: workflow.createdAt,
    ended_at_ms: workflow.endedAt,
    reason_code: workflow.reasonCode,
    message: workflow.message,
    cloud_replans_left: workflow.replansLeft,
    steps: workflow.steps.map(viewStep),
    document: workflow.document,
  };
}

const jsonSchema = z.record(z.string(), z.unknown());

export const methodView = z.strictObject({
  name: z.string(),
  executor: z.string(),
  summary: z.string(),
  params: jsonSchema,
  output: jsonSchema,
  resources: z.array(z.strictObject({ resource: z.string(), mode: z.enum(['exclusive', 'shared']) })),
  completion_target: z.string(),
  precondition: z.string(),
  cancel: z.strictObject({ method: z.string(), proof: z.string() }).nullable(),
  compensation: z.strictObject({ method: z.string(), params: z.record(z.string(), z.unknown()) }).nullable(),
  timeout_ms: z.number().nullable().describe('null: depends on the parameters'),
  stop_grace_ms: z.number(),
  risk: z.enum(['low', 'high']),
  idempotent: z.boolean(),
});
export type MethodView = z.infer<typeof methodView>;

export function viewMethod(spec: MethodSpec): MethodView {
  return {
    name: spec.name,
    executor: spec.executor,
    summary: spec.summary,
    params: toJsonSchema(spec.params),
    output: toJsonSchema(spec.output),
    resources: spec.resources.map(({ resource, mode }) => ({ resource, mode })),
    completion_target: spec.completionTarget,
    precondition: spec.preconditionText,
    cancel: spec.cancel,
    compensation: spec.compensation,
    timeout_ms: typeof spec.timeoutMs === 'number' ? spec.timeoutMs : null,
    stop_grace_ms: spec.stopGraceMs,
    risk: spec.risk,
    idempotent: spec.idempotent,
  };
}

/** What a caller may send, as JSON Schema; refinements that JSON Schema cannot say are left out. */
export function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>;
}

export const capabilityView = z.strictObject({
  id: z.string(),
  cloud_ids: z.array(z.string()),
  title: z.strictObject({ ko: z.string(), en: z.string() }),
  built: z.boolean().describe('whether this version has the method that the card runs'),
  available: z.boolean(),
  reason_code: z.enum(REASON_CODES).nullable(),
  reason: z.string().nullable().describe('why not, in words'),
  methods: z.array(z.string()),
});
export type CapabilityView = z.infer<typeof capabilityView>;

export function viewCapability(card: Capability): CapabilityView {
  return {
    id: card.id,
    cloud_ids: card.cloudIds,
    title: card.title,
    built: card.built,
    available: card.available,
    reason_code: card.reasonCode,
    reason: card.reason,
    methods: card.methods,
  };
}

export const outboxView = z.strictObject({
  depth: z.int(),
  bytes: z.int(),
  oldest_age_ms: z.number().nullable(),
  dead_letters: z.int(),
  published_total: z.int(),
  dropped_telemetry_total: z.int(),
  next_seq: z.int(),
  store_epoch: z.string(),
  waiting: z
    .strictObject({ ordered: z.int(), response: z.int(), telemetry: z.int() })
    .describe('of depth, per lane'),
  accepting: z.boolean().describe('false while new work is refused with TASK_MANAGER_BUSY'),
  in_flight: z.int().describe('sent and not acknowledged yet'),
  publish_per_s: z.number().describe('over the last 10 s'),
  ack_per_s: z.number().describe('over the last 10 s'),
});
export type OutboxView = z.infer<typeof outboxView>;

export function viewOutbox(stats: OutboxStats): OutboxView {
  return {
    depth: stats.depth,
    bytes: stats.bytes,
    oldest_age_ms: stats.oldestAgeMs,
    dead_letters: stats.deadLetters,
    published_total: stats.publishedTotal,
    dropped_telemetry_total: stats.droppedTelemetryTotal,
    next_seq: stats.nextSeq,
    store_epoch: stats.storeEpoch,
    waiting: stats.lanes,
    accepting: stats.accepting,
    in_flight: stats.flow?.inFlight ?? 0,
    publish_per_s: stats.flow?.publishPerS ?? 0,
    ack_per_s: stats.flow?.ackPerS ?? 0,
  };
}

export const deadLetterView = z.strictObject({
  id: z.int(),
  topic: z.string(),
  seq: z.int().nullable(),
  reason: z.string(),
  attempts: z.int(),
  at_ms: z.number(),
  payload: z.unknown().describe('parsed where it is JSON, otherwise the text'),
});
export type DeadLetterView = z.infer<typeof deadLetterView>;

export function viewDeadLetter(letter: DeadLetter): DeadLetterView {
  const { id, topic, seq, reason: why, attempts, at, payload } = letter;
  return { id, topic, seq, reason: why, attempts, at_ms: at, payload: parsed(payload) };
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
