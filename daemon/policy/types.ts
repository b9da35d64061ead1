/** Who may ask for what. Data first: the rules stand in `config/policy.yaml`. */
import { z } from 'zod';
import type { TaskMetadata } from '../../config/contracts/wire/command.js';
import { SOURCES, type Source } from '../../config/contracts/wire/events.js';
import type { WorkflowDocument, WorkflowStep } from '../../config/contracts/wire/workflow.js';
import { type MethodSpec, RESOURCES } from '../../executors/method.js';
import { AUTONOMY_LEVELS, ROLLOUT_MODES } from './setting-values.js';

/** Who can be a person in the home. `SCHEDULE` and the rest act for somebody, or for themselves. */
export const PEOPLE: ReadonlySet<Source> = new Set<Source>(['LOCAL', 'APP', 'VOICE']);

const methods = z.array(z.string().min(1).max(64));
const sources = z.array(z.enum(SOURCES)).min(1);

/** What one source may ask for. A number is a cap that lowers, a list is an allowlist that refuses. */
const sourceRulesSchema = z.strictObject({
  max_priority: z.int().min(0).max(100),
  max_timeout_ms: z.int().min(1).max(3_600_000),
  preempt_policies: z.array(z.enum(['NONE', 'PREEMPT_LOWER', 'PREEMPT_SAME_QUEUE'])),
  execution_modes: z.array(z.enum(['QUEUED', 'IMMEDIATE', 'PARALLEL'])),
  /** Its tasks that have not ended, and of them those that have not started; TASK_MANAGER_BUSY beyond. */
  max_live_tasks: z.int().min(1).max(20_000),
  max_queued_tasks: z.int().min(1).max(10_000),
  /** Methods this source may not call at all. */
  denied_methods: methods,
});
export type SourceRules = z.infer<typeof sourceRulesSchema>;

/** All that is given has to hold; `takes` and `methods` together: one of them. */
const conditionSchema = z.strictObject({
  /** The channel it came by, or whoever wanted it. */
  sources: sources.optional(),
  /** Whoever wanted it alone: a schedule, for instance, carries out what somebody else wanted. */
  wanted_by: sources.optional(),
  risk: z.enum(['low', 'high']).optional(),
  takes: z.array(z.enum(RESOURCES)).min(1).optional(),
  methods: methods.min(1).optional(),
  /** Methods that the rule leaves alone. */
  but_not: methods.min(1).optional(),
  privacy_mode: z.literal(true).optional(),
  home_lock: z.literal(true).optional(),
  quiet_hours: z.literal(true).optional(),
  autonomy: z.array(z.enum(AUTONOMY_LEVELS)).min(1).optional(),
  rollout_mode: z.array(z.enum(ROLLOUT_MODES)).min(1).optional(),
});

const ruleSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'allowed: lower-case letters, digits and "_"'),
  when: conditionSchema,
  effect: z.enum(['deny', 'approve']),
  /** Of a denial; default POLICY_DENIED. */
  reason: z.enum(['POLICY_DENIED', 'PRIVACY_BLOCKED']).optional(),
  /** A denial that also stops what runs already, when a setting changes. */
  stops: z.literal(true).optional(),
  text: z.strictObject({ ko: z.string().min(1).max(200), en: z.string().min(1).max(200) }),
});
export type PolicyRule = z.infer<typeof ruleSchema>;

export const policySchema = z.strictObject({
  version: z.literal(1),
  /** Acts of a person in the home: refused to everybody else whatever else holds. */
  person_only: methods,
  approvals: z.strictObject({
    expires_after_ms: z.int().min(1_000).max(86_400_000),
    max_pending: z.int().min(1).max(10_000),
    keep: z.int().min(1).max(100_000),
  }),
  never_asked: methods,
  rules: z.array(ruleSchema).max(100),
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
  /** The same for steps that stand alone, as those of an amendment. `path` prefixes field names. */
  applyToSteps(
    source: Source,
    steps: readonly WorkflowStep[],
    path: string,
  ): { steps: WorkflowStep[]; clamped: Clamped[] };
}
