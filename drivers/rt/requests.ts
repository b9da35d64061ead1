/** What the motion process accepts from its channel, checked where it enters. Units and frames as in `amr.ts`. */
import { z } from 'zod';
import type { DaemonToRt } from '../../config/contracts/rt-protocol.js';

const MAX_PATH_POSES = 20_000;

const finite = z.number('a finite number is needed');
const positive = finite.positive('must be above 0');
const id = z.string().min(1).max(200);
const reason = z.string().max(500);
const pose = z.strictObject({ x: finite, y: finite, theta: finite });
const point = z.strictObject({ x: finite, y: finite });
const speed = positive.max(5, 'm/s, at most 5');

/** Beyond a tenth no wheel is worn and no lidar is turned: the profile is wrong then. */
export const calibrationSchema = z.strictObject({
  wheelScale: finite.min(0.9).max(1.1),
  wheelBaseScale: finite.min(0.9).max(1.1),
  lidarYaw: finite.min(-0.2).max(0.2),
  at: finite,
});

const action = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('followPath'),
    path: z.array(pose).min(1, 'at least one pose').max(MAX_PATH_POSES, `at most ${MAX_PATH_POSES} poses`),
    goal: pose,
    tolerance: z.strictObject({ xy: positive, theta: positive }),
    maxSpeed: speed,
  }),
  z.strictObject({ kind: z.literal('spin'), angle: finite.min(-100).max(100), tolerance: positive }),
  z.strictObject({ kind: z.literal('backUp'), distance: positive.max(5, 'metres, at most 5'), speed }),
  z.strictObject({
    kind: z.literal('drive'),
    twist: z.strictObject({ v: finite.min(-5).max(5), w: finite.min(-20).max(20) }),
    ttlMs: positive.max(2000, 'milliseconds, at most 2000'),
  }),
  z.strictObject({
    kind: z.literal('follow'),
    distance: positive.min(0.5, 'metres, at least 0.5').max(3, 'metres, at most 3'),
    maxSpeed: speed,
    maxDurationMs: positive.max(3_600_000, 'milliseconds, at most 3600000'),
  }),
  z.strictObject({ kind: z.literal('dock'), station: pose }),
  z.strictObject({
    kind: z.literal('measure'),
    legs: z
      .array(
        z.strictObject({
          left: finite.min(-0.3).max(0.3),
          right: finite.min(-0.3).max(0.3),
          forMs: positive.max(30_000, 'milliseconds, at most 30000'),
          expect: z.enum(['near', 'wheels']),
        }),
      )
      .min(1)
      .max(16),
  }),
  z.strictObject({ kind: z.literal('undock'), clearance: positive.max(5, 'metres, at most 5') }),
]);

const request = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('start'), id, action, fence: finite }),
  z.strictObject({ op: z.literal('stop'), reason }),
  z.strictObject({ op: z.literal('estop'), by: reason }),
  z.strictObject({ op: z.literal('releaseEstop'), by: reason }),
  z.strictObject({ op: z.literal('plan'), request: z.strictObject({ from: pose.nullable(), goal: pose }) }),
  z.strictObject({ op: z.literal('loadMap'), mapYaml: z.string().min(1).max(4096) }),
  z.strictObject({ op: z.literal('clearMap') }),
  z.strictObject({ op: z.literal('relocalize'), pose }),
  z.strictObject({ op: z.literal('setCalibration'), calibration: calibrationSchema.nullable() }),
  z.strictObject({ op: z.literal('startMapping') }),
  z.strictObject({
    op: z.literal('frontier'),
    request: z.strictObject({
      avoid: z.array(point).max(500, 'at most 500 places'),
      current: point.nullable(),
    }),
  }),
  z.strictObject({ op: z.literal('writeMapping'), folder: z.string().min(1).max(4096), keep: z.boolean() }),
  z.strictObject({ op: z.literal('dropMapping') }),
]);

export const daemonToRtSchema = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('heartbeat'), beat: z.int().nonnegative() }),
  z.strictObject({ t: z.literal('request'), n: z.int().nonnegative(), request }),
]) satisfies z.ZodType<DaemonToRt>;

/** Enough of a message to answer it, and to obey it when it is a stop, whatever else is wrong with it. */
export const requestOutlineSchema = z.object({
  t: z.literal('request'),
  n: z.int().nonnegative(),
  request: z.object({ op: z.string() }),
});
