import { describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { OBSERVATION_TYPES, observationSchema } from '../../../config/contracts/wire/events.js';
import { ContextTelemetry } from '../../../daemon/context/context-telemetry.js';
import { OBSERVATION_RULES } from '../../../daemon/context/observation-types.js';
import { testContext } from '../../support/context.js';

const living = { x: 6, y: 0, theta: 0 };
type Robot = ReturnType<typeof testContext>;

function emit(robot: Robot, type: string, attributes: Record<string, string | number | boolean | null> = {}) {
  robot.bus.emit({ type, at: robot.clock.now(), areaId: '2', attributes });
}
const types = (robot: Robot) => robot.published().map((one) => one.type);

describe('semantic observations', () => {
  it('have a rule for every type of the contract', () => {
    expect(Object.keys(OBSERVATION_RULES).sort()).toEqual([...OBSERVATION_TYPES].sort());
  });

  it('carry only what is allowed, where and when, and the workflow of their task', async () => {
    const robot = testContext({ pose: living });
    robot.bus.emit({
      type: 'movement.obstructed',
      at: robot.clock.now(),
      areaId: '2',
      attributes: { cause: 'blocked', person_name: '철수', bbox: '1,2,3,4' },
      correlation: { task_id: 't-1' },
    });
    const [observation] = robot.published();
    expect(() => observationSchema.parse(observation)).not.toThrow();
    expect(observation).toMatchObject({
      contract_version: 'device-semantic-observation.v1',
      type: 'movement.obstructed',
      area_id: '2',
      attributes: { cause: 'blocked' },
      correlation: { workflow_id: 'wf-1', step_id: 's1' },
      requires_cloud_decision: false,
    });
    expect(JSON.stringify(observation)).not.toContain('철수');
    expect(robot.outbox.ordered[0]?.topic).toBe('events/observation');
  });

  it('leave domain events that are not on the list inside', () => {
    const robot = testContext({ pose: living });
    emit(robot, 'navigation.planning');
    expect(robot.published()).toEqual([]);
  });

  it('hold a flickering state back and tell its last word', async () => {
    const robot = testContext({ pose: living });
    emit(robot, 'dock.stateChanged', { docked: true });
    emit(robot, 'dock.stateChanged', { docked: false });
    emit(robot, 'dock.stateChanged', { docked: true });
    emit(robot, 'dock.stateChanged', { docked: false });
    await robot.clock.advanceAsync(10_000);
    expect(robot.published().map((one) => one.attributes.docked)).toEqual([true, false]);
  });

  it('say nothing when a flicker ends where it began', async () => {
    const robot = testContext({ pose: living });
    emit(robot, 'dock.stateChanged', { docked: true });
    emit(robot, 'dock.stateChanged', { docked: false });
    emit(robot, 'dock.stateChanged', { docked: true });
    await robot.clock.advanceAsync(10_000);
    expect(types(robot)).toEqual(['dock.stateChanged']);
  });

  it('tell each fault of each part', async () => {
    const robot = testContext({ pose: living });
    emit(robot, 'device.faultChanged', { part: 'fan', fault: 'x', active: true });
    emit(robot, 'device.faultChanged', { part: 'lidar', fault: 'x', active: true });
    expect(robot.published()).toHaveLength(2);
  });

  it('stand in the context while they are not stale, newest first, six at most', async () => {
    const robot = testContext({ pose: living });
    for (let room = 0; room < 8; room++) {
      robot.bus.emit({
        type: 'movement.arrived',
        at: robot.clock.now(),
        areaId: String(room),
        attributes: {},
      });
    }
    const block = robot.build().semantic_observations;
    expect(block.event_count).toBe(8);
    expect(block.recent.map((one) => one.area_id)).toEqual(['7', '6', '5', '4', '3', '2']);
    await robot.clock.advanceAsync(61_000);
    expect(robot.build().semantic_observations.recent).toEqual([]);
  });

  it('that cannot be stored are counted, and the robot goes on', () => {
    const robot = testContext({ pose: living });
    robot.outbox.full = true;
    emit(robot, 'movement.arrived');
    expect(robot.observations.counters().not_stored).toBe(1);
  });
});

describe('the body raises', () => {
  it('docking, charging and a low battery, once each', async () => {
    const robot = testContext({ docked: true });
    await robot.clock.advanceAsync(1000);
    robot.amr.putOnStation(false);
    await robot.clock.advanceAsync(1000);
    robot.amr.battery = 14;
    await robot.clock.advanceAsync(1000);
    robot.amr.battery = 16;
    await robot.clock.advanceAsync(1000);
    robot.amr.battery = 14;
    await robot.clock.advanceAsync(1000);
    expect(robot.events.map((event) => event.type)).toEqual([
      'dock.stateChanged',
      'battery.chargingChanged',
      'battery.low',
    ]);
  });

  it('a change of the air only once it has held', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(3000);
    robot.airSensor.pm2_5 = 60;
    await robot.clock.advanceAsync(2000);
    robot.airSensor.pm2_5 = 10;
    await robot.clock.advanceAsync(10_000);
    expect(robot.events).toEqual([]);
    robot.airSensor.pm2_5 = 60;
    await robot.clock.advanceAsync(10_000);
    expect(robot.events).toMatchObject([
      { type: 'air.qualityChanged', attributes: { grade: 'bad', previous: 'good', worst: 'pm2_5' } },
    ]);
  });

  it('faults that last, and their end', async () => {
    const robot = testContext({ pose: living });
    await robot.clock.advanceAsync(5000);
    robot.fan.connected = false;
    await robot.clock.advanceAsync(2000);
    robot.fan.connected = true;
    await robot.clock.advanceAsync(5000);
    expect(robot.events).toEqual([]);
    robot.fan.connected = false;
    await robot.clock.advanceAsync(6000);
    expect(robot.state.faults()).toEqual([{ part: 'fan', fault: 'does not answer' }]);
    robot.fan.connected = true;
    await robot.clock.advanceAsync(6000);
    expect(robot.events).toMatchObject([
      { type: 'device.faultChanged', attributes: { part: 'fan', active: true } },
      { type: 'device.faultChanged', attributes: { part: 'fan', active: false } },
    ]);
  });

  it('the cloud coming and going', () => {
    const robot = testContext({ pose: living });
    robot.state.noteNetwork({ transport_connected: true, subscription_ready: false });
    robot.state.noteNetwork({ transport_connected: true, subscription_ready: true });
    robot.state.noteNetwork({ transport_connected: false, subscription_ready: true });
    expect(robot.events.map((event) => event.attributes.connected)).toEqual([true, false]);
  });
});

