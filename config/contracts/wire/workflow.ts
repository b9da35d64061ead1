/** The workflow document. Names are the wire's. */
import { z } from 'zod';

const id = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'allowed: 1–128 letters, digits, ".", "_", ":" or "-"');

export const MAX_STEPS = 64;

const failurePolicySchema = z.enum(['ABORT', 'CONTINUE', 'RETRY', 'COMPENSATE', 'REPLAN']);

export const workflowStepSchema = z.strictObject({
  step_id: id.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a step id is an identifier, because conditions name it'),
  method: z.string().min(1).max(64).optional(),
  capability: z.string().min(1).max(64).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  depends_on: z.array(z.string()).max(MAX_STEPS).optional(),
  /** CEL over `context` and `steps.<id>.output`. */
  condition: z.string().max(2000).nullable().optional(),
  on_condition_false: z.enum(['FAIL', 'SKIP']).optional(),
  wait_until: z
    .strictObject({ condition: z.string().max(2000), timeout_ms: z.int().min(1) })
    .nullable()
    .optional(),
  /** Milliseconds after the end of the steps it depends on (of the workflow's start without any). */
  after_step: z
    .strictObject({ step_id: z.string(), delay_ms: z.int().min(0) })
    .nullable()
    .optional(),
  failure_policy: failurePolicySchema.optional(),
  retry: z
    .strictObject({ max: z.int().min(0).max(10), backoff_ms: z.int().min(0).max(600_000) })
    .nullable()
    .optional(),
  compensation: z
    .strictObject({ method: z.string().min(1).max(64), params: z.record(z.string(), z.unknown()).optional() })
    .nullable()
    .optional(),
  timeout_ms: z.int().min(1).optional(),
  wait_policy: z.enum(['COMPLETION', 'ACCEPTED', 'NONE']).optional(),
  priority: z.int().min(0).max(100).optional(),
  cloud_output_key: z.string().max(64).nullable().optional(),
});
export type WorkflowStep = z.infer<typeof workflowStepSchema>;

export const workflowSchema = z.strictObject({
  workflow_id: id,
  plan_id: id.nullable().optional(),
  goal: z.string().max(500).optional(),
  steps: z.array(workflowStepSchema).min(1).max(MAX_STEPS),
  replan_budget: z
    .strictObject({
      local_retries: z.int().min(0).max(10).optional(),
      cloud_replans: z.int().min(0).max(10).optional(),
      user_questions: z.int().min(0).max(10).optional(),
    })
    .optional(),
  on_cancel: z.enum(['COMPENSATE', 'NONE']).optional(),
});
export type WorkflowDocument = z.infer<typeof workflowSchema>;
