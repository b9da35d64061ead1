/** What the e-stop benchmark and the robot under load tell each other. */
import { z } from 'zod';
import { rtConfigSchema } from '../../../drivers/rt/config.js';

const pose = z.object({ x: z.number(), y: z.number(), theta: z.number() });

export const loadedRobotOptions = z.object({
  rt: rtConfigSchema,
  /** A map to plan on, and where the robot stands on it. */
  mapYaml: z.string(),
  pose,
  /** Plans that are asked for again and again, that many at a time. */
  plans: z.array(z.object({ from: pose, goal: pose })),
  plansAtOnce: z.int().positive(),
  commitMs: z.number().positive(),
  commitEveryMs: z.number().positive(),
});

/** The robot may drive and its load is on. */
export const robotReady = z.object({ t: z.literal('ready') });

/** Sent once a second. Counters of the motion process are totals since its start. */
export const robotReport = z.object({
  t: z.literal('report'),
  rt: z.record(z.string(), z.number()),
  localized: z.boolean().nullable(),
  plans: z.number(),
  planMs: z.number().nullable(),
  slowCommits: z.number(),
  /** Stretches of sound and pictures worked through. */
  heard: z.number(),
  seen: z.number(),
});
export type RobotReport = z.infer<typeof robotReport>;
