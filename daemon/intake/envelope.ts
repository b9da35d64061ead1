/** The part of a command that says what it is and where its answer goes, read before anything else is judged. */
import type { z } from 'zod';
import { describeZodError, Refusal, shown } from '../../config/contracts/errors.js';
import {
  type Command,
  controlCommandSchema,
  idSchema,
  queryCommandSchema,
  scheduleTaskCommandSchema,
  scheduleWorkflowCommandSchema,
  type TaskMetadata,
  taskCommandSchema,
  workflowCommandSchema,
} from '../../config/contracts/wire/command.js';
import type { JsonObject } from './read-payload.js';

/** Below the device's root. */
const RESPONSE_TOPIC = 'command/response';
const RESPONSE_NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** What can be said of a message without trusting it. */
export interface Address {
  commandId: string | null;
  correlationId: string | null;
  /** Below the device's root; where the answer goes. */
  replyTopic: string;
}

export const NOWHERE: Address = { commandId: null, correlationId: null, replyTopic: RESPONSE_TOPIC };

/** Reads leniently: a bad `reply_to` is judged later, and refused to the default topic. */
export function readAddress(body: JsonObject, deviceId: string): Address {
  const id = idSchema.safeParse(body.command_id);
  const { correlation_id: correlation, reply_to: replyTo } = body;
  return {
    commandId: id.success ? id.data : null,
    correlationId: typeof correlation === 'string' && correlation.length <= 128 ? correlation : null,
    replyTopic: (typeof replyTo === 'string' ? replyTopicOf(replyTo, deviceId) : null) ?? RESPONSE_TOPIC,
  };
}

/** Kinds of the wire contract that this version does not build. */
const LATER_KINDS: readonly string[] = ['experience'];

const SCHEMAS = {
  task: taskCommandSchema,
  legacy: taskCommandSchema,
  workflow: workflowCommandSchema,
  schedule_task: scheduleTaskCommandSchema,
  schedule_workflow: scheduleWorkflowCommandSchema,
  control: controlCommandSchema,
  query: queryCommandSchema,
} as const;

function isKind(kind: unknown): kind is keyof typeof SCHEMAS {
  return typeof kind === 'string' && Object.hasOwn(SCHEMAS, kind);
}

/**
 * The strict shape. `timesMatter` false: `issued_at` and `expires_at` may be anything, or missing. Throws `Refusal`
 * INVALID_PARAMS naming the field, or UNKNOWN_METHOD for a kind that is not built.
 */
export function readCommand(body: JsonObject, timesMatter: boolean): Command {
  const { kind } = body;
  if (typeof kind === 'string' && LATER_KINDS.includes(kind)) {
    throw new Refusal(
      'UNKNOWN_METHOD',
      `kind: ${kind} is not built in this version; allowed are ${Object.keys(SCHEMAS).join(', ')}`,
      'kind',
    );
  }
  if (!isKind(kind)) {
    throw invalid('kind', kind, `allowed are ${Object.keys(SCHEMAS).join(', ')}`);
  }
  const timed = timesMatter ? body : { ...body, issued_at: '', expires_at: null };
  const parsed: z.ZodSafeParseResult<Command> = SCHEMAS[kind].safeParse(timed);
  if (!parsed.success) {
    const { field, message } = describeZodError(parsed.error, body);
    throw new Refusal('INVALID_PARAMS', message, field);
  }
  return parsed.data;
}

/** Throws `Refusal` INVALID_PARAMS. */
export function judgeReply(command: Command, deviceId: string): void {
  const replyTo = command.reply_to ?? null;
  if (replyTo !== null && replyTopicOf(replyTo, deviceId) === null) {
    const root = `deviceagent/${deviceId}/${RESPONSE_TOPIC}`;
    throw invalid('reply_to', replyTo, `allowed are null, ${root} and ${root}/<name>`);
  }
  const task = 'task' in command ? command.task : undefined;
  requireSame('task.replyTo', task?.replyTo, 'reply_to', replyTo);
  requireSame('task.correlationId', task?.correlationId, 'correlation_id', command.correlation_id ?? null);
}

export function invalid(field: string, found: unknown, allowed: string): Refusal {
  return new Refusal('INVALID_PARAMS', `${field}: found ${shown(found)}; ${allowed}`, field);
}

function requireSame(
  field: string,
  given: TaskMetadata['replyTo'],
  other: string,
  expected: string | null,
): void {
  if (given === undefined || given === null || given === expected) return;
  throw invalid(field, given, `allowed is that of the envelope's ${other}, ${shown(expected)}`);
}

/** The topic below the device's root, or null when it is none a response may go to. */
function replyTopicOf(replyTo: string, deviceId: string): string | null {
  const prefix = `deviceagent/${deviceId}/`;
  if (!replyTo.startsWith(prefix)) return null;
  const topic = replyTo.slice(prefix.length);
  if (topic === RESPONSE_TOPIC) return topic;
  if (!topic.startsWith(`${RESPONSE_TOPIC}/`)) return null;
  return RESPONSE_NAME.test(topic.slice(RESPONSE_TOPIC.length + 1)) ? topic : null;
}
