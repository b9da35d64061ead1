/** What a motion process is told when it starts: the part of the profile that concerns it, and where it may write. */
import { z } from 'zod';
import {
  BASE_BUTTONS,
  type BaseConfig,
  type Config,
  configSchema,
  KOBUKI_BUTTONS,
} from '../../config/schema.js';

export const rtConfigSchema = z.strictObject({
  /** Absolute path of the state directory. */
  stateDir: z.string().min(1),
  /** Null where the robot is driven over ROS 2. */
  base: configSchema.shape.base,
  ros2: configSchema.shape.ros2,
  lidar: configSchema.shape.lidar,
  motion: configSchema.shape.motion,
  /** The heartbeat comes over a line of its own (a real robot) or over the channel (a simulated clock). */
  heartbeat: z.enum(['line', 'channel']).default('line'),
  /** Where the bytes of base and lidar are written down; null: nowhere. */
  capture: z.string().min(1).nullable().default(null),
  /** Of the particle filter's generator; null: a random one. */
  seed: z.int().nullable().default(null),
});
export type RtConfig = z.infer<typeof rtConfigSchema>;

/** The motion process's share of a profile; null for a robot that nothing moves. */
export function rtConfigOf(
  config: Config,
  own: Pick<RtConfig, 'stateDir' | 'heartbeat' | 'seed'>,
): RtConfig | null {
  const { base, lidar, motion, ros2, recording } = config;
  if (base === null && ros2 === null) return null;
  const capture = recording?.serial === true ? recording.folder : null;
  return rtConfigSchema.parse({ ...own, base, lidar, motion, ros2, capture });
}

/** Of a robot whose base and lidar this process reads itself. */
export type OnboardConfig = RtConfig & { base: BaseConfig };

export function hasBase(config: RtConfig): config is OnboardConfig {
  return config.base !== null;
}

/** The buttons that press the e-stop as the base reports them: one bit each, in the order of its names. */
export function estopMask({ driver, estop_buttons }: BaseConfig): number {
  const names: readonly string[] = driver === 'kobuki' ? KOBUKI_BUTTONS : BASE_BUTTONS;
  return estop_buttons.reduce((mask: number, name) => mask | (1 << names.indexOf(name)), 0);
}
