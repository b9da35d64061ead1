/** What the two WebSockets send. Clients send nothing. */
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
