/** The wire contract as JSON Schema (draft 2020-12), by name; committed under `config/schemas/`. */
import { z } from 'zod';
import {
  commandResponseSchema,
  controlCommandSchema,
  queryCommandSchema,
  scheduleTaskCommandSchema,
  scheduleWorkflowCommandSchema,
  taskCommandSchema,
  taskMetadataSchema,
  workflowCommandSchema,
} from './wire/command.js';
import { contextMessageSchema, deviceContextV1Schema, deviceContextV2Schema } from './wire/context.js';
import { observationSchema, statusSchema, taskEventSchema, tombstoneSchema } from './wire/events.js';
import { CONTROL_PARAMS, QUERY_PARAMS } from './wire/requests.js';
import { workflowSchema } from './wire/workflow.js';

export type JsonSchema = Record<string, unknown>;

/** What comes in: unknown fields are refused. */
const INBOUND: Record<string, { schema: z.ZodType; title: string }> = {
  'command.task': { schema: taskCommandSchema, title: '…/command, kind task or legacy' },
  'command.workflow': { schema: workflowCommandSchema, title: '…/command, kind workflow' },
  'command.schedule_task': { schema: scheduleTaskCommandSchema, title: '…/command, kind schedule_task' },
  'command.schedule_workflow': {
    schema: scheduleWorkflowCommandSchema,
    title: '…/command, kind schedule_workflow',
  },
  'command.control': { schema: controlCommandSchema, title: '…/command, kind control' },
  'command.query': { schema: queryCommandSchema, title: '…/command, kind query' },
  'task-metadata': { schema: taskMetadataSchema, title: '`task` of a command' },
  workflow: { schema: workflowSchema, title: 'A workflow document' },
  'control-params': { schema: z.strictObject(CONTROL_PARAMS), title: '`params` of each control' },
  'query-params': { schema: z.strictObject(QUERY_PARAMS).partial(), title: '`params` of each query' },
};

/** What goes out: consumers ignore fields they do not know. */
const OUTBOUND: Record<string, { schema: z.ZodType; title: string }> = {
  'command-response': { schema: commandResponseSchema, title: '…/command/response' },
  'device-task-event.v1': { schema: taskEventSchema, title: '…/events/task' },
  'device-semantic-observation.v1': { schema: observationSchema, title: '…/events/observation' },
  'dead-letter-tombstone': {
    schema: tombstoneSchema,
    title: 'Stands in for a row that the broker refused for good',
  },
  status: { schema: statusSchema, title: '…/status, retained' },
  'device_context.v1': { schema: deviceContextV1Schema, title: 'Answer to getDevicePlanningContext' },
  'device_context.v2': {
    schema: deviceContextV2Schema,
    title: 'Answer to getDevicePlanningContext, version 2',
  },
  context: { schema: contextMessageSchema, title: '…/context: a device context with the stamp of telemetry' },
};

/** Every schema by name. Refinements that JSON Schema cannot say are left out; the device still checks them. */
export function schemas(): Record<string, JsonSchema> {
  const all: Record<string, JsonSchema> = {};
  for (const [name, { schema, title }] of Object.entries(INBOUND))
    all[name] = toJsonSchema(schema, 'input', title);
  for (const [name, { schema, title }] of Object.entries(OUTBOUND))
    all[name] = toJsonSchema(schema, 'output', title);
  return all;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', title: string): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return { $schema, title, ...rest };
}
