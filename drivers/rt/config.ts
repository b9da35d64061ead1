/** What a motion process is told when it starts: the part of the profile that concerns it, and where it may write. */
import { z } from 'zod';
import { configSchema } from '../../config/schema.js';

export const rtConfigSchema = z.strictObject({
  /** Absolute path of the state directory. */
  stateDir: z.string().min(1),
  base: configSchema.shape.base,
  lidar: configSchema.shape.lidar,
  motion: configSchema.shape.motion,
  /** Buttons of the base, as its bit mask, that press the e-stop; 1 is CLEAN on a Create 2. 0: none. */
  estopButtons: z.int().min(0).max(255).default(1),
  /** The heartbeat comes over a line of its own (a real robot) or over the channel (a simulated clock). */
  heartbeat: z.enum(['line', 'channel']).default('line'),
});
export type RtConfig = z.infer<typeof rtConfigSchema>;
