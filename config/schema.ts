/**
 * The shape of a profile. One YAML file describes one robot: what is plugged in where, which map it lives in,
 * which cloud it talks to. Units are SI unless a name says otherwise.
 */
import { z } from 'zod';
import type { ApiToken } from './api-tokens.js';
import { airBandsSchema } from './contracts/air.js';
import { PROFILES } from './profiles.js';
import { ros2Schema } from './ros2.js';

const serialPort = z.strictObject({
  kind: z.literal('serial'),
  /** Device file; `${STATE_DIR}` stands for the state directory. */
  path: z.string().min(1),
  baud_rate: z.int().min(1200).max(4_000_000),
});
const tcpPort = z.strictObject({
  kind: z.literal('tcp'),
  host: z.string().min(1),
  port: z.int().min(1).max(65535),
});
/** A line inside the simulator's own process; only a simulation can provide it. */
const memoryPort = z.strictObject({
  kind: z.literal('memory'),
  name: z.enum(['base', 'lidar', 'air', 'fan']),
});
const portSchema = z.discriminatedUnion('kind', [serialPort, tcpPort, memoryPort], {
  error: ({ code }: { code?: string }) =>
    code === 'invalid_type'
      ? 'allowed: {kind: serial, path: DEVICE, baud_rate: N} or {kind: tcp, host: HOST, port: N}'
      : undefined,
});
export type PortConfig = z.infer<typeof portSchema>;

const positive = (max: number) => z.number().positive().max(max);

/** Buttons of a Create 2 from bit 0 of its buttons packet (Create 2 Open Interface, packet 18). */
export const BASE_BUTTONS = ['clean', 'spot', 'dock', 'minute', 'hour', 'day', 'schedule', 'clock'] as const;
/** Buttons and digital inputs of a Kobuki, as its driver numbers them; an input is pressed when it is pulled to ground. */
export const KOBUKI_BUTTONS = ['b0', 'b1', 'b2', 'in0', 'in1', 'in2', 'in3'] as const;

const create2Schema = z.strictObject({
  driver: z.literal('create2'),
  port: portSchema,
  /** Distance between the wheels' contact points, m. */
  wheel_base: positive(2).default(0.235),
  wheel_diameter: positive(1).default(0.072),
  counts_per_rev: positive(1e6).default(508.8),
  max_wheel_speed: positive(3).default(0.5),
  /** Buttons that press the emergency stop; none: the base has no button for it. */
  estop_buttons: z.array(z.enum(BASE_BUTTONS)).default(['clean']),
});

const kobukiSchema = z.strictObject({
  driver: z.literal('kobuki'),
  port: portSchema,
  wheel_base: positive(2).default(0.23),
  wheel_diameter: positive(1).default(0.07),
  counts_per_rev: positive(1e6).default(2578.33),
  max_wheel_speed: positive(3).default(0.5),
  estop_buttons: z.array(z.enum(KOBUKI_BUTTONS)).default(['b0']),
});

const baseSchema = z.discriminatedUnion('driver', [create2Schema, kobukiSchema], {
  error: ({ code }: { code?: string }) =>
    code === 'invalid_union' ? 'allowed: driver create2 or kobuki' : undefined,
});
export type BaseConfig = z.infer<typeof baseSchema>;

const angle = z.number().min(-Math.PI).max(Math.PI);
const sector = z.strictObject({ from: angle, to: angle });
const TURN = 2 * Math.PI;
/** Of a turn, what may be masked: a robot that sees less than three quarters drives blind. */
const MOST_MASKED = TURN / 4;

const lidarSchema = z.strictObject({
  driver: z.enum(['ld19', 'rplidar_a1']),
  port: portSchema,
  /** Angle of the device's zero in base_link, rad. */
  yaw: angle.default(0),
  /** Place of its head in base_link, m. */
  x: z.number().min(-1).max(1).default(0),
  y: z.number().min(-1).max(1).default(0),
  /** Mounted with its head down. */
  inverted: z.boolean().default(false),
  /** Sectors that hold nothing but the robot's own posts, rad, counter-clockwise from `from` to `to`, seen from its head. */
  masks: z
    .array(sector)
    .max(16)
    .default([])
    .refine(
      (masks) => masks.reduce((sum, { from, to }) => sum + ((to - from + TURN) % TURN), 0) <= MOST_MASKED,
      'allowed: at most a quarter of a turn (1.57 rad) altogether',
    ),
});
export type LidarConfig = z.infer<typeof lidarSchema>;

const airSensorSchema = z.strictObject({
  driver: z.literal('zphs01b'),
  port: portSchema,
  poll_ms: z.int().min(500).max(60_000).default(1000),
  warm_up_ms: z.int().min(0).max(3_600_000).default(180_000),
  /** What the module adds to a temperature, tenths of a degree: 435 in most editions of its manual, 500 in others. */
  temperature_offset: z.int().min(0).max(1000).default(435),
});

const fanSchema = z.strictObject({
  driver: z.literal('modbus'),
  port: portSchema,
  unit_id: z.int().min(1).max(247).default(1),
  registers: z
    .strictObject({
      /** Holding register for the set-point. */
      set_point: z.int().min(0).max(65535),
      /** Raw value of the set-point register at 100 %. */
      set_point_full: z.int().min(1).max(65535),
      /** Input register with the speed, and revolutions per minute for one count. */
      rpm: z.int().min(0).max(65535),
      rpm_per_count: positive(100),
      /** Input register that is not 0 while the fan reports a fault; null when there is none. */
      fault: z.int().min(0).max(65535).nullable(),
    })
    .prefault({ set_point: 1, set_point_full: 1000, rpm: 1, rpm_per_count: 1, fault: 2 }),
  /** Speed at a set-point of 100 %, rpm: what a running fan is measured against. */
  full_rpm: positive(20_000).default(2400),
  /** Set-point in percent for each cleaning mode. */
  modes: z
    .strictObject({
      quiet: z.number().min(1).max(100),
      auto: z.number().min(1).max(100),
      turbo: z.number().min(1).max(100),
    })
    .prefault({ quiet: 30, auto: 60, turbo: 100 }),
});

