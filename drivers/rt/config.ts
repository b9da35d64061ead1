/** What a motion process is told when it starts: the part of the profile that concerns it, and where it may write. */
import { z } from 'zod';
import { type Config, configSchema } from '../../config/schema.js';

export const rtConfigSchema = z.strictObject({
  /** Absolute path of the state directory. */
  stateDir: z.string().min(1),
  base: configSchema.shape.base.unwrap().unwrap(),
  lidar: configSchema.shape.lidar,
  motion: configSchema.shape.motion,
  /** Buttons of the base, as its bit mask, that press the e-stop; 1 is CLEAN on a Create 2. 0: none. */
  estopButtons: z.int().min(0).max(255).default(1),
  /** The heartbeat comes over a line of its own (a real robot) or over the channel (a simulated clock). */
  heartbeat: z.enum(['line', 'channel']).default('line'),
  /** Of the particle filter's generator; null: a random one. */
  seed: z.int().nullable().default(null),
});
export type RtConfig = z.infer<typeof rtConfigSchema>;

/** The motion process's share of a profile; null for a robot without a base of its own. */
export function rtConfigOf(
  config: Config,
  own: Pick<RtConfig, 'stateDir' | 'heartbeat' | 'seed'>,
): RtConfig | null {
  if (config.base === null) return null;
  const { base, lidar, motion } = config;
  return rtConfigSchema.parse({ ...own, base, lidar, motion });
}
