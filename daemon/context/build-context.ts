/** `device_context.v1` and v2: one honest picture of the device, small enough for who asked. */
import type { Capability } from '../../config/contracts/capability.js';
import {
  CONTEXT_V1,
  CONTEXT_V2,
  type ContextOptions,
  type DeviceContext,
  type DeviceContextV2,
} from '../../config/contracts/wire/context.js';
import type { MotionStatus } from '../../state-machines/motion-types.js';
import type { ConnectionFacts } from '../runtime.js';
import { trimContext } from './trim-context.js';
import type { ContextSources } from './types.js';
import type { WifiState } from './wifi.js';

export function buildContext(sources: ContextSources, options: ContextOptions): DeviceContext {
  const context = options.version === 1 ? contextV1(sources) : contextV2(sources);
  return options.maxBytes === undefined ? context : trimContext(context, options.maxBytes);
}

function contextV1(sources: ContextSources): DeviceContext {
  return { contract_version: CONTEXT_V1, ...blocks(sources) };
}

function contextV2(sources: ContextSources): DeviceContextV2 {
  return {
    contract_version: CONTEXT_V2,
    ...blocks(sources),
    policy_blockers: sources.policyBlockers?.() ?? [],
    streaming: { state: 'unknown' },
    maintenance: {
      brush: null,
      filter_hours: null,
      faults: sources.state.faults().map(({ part, fault }) => `${part}: ${fault}`),
    },
    resources: Object.fromEntries(sources.tasks.leases().map(({ resource, owner }) => [resource, { owner }])),
  };
}

function blocks(sources: ContextSources): Omit<DeviceContextV2, 'contract_version'> {
  const { state } = sources;
  const motion = sources.motion();
  const tasks = sources.tasks.summary();
  const cleaning = sources.cleaning();
  const moving = state.moving();
  const observations = sources.observations();
  return {
    device_id: sources.deviceId,
    generated_at_ms: sources.clock.now(),
    main_state: mainState(sources, tasks.busy || moving === true || cleaning?.running === true),
    battery: state.battery(),
    map: mapBlock(sources),
    location: state.location(),
    air_quality: state.air(),
    cleaning: {
      running: cleaning?.running ?? null,
      paused: cleaning?.paused ?? null,
      mode: cleaning?.mode ?? null,
      last_action: cleaning?.lastAction ?? null,
      area_id: cleaning?.areaId ?? null,
    },
    movement: {
      moving_status: movingStatus(motion),
      is_moving: moving,
      is_paused: motion.paused,
      target_room_id: motion.targetAreaId,
    },
    network: networkBlock(sources.network(), sources.wifi()),
    ...NOT_BUILT,
    semantic_observations: {
      contract_version: 'device-semantic-observation.v1',
      event_count: observations.count,
      recent: observations.recent.slice(0, 6).map((one) => ({ ...one })),
    },
    task_manager: { busy: tasks.busy, running_tasks: tasks.running, queue_summary: tasks.queued },
    capabilities: Object.fromEntries(
      sources.capabilities().map((card) => [card.id, { available: card.available, reason: reasonOf(card) }]),
    ),
  };
}

/** The code, and the same in words. */
function reasonOf({ reasonCode, reason }: Capability): string | null {
  return reasonCode === null ? null : `${reasonCode}: ${reason}`;
}

/** Parts this version does not have say so; they are not idle, and they have not counted nothing. */
const NOT_BUILT = {
  voice_llm: { pipeline_state: 'unknown', voice_session_active: null, model_readiness: 'unknown' },
  security: {
    session_state: 'unknown',
    running_state: 'unknown',
    stage: null,
    moving_state: null,
    current_index: null,
    current_area_id: null,
    low_light: null,
    paused_by_low_battery: null,
    mode: null,
    repeat_patrol: null,
    patrol_interval: null,
    end_time: null,
  },
  interactions: { registered_count: null, exposed_count: null, registered_schedules: [] },
} satisfies Partial<DeviceContextV2>;

/** Parts without which the robot cannot do its work. */
const VITAL = ['motion_process', 'base', 'drive', 'lidar'];

function mainState(sources: ContextSources, busy: boolean): DeviceContext['main_state'] {
  const facts = sources.state.facts();
  if (facts.estop) return 'emergency_stop';
  if (sources.state.faults().some(({ part }) => VITAL.includes(part))) return 'error';
  if (busy) return 'busy';
  return facts.charging === true ? 'charging' : 'idle';
}

function mapBlock(sources: ContextSources): DeviceContext['map'] {
  const rooms = sources.rooms();
  if (rooms === null) return { available: false, editable: false, room_count: 0, rooms: [] };
  return {
    available: true,
    editable: rooms.editable,
    room_count: rooms.rooms.length,
    rooms: rooms.rooms.map((room) => ({
      id: room.id,
      name: room.name,
      aliases: [...room.aliases],
      ...room.goal,
      station: rooms.station?.room === room.id,
    })),
  };
}

function movingStatus(motion: MotionStatus): number {
  if (motion.activity === 'idle') return 0;
  if (motion.paused) return 2;
  if (['navigating', 'following', 'hand_driving'].includes(motion.activity)) return 1;
  return motion.activity === 'rotating' ? 4 : 3;
}

function networkBlock(facts: ConnectionFacts, wifi: WifiState | null): DeviceContext['network'] {
  const { transport_connected, subscription_ready } = facts;
  return {
    aws_iot_connected: transport_connected && subscription_ready,
    transport_connected,
    subscription_ready,
    last_transition_at: facts.last_transition_at,
    last_publish_ack_at: facts.last_publish_ack_at,
    last_publish_error: facts.last_publish_error,
    wifi,
    source: 'mqtt_session',
  };
}
