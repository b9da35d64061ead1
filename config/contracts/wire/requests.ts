/** What `params` of a control and of a query carry. Names are the wire's. */
import { z } from 'zod';
import { idSchema } from './command.js';
import { MAX_STEPS, workflowStepSchema } from './workflow.js';

const taskId = z.strictObject({ task_id: idSchema });
const workflowId = z.strictObject({ workflow_id: idSchema });
const scheduleId = z.strictObject({ schedule_id: idSchema });
const nothing = z.strictObject({});

/** What is to change, against the revision that the caller knows. Steps stand as in a document. */
export const amendmentSchema = z.strictObject({
  base_revision: z.int().min(1),
  /** New ids, behind the steps that are there. */
  add: z.array(workflowStepSchema).max(MAX_STEPS).optional(),
  /** In the place of the step with the same id. */
  replace: z.array(workflowStepSchema).max(MAX_STEPS).optional(),
  remove: z.array(z.string().min(1).max(128)).max(MAX_STEPS).optional(),
});

/** `emergencyStop` is not in here: it acts whatever its params are. */
export const CONTROL_PARAMS = {
  cancelTask: taskId,
  pauseTask: taskId,
  resumeTask: taskId,
  cancelWorkflow: workflowId,
  pauseWorkflow: workflowId,
  resumeWorkflow: workflowId,
  pauseSchedule: scheduleId,
  resumeSchedule: scheduleId,
  removeSchedule: scheduleId,
  amendWorkflow: amendmentSchema.extend({ workflow_id: idSchema }),
} as const;

const CONTEXT_VERSIONS = [1, 2, 'device_context.v1', 'device_context.v2'] as const;

export const QUERY_PARAMS = {
  getDevicePlanningContext: z.strictObject({
    version: z.literal(CONTEXT_VERSIONS).optional(),
    /** Upper limit of the answer's JSON text, UTF-8 bytes. */
    max_bytes: z.int().min(512).max(262_144).optional(),
  }),
  listTasks: z.strictObject({ active: z.boolean().optional(), limit: z.int().min(1).max(200).optional() }),
  getTask: taskId,
  getWorkflow: workflowId,
  listSchedules: z.strictObject({ limit: z.int().min(1).max(200).optional() }),
  listCapabilities: nothing,
  outboxStatus: nothing,
} as const;

export type ControlMethod = keyof typeof CONTROL_PARAMS;
export type QueryMethod = keyof typeof QUERY_PARAMS;
