/**
 * Messages of the rosbridge v2 protocol that a client receives (RobotWebTools/rosbridge_suite,
 * `ROSBRIDGE_PROTOCOL.md` and the capabilities of `rosbridge_library`), checked where they enter.
 */
import { z } from 'zod';
import { describeZodError } from '../../../config/contracts/errors.js';

/** Clients may use numbers as ids as well; ours are texts, and nothing else is an answer to us. */
const id = z.string().optional();

export const fromBridgeSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('publish'), topic: z.string(), msg: z.unknown() }),
  z.object({
    op: z.literal('service_response'),
    id,
    service: z.string().optional(),
    values: z.unknown(),
    result: z.boolean(),
  }),
  z.object({ op: z.literal('action_feedback'), id, action: z.string(), values: z.unknown() }),
  z.object({
    op: z.literal('action_result'),
    id,
    action: z.string(),
    values: z.unknown(),
    /** `action_msgs/msg/GoalStatus`. */
    status: z.number().optional(),
    result: z.boolean(),
  }),
  z.object({ op: z.literal('status'), id, level: z.string(), msg: z.string() }),
]);
export type FromBridge = z.infer<typeof fromBridgeSchema>;

/** `action_msgs/msg/GoalStatus`. */
export const STATUS_SUCCEEDED = 4;
export const STATUS_CANCELED = 5;
export const STATUS_ABORTED = 6;

/** Throws an Error that names what is wrong. */
export function parseFromBridge(text: string): FromBridge {
  const value = parseJson(text);
  const parsed = fromBridgeSchema.safeParse(value);
  if (!parsed.success) throw new Error(describeZodError(parsed.error, value).message);
  return parsed.data;
}

/**
 * Python's JSON writer puts NaN and Infinity bare into arrays of floats, which JSON does not know. Where a document
 * cannot be read for that they are read as null, which is what rosbridge makes of single values.
 */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const mended = withoutNonNumbers(text);
    if (mended === text) throw error;
    return JSON.parse(mended);
  }
}

/** Strings are matched first, so that what stands inside them stays. */
function withoutNonNumbers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (found) =>
    found.startsWith('"') ? found : 'null',
  );
}