describe('context telemetry', () => {
  it('goes out on meaningful change, at a bounded rate, and not for ages and centimetres', async () => {
    const robot = testContext({ pose: living });
    const telemetry = new ContextTelemetry({
      clock: robot.clock,
      log: SILENT_LOG,
      outbox: robot.outbox,
      build: () => robot.build(),
      wanted: () => true,
    });
    await robot.clock.advanceAsync(30_000);
    const settled = robot.outbox.telemetry.length;
    expect(settled).toBeLessThanOrEqual(2);
    robot.amr.pose = { x: 6.05, y: 0, theta: 0 };
    await robot.clock.advanceAsync(60_000);
    expect(robot.outbox.telemetry).toHaveLength(settled);
    for (let i = 0; i < 10; i++) {
      robot.amr.putOnStation(i % 2 === 0);
      await robot.clock.advanceAsync(1000);
    }
    await robot.clock.advanceAsync(20_000);
    expect(robot.outbox.telemetry.length - settled).toBeLessThanOrEqual(3);
    const last = robot.outbox.telemetry.at(-1);
    expect(last).toMatchObject({ topic: 'context', compactKey: 'context' });
    expect(last?.payload).toMatchObject({
      contract_version: 'device_context.v1',
      telemetry_seq: expect.any(Number),
      battery: { on_station: false },
    });
    telemetry.close();
  });
});
