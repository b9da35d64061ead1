/** Who may ask for what. Data first: the rules stand in `config/policy.yaml`, per source. */
import { z } from 'zod';
import type { TaskMetadata } from '../../config/contracts/wire/command.js';
import { SOURCES, type Source } from '../../config/contracts/wire/events.js';
import type { WorkflowDocument } from '../../config/contracts/wire/workflow.js';
import type { MethodSpec } from '../../executors/method.js';

const methods = z.array(z.string().min(1).max(64));

/** What one source may ask for. A number is a cap that lowers, a list is an allowlist that refuses. */
const sourceRulesSchema = z.strictObject({
  max_priority: z.int().min(0).max(100),
  max_timeout_ms: z.int().min(1).max(3_600_000),
  preempt_policies: z.array(z.enum(['NONE', 'PREEMPT_LOWER', 'PREEMPT_SAME_QUEUE'])),
  execution_modes: z.array(z.enum(['QUEUED', 'IMMEDIATE', 'PARALLEL'])),
  /** Methods this source may not call at all. */
  denied_methods: methods,
});
export type SourceRules = z.infer<typeof sourceRulesSchema>;

export const policySchema = z.strictObject({
  version: z.literal(1),
  /** Acts of a person in the home: refused to CLOUD whatever else holds. */
  person_only: methods,
  /** Every source has its rules: a forgotten one must not open a door. */
  sources: z.record(z.enum(SOURCES), sourceRulesSchema),
});
export type PolicyConfig = z.infer<typeof policySchema>;

/** A value over a cap, lowered. Stands in `result.clamped`. */
export interface Clamped {
  field: string;
  requested: number;
  applied: number;
}

export interface Policy {
  /** Throws `Refusal` POLICY_DENIED when `source` may not call `method` at all. */
  allowMethod(source: Source, method: string, field: string): void;
  /** Throws `Refusal` POLICY_DENIED naming the field; lowers what is over a cap. `path` prefixes field names. */
  applyToTask(
    source: Source,
    method: MethodSpec,
    task: TaskMetadata,
    path: string,
  ): { task: TaskMetadata; clamped: Clamped[] };
  /** The same for every step of a document whose steps name methods. */
  applyToWorkflow(
    source: Source,
    document: WorkflowDocument,
  ): { document: WorkflowDocument; clamped: Clamped[] };
}
