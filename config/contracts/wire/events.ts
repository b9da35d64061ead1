/** What the device publishes on its ordered lane. Names are the wire's. */
import { z } from 'zod';
import { TASK_REASONS } from '../reason-codes.js';

export const SOURCES = ['VOICE', 'CLOUD', 'APP', 'SCHEDULE', 'PROACTIVE', 'SUPERVISOR', 'LOCAL'] as const;
export type Source = (typeof SOURCES)[number];

const TASK_EVENTS = [
  'STARTED',
  'PROGRESS',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'WORKFLOW_STEP_STARTED',
  'WORKFLOW_STEP_WAITING',
  'WORKFLOW_STEP_COMPLETED',
  'BLOCKED',
] as const;
export type TaskEventName = (typeof TASK_EVENTS)[number];

/** Stamped on every row of the ordered lane when it is appended. */
const lane = {
  event_id: z.string(),
  seq: z.int(),
  store_epoch: z.string(),
  device_id: z.string(),
  boot_id: z.string(),
  idempotency_key: z.string(),
};

export const taskEventSchema = z.object({
  contract_version: z.literal('device-task-event.v1'),
  ...lane,
  /** Absent on telemetry, which carries `telemetry_seq`. */
  seq: z.int().optional(),
  telemetry_seq: z.int().optional(),
  event: z.enum(TASK_EVENTS),
  task_id: z.string().nullable(),
  method: z.string().nullable(),
  attempt: z.int(),
  workflow_id: z.string().nullable(),
  step_id: z.string().nullable(),
  plan_id: z.string().nullable(),
  cloud_output_key: z.string().nullable(),
  source: z.enum(SOURCES),
  reason_code: z.enum(TASK_REASONS).nullable(),
  reason_observed_at_ms: z.number().nullable().optional(),
  message: z.string().nullable(),
  domain_stage: z.string().nullable(),
  progress: z.record(z.string(), z.unknown()).nullable(),
  evidence: z.record(z.string(), z.unknown()).nullable(),
  output: z.unknown().nullable(),
  skipped: z.boolean().optional(),
  legacy: z.boolean().optional(),
  schedule_id: z.string().optional(),
  run_id: z.string().optional(),
  scheduled_for: z.string().optional(),
  revision: z.int().optional(),
  correlation_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  occurred_at: z.string(),
});
export type TaskEvent = z.infer<typeof taskEventSchema>;

/** A domain event, on the internal bus and, where allowlisted, as a semantic observation. */
export interface DomainEvent {
  /** e.g. `movement.arrived`, `dock.stateChanged`. */
  type: string;
  /** Robot time, epoch ms. */
  at: number;
  areaId: string | null;
  attributes: Record<string, string | number | boolean | null>;
  correlation?: { session_id?: string; workflow_id?: string; step_id?: string; task_id?: string };
}

export const OBSERVATION_TYPES = [
  'security.person_detected',
  'security.verification_result',
  'security.patrolCompleted',
  'vision.low_light_changed',
  'vision.cameraChanged',
  'air.qualityChanged',
  'battery.low',
  'battery.chargingChanged',
  'movement.arrived',
  'movement.obstructed',
  'movement.localizationLost',
  'dock.stateChanged',
  'network.awsChanged',
  'voice.sessionChanged',
  'cleaning.stopped',
  'device.faultChanged',
  'app.sessionStarted',
  'app.sessionEnded',
] as const;
export type ObservationType = (typeof OBSERVATION_TYPES)[number];

export const observationSchema = z.object({
  contract_version: z.literal('device-semantic-observation.v1'),
  ...lane,
  type: z.enum(OBSERVATION_TYPES),
  observed_at_ms: z.number(),
  ttl_ms: z.int(),
  area_id: z.string().nullable(),
  confidence_band: z.enum(['low', 'medium', 'high']).nullable(),
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  correlation: z.record(z.string(), z.string().nullable()),
  requires_cloud_decision: z.boolean(),
});
export type Observation = z.infer<typeof observationSchema>;

/** Stands in for a row that the broker refused for good, under the same `seq`. */
export const tombstoneSchema = z.object({
  ...lane,
  contract_version: z.string(),
  event: z.literal('DEAD_LETTERED'),
  reason: z.string(),
});

export const statusSchema = z.strictObject({
  state: z.enum(['online', 'offline']),
  since: z.string(),
  boot_id: z.string(),
  version: z.string(),
});
