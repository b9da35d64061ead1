/** A `device_context.v1` of the home, consistent with the robot's state. */
import type { RobotState } from '../../../config/contracts/amr.js';
import { homeMap, roomAt } from './home-map.js';

interface Air {
  pm2_5: number | null;
  source_state: 'ok' | 'warming_up' | 'error';
}

const rooms = homeMap().rooms.map(({ id, name, aliases, goal: [x, y, theta] }) => ({
  id,
  name,
  aliases,
  x,
  y,
  theta,
  station: id === '2',
}));

function freshness(observedAt: number | null, now: number, ttlMs: number) {
  const age = observedAt === null ? null : now - observedAt;
  const stale = age === null || age > ttlMs;
  return {
    source_valid: observedAt !== null,
    observed_at_ms: observedAt,
    freshness_ms: age,
    ttl_ms: ttlMs,
    stale,
    usable: !stale,
  };
}

function airQuality(air: Air, now: number) {
  const usable = air.source_state === 'ok' && air.pm2_5 !== null;
  const value = (n: number) => (usable ? n : null);
  return {
    pm10: value(58),
    pm2_5: usable ? air.pm2_5 : null,
    pm1_0: value(24),
    tvoc: null,
    nox: null,
    hcho: value(0.02),
    co2: value(812),
    temperature: value(22.4),
    humidity: value(41),
    tvoc_level: usable ? 1 : null,
    grade: usable ? 'bad' : null,
    source_state: air.source_state,
    ...freshness(usable ? now - 600 : null, now, 10_000),
    usable,
  };
}

export function homeContext(options: {
  version: 1 | 2;
  now: number;
  state: RobotState | null;
  air: Air;
  connected: boolean;
}): object {
  const { version, now, state, air, connected } = options;
  const pose = state?.pose ?? null;
  const room = pose === null ? null : roomAt(pose.x, pose.y);
  const battery = state?.base.battery ?? null;
  const moving = state !== null && state.stoppedSince === null;
  const base = {
    contract_version: 'device_context.v1',
    device_id: 'da-sim',
    generated_at_ms: now,
    main_state: state?.safety.estop.latched ? 'emergency_stop' : 'busy',
    battery: {
      level: battery?.percent ?? null,
      charging: state?.base.charging ?? null,
      on_station: state?.base.docked ?? null,
      low: battery === null ? null : battery.percent < 15,
      ...freshness(battery?.at ?? null, now, 30_000),
    },
    map: { available: true, editable: false, room_count: rooms.length, rooms },
    location: {
      current_room_id: room?.id ?? null,
      current_room_name: room?.name ?? null,
      x: pose?.x ?? null,
      y: pose?.y ?? null,
      theta: pose?.theta ?? null,
      is_on_station: state?.base.docked ?? null,
      localized: state?.localized ?? null,
      ...freshness(state?.poseAt ?? null, now, 3_000),
    },
    air_quality: airQuality(air, now),
    cleaning: { running: false, paused: false, mode: null, last_action: null, area_id: null },
    movement: { moving_status: moving ? 1 : 0, is_moving: moving, is_paused: false, target_room_id: '4' },
    network: {
      aws_iot_connected: connected,
      transport_connected: connected,
      subscription_ready: connected,
      last_transition_at: now - 120_000,
      last_publish_ack_at: now - 900,
      source: 'mqtt_session',
    },
    voice_llm: { pipeline_state: 'idle', voice_session_active: false, model_readiness: 'unavailable' },
    semantic_observations: { contract_version: 'device-semantic-observation.v1', event_count: 1, recent: [] },
    task_manager: { busy: true, running_tasks: ['t-s2'], queue_summary: [] },
    capabilities: { move_to_room: { available: true, reason: null } },
  };
  if (version === 1) return base;
  return {
    ...base,
    contract_version: 'device_context.v2',
    policy_blockers: [],
    resources: { motion: { owner: 't-s2' } },
    maintenance: { faults: [] },
  };
}
