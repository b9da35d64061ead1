/** What comes in on `…/command` and what goes out on `…/command/response`. Names are the wire's. */
import { z } from 'zod';
import { REASON_CODES } from '../reason-codes.js';
import { scheduleSchema } from './schedule.js';
import { workflowSchema } from './workflow.js';

/** Letters, digits and `._:-`, 1–128: ids stand in topics, file names and keys. */
export const idSchema = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'allowed: 1–128 letters, digits, ".", "_", ":" or "-"');

const name = z.string().min(1).max(64);
const params = z.record(z.string(), z.unknown());

export const taskMetadataSchema = z.strictObject({
  managed: z.boolean().optional(),
  executionMode: z.enum(['QUEUED', 'IMMEDIATE', 'PARALLEL']).optional(),
  priority: z.int().min(0).max(100).optional(),
  queueKey: name.optional(),
  completionTarget: name.nullable().optional(),
  completionAreaId: z.string().max(64).nullable().optional(),
  preemptPolicy: z.enum(['NONE', 'PREEMPT_LOWER', 'PREEMPT_SAME_QUEUE']).optional(),
  failurePolicy: z.enum(['ABORT', 'CONTINUE', 'RETRY', 'COMPENSATE', 'REPLAN']).optional(),
  cancelMethod: name.nullable().optional(),
  compensationMethod: name.nullable().optional(),
  timeoutMs: z.int().min(1).optional(),
  cancellable: z.boolean().optional(),
  stateAware: z.boolean().optional(),
  dryRun: z.boolean().optional(),
  cloud_workflow_id: idSchema.nullable().optional(),
  cloud_step_id: idSchema.nullable().optional(),
  cloud_plan_id: idSchema.nullable().optional(),
  cloud_output_key: name.nullable().optional(),
  wait_policy: z.enum(['COMPLETION', 'ACCEPTED', 'NONE']).optional(),
  traceId: z.string().max(128).nullable().optional(),
  correlationId: z.string().max(128).nullable().optional(),
  replyTo: z.string().max(256).nullable().optional(),
});
export type TaskMetadata = z.infer<typeof taskMetadataSchema>;

const envelope = {
  command_id: idSchema,
  correlation_id: z.string().max(128).nullable().optional(),
  reply_to: z.string().max(256).nullable().optional(),
  issued_at: z.string().max(64),
  expires_at: z.string().max(64).nullable().optional(),
  sig: z.string().max(256).optional(),
};

const methodOrCapability = { method: name.optional(), capability: name.optional() };

export const taskCommandSchema = z.strictObject({
  ...envelope,
  kind: z.enum(['task', 'legacy']),
  ...methodOrCapability,
  params: params.optional(),
  task: taskMetadataSchema.optional(),
});

export const workflowCommandSchema = z.strictObject({
  ...envelope,
  kind: z.literal('workflow'),
  workflow: workflowSchema,
  task: taskMetadataSchema.optional(),
});

export const scheduleTaskCommandSchema = z.strictObject({
  ...envelope,
  kind: z.literal('schedule_task'),
  schedule: scheduleSchema,
  ...methodOrCapability,
  params: params.optional(),
  task: taskMetadataSchema.optional(),
});

export const scheduleWorkflowCommandSchema = z.strictObject({
  ...envelope,
  kind: z.literal('schedule_workflow'),
  schedule: scheduleSchema,
  workflow: workflowSchema,
});

export const controlCommandSchema = z.strictObject({
  ...envelope,
  kind: z.literal('control'),
  method: name,
  params: params.optional(),
});

export const queryCommandSchema = z.strictObject({
  ...envelope,
  kind: z.literal('query'),
  method: name,
  params: params.optional(),
});

export const commandSchema = z.discriminatedUnion('kind', [
  taskCommandSchema,
  workflowCommandSchema,
  scheduleTaskCommandSchema,
  scheduleWorkflowCommandSchema,
  controlCommandSchema,
  queryCommandSchema,
]);
export type Command = z.infer<typeof commandSchema>;

export const commandResponseSchema = z.strictObject({
  command_id: z.string().nullable(),
  correlation_id: z.string().nullable(),
  status: z.enum(['accepted', 'rejected']),
  task_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  schedule_id: z.string().nullable(),
  duplicate: z.boolean(),
  legacy: z.boolean(),
  reason_code: z.enum(REASON_CODES).nullable(),
  message: z.string().nullable(),
  result: z.unknown().nullable(),
  at: z.string(),
});
export type CommandResponse = z.infer<typeof commandResponseSchema>;
