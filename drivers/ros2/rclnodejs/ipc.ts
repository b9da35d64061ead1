/** Between the port in the motion process and the child that has rclnodejs loaded: JSON over the fork's channel. */
import { z } from 'zod';

const qos = z.object({
  reliability: z.enum(['reliable', 'best_effort']),
  durability: z.enum(['volatile', 'transient_local']),
  depth: z.int().positive(),
});

export const toChildSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('advertise'), id: z.string(), topic: z.string(), type: z.string(), qos }),
  z.object({ op: z.literal('unadvertise'), id: z.string() }),
  z.object({ op: z.literal('publish'), id: z.string(), message: z.record(z.string(), z.unknown()) }),
  z.object({ op: z.literal('subscribe'), id: z.string(), topic: z.string(), type: z.string(), qos }),
  z.object({ op: z.literal('unsubscribe'), id: z.string() }),
  z.object({
    op: z.literal('call'),
    id: z.string(),
    service: z.string(),
    type: z.string(),
    request: z.record(z.string(), z.unknown()),
    timeoutMs: z.number(),
  }),
  z.object({
    op: z.literal('goal'),
    id: z.string(),
    action: z.string(),
    type: z.string(),
    goal: z.record(z.string(), z.unknown()),
  }),
  z.object({ op: z.literal('cancel'), id: z.string() }),
]);
export type ToChild = z.infer<typeof toChildSchema>;

export const fromChildSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('ready'), distro: z.string() }),
  z.object({ op: z.literal('message'), id: z.string(), message: z.unknown() }),
  z.object({ op: z.literal('answer'), id: z.string(), value: z.unknown() }),
  z.object({
    op: z.literal('call_failed'),
    id: z.string(),
    kind: z.enum(['unavailable', 'failed', 'timeout']),
    why: z.string(),
  }),
  z.object({ op: z.literal('feedback'), id: z.string(), value: z.unknown() }),
  z.object({
    op: z.literal('result'),
    id: z.string(),
    status: z.enum(['succeeded', 'canceled', 'aborted']),
    value: z.unknown(),
  }),
  z.object({
    op: z.literal('goal_ended'),
    id: z.string(),
    kind: z.enum(['rejected', 'unavailable']),
    why: z.string(),
  }),
  z.object({ op: z.literal('log'), level: z.enum(['info', 'warn']), message: z.string() }),
]);
export type FromChild = z.infer<typeof fromChildSchema>;
