import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deviceContextV1Schema, deviceContextV2Schema } from '../../../config/contracts/wire/context.js';
import { TRIM_ORDER, trimContext } from '../../../daemon/context/trim-context.js';
import { testContext } from '../../support/context.js';

const living = { x: 6, y: 0, theta: 0 };

describe('device_context', () => {
  it('is exactly v1, and v2 with its additions', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    const v1 = robot.build();
    expect(() => deviceContextV1Schema.parse(v1)).not.toThrow();
    expect(v1).not.toHaveProperty('resources');
    const v2 = robot.build({ version: 2 });
    expect(() => deviceContextV2Schema.parse(v2)).not.toThrow();
    expect(v2).toMatchObject({
      contract_version: 'device_context.v2',
      resources: { motion: { owner: null } },
      maintenance: { brush: null, filter_hours: null, faults: [] },
    });
  });

  it('shows where the robot is, its battery, its rooms and its air', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    expect(robot.build()).toMatchObject({
      main_state: 'idle',
      battery: { level: 80, charging: false, on_station: false, low: false, usable: true },
      location: { current_room_id: '2', current_room_name: '거실', x: 6, localized: true, usable: true },
      map: { available: true, editable: false, room_count: 5 },
      air_quality: {
        pm2_5: 10,
        tvoc: null,
        nox: null,
        tvoc_level: 1,
        grade: 'good',
        source_state: 'ok',
        usable: true,
      },
      movement: { moving_status: 0, is_moving: false, is_paused: false, target_room_id: null },
      cleaning: { running: false, mode: null },
    });
    const station = robot.build().map.rooms.filter((room) => room.station);
    expect(station.map((room) => room.id)).toEqual(['1']);
  });

  it('says where the robot is to the millimetre, and no finer', async () => {
    const robot = testContext({ pose: { x: 6.589803037266062, y: living.y, theta: -0.931605913189551 } });
    await robot.clock.advanceAsync(2000);
    expect(robot.build().location).toMatchObject({ x: 6.59, theta: -0.932 });
  });

  it('ages: what is too old is stale, not usable, and its numbers are null', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    const seenAt = robot.build().air_quality.observed_at_ms;
    robot.airSensor.silent = true;
    await robot.clock.advanceAsync(5000);
    const young = robot.build().air_quality;
    expect(young).toMatchObject({ pm2_5: 10, stale: false, usable: true, observed_at_ms: seenAt });
    expect(young.freshness_ms).toBe(robot.clock.now() - (seenAt ?? 0));
    await robot.clock.advanceAsync(6000);
    expect(robot.build().air_quality).toMatchObject({
      pm2_5: null,
      co2: null,
      grade: null,
      source_state: 'error',
      stale: true,
      usable: false,
      observed_at_ms: seenAt,
    });
    robot.amr.killProcess();
    await robot.clock.advanceAsync(15_000);
    expect(robot.build()).toMatchObject({
      main_state: 'error',
      battery: { level: null, charging: null, low: null, stale: true, usable: false },
      location: { x: null, current_room_id: null, localized: null, usable: false },
      movement: { is_moving: null },
    });
  });

  it('never offers the numbers of a sensor that warms up, or of one never seen', async () => {
    const robot = testContext({ pose: living });
    expect(robot.build().air_quality).toMatchObject({ observed_at_ms: null, stale: true, usable: false });
    robot.airSensor.warmingUp = true;
    await robot.clock.advanceAsync(2000);
    expect(robot.build().air_quality).toMatchObject({
      source_state: 'warming_up',
      usable: false,
      pm2_5: null,
      temperature: null,
      grade: null,
    });
  });

  it('says unknown of what is not built, instead of idle and 0', () => {
    const context = testContext({ pose: living }).build();
    expect(context.security).toMatchObject({ session_state: 'unknown', current_index: null });
    expect(context.voice_llm).toMatchObject({ model_readiness: 'unknown', voice_session_active: null });
    expect(context.interactions?.registered_count).toBeNull();
  });

  it('counts the cloud as connected only when both facts hold', () => {
    const robot = testContext({ pose: living });
    robot.network.transport_connected = true;
    expect(robot.build().network.aws_iot_connected).toBe(false);
    robot.network.subscription_ready = true;
    expect(robot.build().network).toMatchObject({ aws_iot_connected: true, source: 'mqtt_session' });
  });

  it('carries the Wi-Fi state where the host reports it, and null where it does not', () => {
    const robot = testContext({ pose: living });
    expect(robot.build().network.wifi).toBeNull();
    robot.sources.wifi = () => ({ interface: 'wlan0', signal_dbm: -56 });
    const context = robot.build();
    expect(context.network.wifi).toEqual({ interface: 'wlan0', signal_dbm: -56 });
    expect(() => deviceContextV1Schema.parse(context)).not.toThrow();
  });

  it('tells moving, held, docking, charging and e-stopped apart', async () => {
    const robot = testContext({ docked: true });
    await robot.clock.advanceAsync(100);
    expect(robot.build().main_state).toBe('charging');
    robot.start('setMoveTo', { areaId: '3' });
    await robot.clock.advanceAsync(1000);
    expect(robot.build().main_state).toBe('busy');
    await robot.clock.advanceAsync(8000);
    expect(robot.build().movement).toMatchObject({ moving_status: 1, is_moving: true, target_room_id: '3' });
    robot.start('pauseMove');
    await robot.clock.advanceAsync(2000);
    expect(robot.build().movement).toMatchObject({ moving_status: 2, is_moving: false, is_paused: true });
    await robot.amr.estop('button');
    await robot.clock.advanceAsync(100);
    expect(robot.build().main_state).toBe('emergency_stop');
  });
});

