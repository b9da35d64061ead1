/** What the benchmarks of a running robot and the process that holds its home tell each other. */
import { z } from 'zod';

export const homeOptions = z.object({ stateDir: z.string() });
export const homeReady = z.object({ t: z.literal('home'), mqttUrl: z.string() });

export const backlogOptions = z.object({ file: z.string(), rows: z.int().positive() });
export const backlogMade = z.object({ t: z.literal('backlog'), rows: z.number(), bytes: z.number() });
