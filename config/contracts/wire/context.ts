/**
 * What a planner sees of the device: `device_context.v1`, and the additions of v2. Numbers that are not usable are
 * null, never 0; blocks of parts that are not built say `unknown` and null. Names are the wire's.
 */
import { z } from 'zod';
import { AIR_GRADES } from '../air.js';

export const CONTEXT_V1 = 'device_context.v1';
export const CONTEXT_V2 = 'device_context.v2';

/** On every sensed block. Times are robot time, epoch ms. */
const freshness = {
  source_valid: z.boolean(),
  observed_at_ms: z.number().nullable(),
  freshness_ms: z.number().nullable(),
  ttl_ms: z.number().nullable(),
  stale: z.boolean(),
  usable: z.boolean(),
};

const number = z.number().nullable();
const flag = z.boolean().nullable();
const text = z.string().nullable();

const roomSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  aliases: z.array(z.string()).optional(),
  x: z.number().optional(),
  y: z.number().optional(),
  theta: z.number().optional(),
  station: z.boolean().optional(),
});

const blocks = {
  device_id: z.string(),
  generated_at_ms: z.number(),
  main_state: z.enum(['idle', 'busy', 'charging', 'error', 'emergency_stop']),
  battery: z.strictObject({ level: number, charging: flag, on_station: flag, low: flag, ...freshness }),
  map: z.strictObject({
    available: z.boolean(),
    editable: z.boolean(),
    room_count: z.int(),
    rooms: z.array(roomSchema),
  }),
  location: z.strictObject({
    current_room_id: text,
    current_room_name: text,
    x: number,
    y: number,
    theta: number,
    is_on_station: flag,
    localized: flag,
    ...freshness,
  }),
  air_quality: z.strictObject({
    pm10: number.optional(),
    pm2_5: number.optional(),
    pm1_0: number.optional(),
    tvoc: number.optional(),
    nox: number.optional(),
    hcho: number.optional(),
    co2: number.optional(),
    temperature: number.optional(),
    humidity: number.optional(),
    tvoc_level: number.optional(),
    grade: z.enum(AIR_GRADES).nullable(),
    source_state: z.enum(['ok', 'warming_up', 'error']),
    ...freshness,
  }),
  cleaning: z.strictObject({
    running: flag,
    paused: flag,
    mode: text,
    last_action: text,
    area_id: text,
  }),
  movement: z.strictObject({
    /** 0 idle, 1 driving, 2 held, 3 docking or leaving the station, 4 turning. */
    moving_status: z.int(),
    /** From the wheels; null while nothing is known of them. */
    is_moving: flag,
    is_paused: z.boolean(),
    target_room_id: text,
  }),
  network: z.strictObject({
    aws_iot_connected: z.boolean(),
    transport_connected: z.boolean(),
    subscription_ready: z.boolean(),
    last_transition_at: number.optional(),
    last_publish_ack_at: number.optional(),
    last_publish_error: text.optional(),
    /** Null where the host does not report it. */
    wifi: z.strictObject({ interface: z.string(), signal_dbm: number }).nullable().optional(),
    source: z.literal('mqtt_session'),
  }),
  voice_llm: z
    .strictObject({
      pipeline_state: z.string(),
      voice_session_active: flag,
      model_readiness: z.enum(['ready', 'loading', 'unavailable', 'unknown']),
    })
    .optional(),
  security: z
    .strictObject({
      session_state: z.enum(['stopped', 'started', 'paused', 'unknown']),
      running_state: z.enum(['stopped', 'started', 'paused', 'unknown']),
      stage: z.enum(['idle', 'person_detecting', 'verify_pin', 'verify_face']).nullable(),
      moving_state: z.enum(['stopped', 'moving', 'paused']).nullable(),
      current_index: number,
      current_area_id: text,
      low_light: flag,
      paused_by_low_battery: flag,
      mode: z.enum(['basic', 'all', 'selected']).nullable(),
      repeat_patrol: flag,
      patrol_interval: number,
      end_time: text,
    })
    .optional(),
  interactions: z
    .strictObject({
      registered_count: number,
      exposed_count: number,
      registered_schedules: z.array(z.unknown()),
    })
    .optional(),
  semantic_observations: z.strictObject({
    contract_version: z.literal('device-semantic-observation.v1'),
    event_count: z.int(),
    recent: z.array(z.record(z.string(), z.unknown())).max(6),
  }),
  task_manager: z.strictObject({
    busy: z.boolean(),
    running_tasks: z.array(z.string()),
    queue_summary: z.array(z.strictObject({ queueKey: z.string(), length: z.int() })).optional(),
  }),
  capabilities: z
    .record(z.string(), z.strictObject({ available: z.boolean(), reason: text.optional() }))
    .optional(),
  /** What a byte limit left out, in the order in which it was left out; absent when nothing was. */
  trimmed: z.array(z.string()).optional(),
};

export const deviceContextV1Schema = z.strictObject({
  contract_version: z.literal(CONTEXT_V1),
  ...blocks,
});

export const deviceContextV2Schema = z.strictObject({
  contract_version: z.literal(CONTEXT_V2),
  ...blocks,
  policy_blockers: z
    .array(z.strictObject({ capability: z.string(), reasons: z.array(z.string()) }))
    .optional(),
  streaming: z.strictObject({ state: z.string() }).optional(),
  maintenance: z
    .strictObject({ brush: number, filter_hours: number, faults: z.array(z.string()) })
    .optional(),
  resources: z.record(z.string(), z.strictObject({ owner: text })).optional(),
});

export type DeviceContextV1 = z.infer<typeof deviceContextV1Schema>;
export type DeviceContextV2 = z.infer<typeof deviceContextV2Schema>;
export type DeviceContext = DeviceContextV1 | DeviceContextV2;

/** Which picture of the device a planner asks for. */
export interface ContextOptions {
  version: 1 | 2;
  /** Upper limit of the JSON text in UTF-8 bytes. */
  maxBytes?: number;
}

/** As it is published on `…/context`: with the marks of the telemetry lane. */
export const contextMessageSchema = z.looseObject({
  contract_version: z.enum([CONTEXT_V1, CONTEXT_V2]),
  device_id: z.string(),
  generated_at_ms: z.number(),
  event_id: z.string(),
  telemetry_seq: z.int(),
  store_epoch: z.string(),
  boot_id: z.string(),
});
