/** What the benchmarks of a whole home and the process that holds it tell each other. */
import { z } from 'zod';

export const mainJobOptions = z.object({
  /** How often the planning context is built; 0: not at all. */
  contexts: z.int().min(0),
});

export const mainJobMeasured = z.object({
  t: z.literal('measured'),
  robotMs: z.number(),
  wallMs: z.number(),
  context: z.object({ v1: z.array(z.number()), v2: z.array(z.number()), bytes: z.number() }).nullable(),
});