describe('a byte limit', () => {
  const bytes = (value: object) => Buffer.byteLength(JSON.stringify(value), 'utf8');

  it('is kept by leaving out, in the documented order, and said', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    const whole = robot.build({ version: 2 });
    expect(whole.trimmed).toBeUndefined();
    for (let limit = bytes(whole); limit > 1800; limit -= 150) {
      const context = robot.build({ version: 2, maxBytes: limit });
      expect(bytes(context)).toBeLessThanOrEqual(limit);
      expect(() => deviceContextV2Schema.parse(context)).not.toThrow();
      const trimmed = context.trimmed ?? [];
      expect(trimmed).toEqual(TRIM_ORDER.filter((name) => trimmed.includes(name)));
      expect(trimmed).toEqual(TRIM_ORDER.slice(0, trimmed.length));
      expect(context).toMatchObject({ location: { current_room_id: '2' }, battery: { level: 80 } });
    }
  });

  it('leaves out in the order that docs/context.md tells', () => {
    const docs = readFileSync(new URL('../../../docs/context.md', import.meta.url), 'utf8');
    const listed = docs.split('<!-- trim order -->')[1]?.split('<!-- end -->')[0] ?? '';
    expect([...listed.matchAll(/`([^`]+)`/g)].map((match) => match[1])).toEqual(TRIM_ORDER);
  });

  it('never loses the rooms, the place or the battery, however small it is', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6000 }), (limit) => {
        const context = trimContext(robot.build(), limit);
        return context.map.rooms.length === 5 && context.battery.level === 80 && context.location.x === 6;
      }),
    );
  });
});

describe('capabilities', () => {
  it('follow the body, with the reason', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(100);
    const of = (id: string) => robot.build().capabilities?.[id];
    expect(of('move_to_room')).toEqual({ available: true, reason: null });
    expect(of('pause_movement')?.available).toBe(false);
    robot.amr.battery = 5;
    await robot.clock.advanceAsync(100);
    expect(of('move_to_room')).toMatchObject({
      available: false,
      reason: expect.stringContaining('LOW_BATTERY'),
    });
    expect(of('return_to_station')?.available).toBe(true);
    robot.amr.lidarConnected = false;
    await robot.clock.advanceAsync(100);
    expect(of('return_to_station')).toMatchObject({
      available: false,
      reason: expect.stringContaining('lidar'),
    });
    expect(of('speak')?.available).toBe(true);
  });

  it('say of a card whose method is not built just that, whatever the body does', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(100);
    robot.amr.battery = 5;
    await robot.clock.advanceAsync(100);
    expect(robot.build().capabilities?.run_interaction).toEqual({
      available: false,
      reason: 'CAPABILITY_UNAVAILABLE: this version does not build interSchedule yet',
    });
    const card = robot.sources.capabilities().find((one) => one.id === 'security_patrol');
    expect(card).toMatchObject({
      built: false,
      available: false,
      reasonCode: 'CAPABILITY_UNAVAILABLE',
      reason: 'this version does not build startSecurityMode yet',
    });
  });

  it('stand in the context one per card, and those that are not built are the first to be left out', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(2000);
    const whole = robot.build();
    expect(Object.keys(whole.capabilities ?? {})).toHaveLength(26);
    const limit = Buffer.byteLength(JSON.stringify(whole)) - 1;
    const trimmed = robot.build({ version: 1, maxBytes: limit });
    expect(trimmed.trimmed).toEqual(['capabilities.not_built']);
    expect(Object.keys(trimmed.capabilities ?? {})).toContain('move_to_room');
    expect(Object.keys(trimmed.capabilities ?? {})).not.toContain('run_interaction');
    expect(trimmed.map.rooms[0]?.aliases).toBeDefined();
  });
});
