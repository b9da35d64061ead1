/** The options of `deviceagent sim`, checked. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { describeZodError } from '../../../config/contracts/errors.js';
import { BASE_CHIPS, type BaseChip, LIDAR_CHIPS, type LidarChip } from '../../../simulator/devices/index.js';

/** `nav2` is Nav2 as of Jazzy. */
export const BACK_ENDS = ['onboard', 'nav2', 'nav2-humble'] as const;

const onOff = z.enum(['on', 'off']).transform((value) => value === 'on');
const port = z.coerce.number().int().min(0).max(65535);
const speed = z.union([
  z.literal('max'),
  z.coerce.number('a number above 0, or "max"').positive('a number above 0, or "max"').max(1000),
]);

const optionsSchema = z
  .object({
    speed: speed.default(1),
    seed: z.coerce.number().int().min(0).default(1),
    world: z.string().optional(),
    map: z.string().optional(),
    mqttPort: port.optional(),
    apiPort: port.optional(),
    stateDir: z.string().optional(),
    cloud: onOff.default(true),
    once: z.boolean().default(false),
    headless: z.boolean().default(false),
    transport: z.enum(['pty', 'memory']).default('pty'),
    rt: z.enum(['process', 'inline']).optional(),
    baseWatchdog: onOff.default(false),
    base: z.enum(BASE_CHIPS).default('create2'),
    lidar: z.enum(LIDAR_CHIPS).default('ld19'),
    backEnd: z.enum(BACK_ENDS).default('onboard'),
  })
  .refine((o) => o.world === undefined || o.map === undefined, {
    path: ['map'],
    message: 'a world comes from --world or from --map, not from both',
  })
  .refine((o) => o.transport === 'pty' || o.rt !== 'process', {
    path: ['rt'],
    message: 'lines in memory cannot be reached from another process; use --rt inline',
  })
  .refine((o) => o.backEnd === 'onboard' || o.transport === 'memory' || o.speed === 1, {
    path: ['speed'],
    message: 'over a WebSocket a robot with Nav2 runs at real speed; use --transport memory for any other',
  })
  .refine((o) => o.cloud || !o.once, {
    path: ['once'],
    message: 'the workflow of --once comes from the built-in cloud; leave --cloud on',
  });

export interface SimOptions {
  speed: number | 'max';
  seed: number;
  worldFile: string | null;
  mapFile: string | null;
  /** Undefined where the default port may give way to a free one. */
  mqttPort: number | undefined;
  apiPort: number | undefined;
  /** Null: the default, which starts empty. */
  stateDir: string | null;
  cloud: boolean;
  once: boolean;
  headless: boolean;
  transport: 'pty' | 'memory';
  rt: 'process' | 'inline';
  baseWatchdog: boolean;
  base: BaseChip;
  lidar: LidarChip;
  backEnd: (typeof BACK_ENDS)[number];
}

/** Throws an Error with one sentence that names the option, what was found and what is allowed. */
export function parseSimOptions(raw: Record<string, unknown>): SimOptions {
  const parsed = optionsSchema.safeParse(raw);
  if (!parsed.success) {
    const { message } = describeZodError(parsed.error, raw);
    throw new Error(`--${message.replace(/^([a-z]+)([A-Z])/, (_, a, b) => `${a}-${b.toLowerCase()}`)}`);
  }
  const { world, map, stateDir, rt, mqttPort, apiPort, ...rest } = parsed.data;
  return {
    ...rest,
    mqttPort,
    apiPort,
    worldFile: world === undefined ? null : resolve(world),
    mapFile: map === undefined ? null : resolve(map),
    stateDir: stateDir === undefined ? null : resolve(stateDir),
    rt: rt ?? (rest.transport === 'memory' ? 'inline' : 'process'),
  };
}