const cloudSchema = z.strictObject({
  /** mqtt://, mqtts://, ws:// or wss://; null: no cloud, events stay in the outbox. */
  url: z.url({ protocol: /^(mqtts?|wss?)$/ }).nullable(),
  protocol: z.enum(['3.1.1', '5']).default('3.1.1'),
  username: z.string().nullable().default(null),
  /** Files: CA, client certificate and key, PEM. Passwords come from the environment only. */
  ca_file: z.string().nullable().default(null),
  cert_file: z.string().nullable().default(null),
  key_file: z.string().nullable().default(null),
  /** Commands older or newer than this are refused, ms. */
  command_window_ms: z.int().min(1000).max(3_600_000).default(120_000),
  /** Ed25519 public key (PEM file) of the one who may command; null: the broker's authentication is enough. */
  command_key_file: z.string().nullable().default(null),
  /** Largest packet the broker takes where it does not say so itself, bytes; AWS IoT Core: 131072. */
  max_packet_bytes: z.int().min(1024).nullable().default(null),
  /**
   * Events that waited longer than 2 s are sent at most so fast, rows per second, for a link that is metered or shared;
   * null: as fast as the broker takes them. Answers, and events of the moment, are not held back by it.
   */
  replay_rate_per_s: z.int().min(1).max(1_000_000).nullable().default(null),
  /** So many of them may go at once after a pause; of no effect without a rate. */
  replay_burst: z.int().min(1).max(10_000).default(200),
});

const recordingSchema = z.strictObject({
  /** Where the files go; a path that is not absolute counts from the profile's folder. */
  folder: z.string().min(1),
  /** A file of this size is closed and the next begun, MiB; and so many files are kept. */
  max_mb: z.number().min(1).max(4096).default(64),
  max_files: z.int().min(1).max(1000).default(8),
  /** Also the bytes of base and lidar as they come in, for `deviceagent replay`. */
  serial: z.boolean().default(false),
});

const workflowsSchema = z.strictObject({
  /** How long a failed step with policy REPLAN waits for an amendment of its workflow, ms. */
  amendment_wait_ms: z.int().min(1_000).max(86_400_000).default(300_000),
});

/** As it stands in a Host header, without its port. */
const hostName = z
  .string()
  .max(253)
  .regex(
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)$/,
    'allowed: a host name or address without its port, such as robot.local',
  );

const apiSchema = z.strictObject({
  /** Beyond loopback only with `tokens_file`. */
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65535).default(8080),
  /** YAML list of {name, value, scopes: [read, control]}, mode 0600; null: only the token in the state directory. */
  tokens_file: z.string().min(1).nullable().default(null),
  /** Further names under which the robot is addressed, e.g. that of a proxy in front. */
  allowed_hosts: z.array(hostName).max(32).default([]),
});

const motionSchema = z.strictObject({
  radius: positive(1).default(0.17),
  max_speed: positive(2).default(0.35),
  max_turn: positive(6).default(1.2),
  max_accel: positive(5).default(0.5),
  /** Kept between the body and obstacles where there is room, m. */
  margin: z.number().min(0).max(1).default(0.05),
  /** Below this the robot goes home, percent. */
  battery_reserve: z.number().min(0).max(90).default(15),
});

export const configSchema = z.strictObject({
  version: z.literal(1),
  profile: z.enum(PROFILES),
  device_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'allowed: 1–64 letters, digits, "_" or "-"'),
  language: z.enum(['ko', 'en']).default('ko'),
  timezone: z.string().default('Asia/Seoul'),
  map: z
    .strictObject({ file: z.string().min(1) })
    .nullable()
    .default(null),
  base: baseSchema.nullable().default(null),
  lidar: lidarSchema.nullable().default(null),
  air_sensor: airSensorSchema.nullable().default(null),
  /** Where good, moderate and bad end; the worst quantity counts. */
  air_grades: airBandsSchema.prefault({}),
  fan: fanSchema.nullable().default(null),
  ros2: ros2Schema.nullable().default(null),
  speaker: z.enum(['virtual', 'none']).default('none'),
  motion: motionSchema.prefault({}),
  cloud: cloudSchema.prefault({ url: null }),
  api: apiSchema.prefault({}),
  /**
   * Whether the robot may believe its clock: `auto` looks at NTP, the battery-backed clock and what the robot knows; true
   * and false are older words for `always` and `never`.
   */
  clock_trusted: z.union([z.enum(['auto', 'always', 'never']), z.boolean()]).default('auto'),
  workflows: workflowsSchema.prefault({}),
  /** Runs are recorded as MCAP files; null: they are not. */
  recording: recordingSchema.nullable().default(null),
  log: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
});
export type Config = z.infer<typeof configSchema>;

/** Values that a file must not hold; from the environment. */
export interface Secrets {
  /** `DEVICEAGENT_MQTT_PASSWORD` */
  mqttPassword: string | null;
  /** Of `api.tokens_file`. */
  apiTokens: readonly ApiToken[];
}
