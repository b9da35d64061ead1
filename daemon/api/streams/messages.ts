/** What the WebSockets send, and what they take; only the one for driving takes anything. */
import { z } from 'zod';
import { pathView, robotView, scanView } from '../robot-view.js';

const payload = z.record(z.string(), z.unknown());

export const eventMessage = z.discriminatedUnion('type', [
  /**
   * First message: `seq` of the newest event there is; what follows is after `since`, which is smaller than the
   * one asked for when the store began anew.
   */
  z.strictObject({ type: z.literal('hello'), seq: z.int(), since: z.int() }),
  z.strictObject({ type: z.literal('event'), seq: z.int(), topic: z.string(), payload }),
  /** PROGRESS of a task: telemetry, without `seq`. */
  z.strictObject({ type: z.literal('progress'), payload }),
  /** A domain event of the internal bus, with `domain=true`. */
  z.strictObject({ type: z.literal('domain'), payload }),
  /** Events `from`…`to` are no longer kept here; the cloud has or gets them. */
  z.strictObject({ type: z.literal('gap'), from: z.int(), to: z.int() }),
  /** So many progress and domain messages were left out because this client reads too slowly. */
  z.strictObject({ type: z.literal('dropped'), count: z.int() }),
]);
export type EventMessage = z.infer<typeof eventMessage>;

export const robotMessage = z.strictObject({
  type: z.literal('robot'),
  now_ms: z.number().describe("the robot's clock, to tell ages by"),
  state: robotView.nullable(),
  scan: scanView.nullable().optional(),
  path: pathView.optional(),
});
export type RobotMessage = z.infer<typeof robotMessage>;

const speed = z.number();

/** What whoever drives by hand says: a button goes down, is still down, is let go. */
export const driveAsk = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('press'),
    v: speed.describe('m/s, forward'),
    w: speed.describe('rad/s, to the left'),
    duration_ms: z.number().optional().describe('at most 2000; that too when left out'),
  }),
  /** At least every 300 ms. Without `task_id`: of the newest press on this socket. */
  z.strictObject({ type: z.literal('hold'), task_id: z.string().min(1).max(200).optional() }),
  z.strictObject({ type: z.literal('release'), task_id: z.string().min(1).max(200).optional() }),
]);
export type DriveAsk = z.infer<typeof driveAsk>;

export const driveMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('pressed'), task_id: z.string() }),
  z.strictObject({ type: z.literal('refused'), code: z.string(), message: z.string() }),
  /** The press is over and the wheels stand, or the task ended in another way. */
  z.strictObject({
    type: z.literal('ended'),
    task_id: z.string(),
    event: z.string(),
    ended: z.string().nullable(),
    reason_code: z.string().nullable(),
    message: z.string().nullable(),
  }),
]);
export type DriveMessage = z.infer<typeof driveMessage>;
