/** Parts that are unplugged, come back, or send garbage in the middle of a job. */
import { describe, expect, it } from 'vitest';
import { distance } from '../../config/contracts/geometry.js';
import { contextOf, type InHome, inHome } from './support/in-home.js';
import { turning } from './support/truth.js';

/** Scans older than this stop a moving robot, ms; and how long stopping may take then. */
const STALE_MS = 300;
const SETTLE_MS = 900;

async function onItsWay({ home, witness }: InHome, room = '안방'): Promise<string> {
  const from = home.world.timeMs;
  const task = await home.task('setMoveTo', { positionName: room });
  await home.until(() => witness.diary.travelled(from) > 2, 60_000, 'the robot is on its way');
  return task;
}

/** Where the robot really stands when its task has come to its end as COMPLETED. */
async function arrives({ witness }: InHome, task: string, room: string): Promise<void> {
  const end = await witness.end(task);
  expect(end).toMatchObject({ event: 'COMPLETED', reason_code: null, evidence: { area_id: room } });
  expect(end.truth.room).toBe(room);
  expect(turning(end.truth)).toBe(false);
}

describe('the lidar', () => {
  it('unplugged in a drive stops the robot; plugged back in time, it drives on and arrives', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      const from = home.world.timeMs;
      await home.inject('unplug', 'lidar');
      await home.until(() => !turning(witness.diary.now), 3_000, 'the robot stands still');
      expect(home.world.timeMs - from).toBeLessThan(STALE_MS + SETTLE_MS);
      const stood = home.world.timeMs;
      await home.run(6_000);
      expect(witness.diary.travelled(stood)).toBeLessThan(0.01);
      expect(witness.ended(task)).toBeNull();
      await home.inject('plug', 'lidar');
      await arrives(place, task, '4');
      expect(witness.diary.collisions).toBe(0);
    }));

  it('unplugged for good ends the drive FAILED HARDWARE_FAULT, naming the lidar; no further drive sets off', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('unplug', 'lidar');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(end.message).toContain('lidar');
      expect(turning(end.truth)).toBe(false);
      const from = home.world.timeMs;
      const next = await home.command({
        kind: 'task',
        method: 'setMoveTo',
        params: { positionName: '거실' },
        task: {},
      });
      const refused = next.task_id === null ? next : await witness.end(next.task_id);
      expect(['HARDWARE_FAULT', 'CAPABILITY_UNAVAILABLE', 'STATE_CONDITION_FAILED']).toContain(
        refused.reason_code,
      );
      expect(refused.message).toContain('lidar');
      await home.run(2_000);
      expect(witness.diary.travelled(from)).toBe(0);
      await home.inject('plug', 'lidar');
      // Its port is tried again every few seconds.
      await home.run(7_000);
      await arrives(place, await home.task('setMoveTo', { positionName: '거실' }), '2');
    }));

  it('sending a tenth of its frames damaged changes nothing: the main job is COMPLETED, nothing touched', () =>
    inHome({ seed: 4 }, async ({ home, witness }) => {
      await home.inject('noise', 'lidar', '0.1');
      const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
      expect((await witness.end(document.workflow_id, 360_000)).event).toBe('COMPLETED');
      expect(witness.diary.collisions).toBe(0);
      expect(home.daemon.runtime.counters().lidar_crc_errors).toBeGreaterThan(0);
    }));

  it('covered in front holds the robot back, or lets it drive; it never drives into something it cannot see', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      await onItsWay(place);
      await home.inject('block-lidar', '120');
      await home.run(20_000);
      await home.inject('block-lidar', '0');
      expect(witness.diary.collisions).toBe(0);
    }));
});

describe('the base', () => {
  it('unplugged in a drive is told to stop as soon as it is back, before anything else; the robot then arrives', () =>
    inHome({ baseWatchdog: true }, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('unplug', 'base');
      await home.run(4_000);
      expect(turning(witness.diary.now)).toBe(false);
      expect(witness.ended(task)).toBeNull();
      const back = home.world.timeMs;
      await home.inject('plug', 'base');
      await home.until(() => home.wheelCommands(back).length > 0, 10_000, 'the base hears from the robot');
      expect(home.wheelCommands(back)[0]).toMatchObject({ left: 0, right: 0 });
      await arrives(place, task, '4');
    }));

  it('without a watchdog, unplugged for a second, stops with the first bytes it gets', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('unplug', 'base');
      await home.run(900);
      const back = home.world.timeMs;
      await home.inject('plug', 'base');
      await home.until(() => !turning(witness.diary.now), 5_000, 'the robot stands still');
      expect(home.wheelCommands(back)[0]).toMatchObject({ left: 0, right: 0 });
      await arrives(place, task, '4');
    }));

  it('unplugged for good ends the drive FAILED HARDWARE_FAULT, naming the base', () =>
    inHome({ baseWatchdog: true }, async (place) => {
      const { home, witness } = place;
      const task = await onItsWay(place);
      await home.inject('unplug', 'base');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(end.message).toContain('base');
      const context = await contextOf(home);
      expect(context.movement.is_moving).toBeNull();
      expect(context.battery).toMatchObject({ usable: false, level: null });
    }));

  it('sending a fifth of its frames damaged changes nothing: the robot arrives and docks', () =>
    inHome({ seed: 5 }, async (place) => {
      const { home, witness } = place;
      await home.inject('noise', 'base', '0.2');
      await arrives(place, await home.task('setMoveTo', { positionName: '거실' }), '2');
      expect((await witness.end(await home.task('returnToStation'))).event).toBe('COMPLETED');
      expect(home.world.docked).toBe(true);
      expect(witness.diary.collisions).toBe(0);
    }));
});

describe('the air sensor', () => {
  it('unplugged while purifying: the dwell is carried out, and what the air is like then is not known', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('startCleaning', { cleanMinTimeMs: 40_000 });
      await home.run(10_000);
      await home.inject('unplug', 'air');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED' });
      expect(end.output).toMatchObject({ after: { usable: false, grade: null, pm2_5: null } });
      const { air_quality } = await contextOf(home);
      expect(air_quality).toMatchObject({ usable: false, grade: null, source_state: 'error' });
      expect(air_quality.pm2_5 ?? null).toBeNull();
    }));

  it('unplugged and plugged back while the air is still bad: it purifies until the air is good', () =>
    inHome({}, async ({ home, witness }) => {
      await home.inject('dirty-air', '거실', '22');
      await home.run(20_000);
      const task = await home.task('startCleaning', {
        cleanMinTimeMs: 20_000,
        untilGrade: 'good',
        mode: 'turbo',
      });
      await home.run(8_000);
      await home.inject('unplug', 'air');
      await home.run(30_000);
      expect(witness.ended(task)).toBeNull();
      await home.inject('plug', 'air');
      const end = await witness.end(task, 900_000);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { grade_reached: true } });
      expect(home.world.airByRoom['2']?.pm2_5).toBeLessThan(16);
    }));
});

describe('the fan', () => {
  it('unplugged for a few seconds while purifying: the cleaning goes on and is COMPLETED, at rest', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('startCleaning', { cleanMinTimeMs: 40_000 });
      await home.run(15_000);
      await home.inject('unplug', 'fan');
      await home.run(6_000);
      await home.inject('plug', 'fan');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'COMPLETED', evidence: { rpm: 0 } });
      expect(end.truth.rpm).toBe(0);
    }));

  it('unplugged for good: the cleaning FAILS HARDWARE_FAULT; plugged back, the fan is not left running', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('startCleaning', { cleanMinTimeMs: 40_000 });
      await home.run(15_000);
      await home.inject('unplug', 'fan');
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(end.message).toContain('fan');
      expect(home.world.fan.rpm).toBeGreaterThan(500);
      await home.inject('plug', 'fan');
      await home.until(() => home.world.fan.rpm === 0, 40_000, 'the fan stands still');
    }));
});

it('a job of several parts goes through all four of them being pulled and put back once', () =>
  inHome({ seed: 6, baseWatchdog: true }, async ({ home, witness }) => {
    const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
    await home.until(() => witness.diary.travelled(0) > 1, 60_000, 'the robot is on its way');
    await home.inject('unplug', 'lidar');
    await home.run(2_000);
    await home.inject('plug', 'lidar');
    await home.until(() => witness.diary.travelled(0) > 3.5, 90_000, 'the robot is on its way again');
    await home.inject('unplug', 'base');
    await home.run(2_000);
    await home.inject('plug', 'base');
    await home.until(() => home.world.fan.rpm > 1000, 120_000, 'the fan turns');
    await home.inject('unplug', 'air');
    await home.inject('unplug', 'fan');
    await home.run(3_000);
    await home.inject('plug', 'air');
    await home.inject('plug', 'fan');
    const end = await witness.end(document.workflow_id, 600_000);
    expect(end).toMatchObject({ event: 'COMPLETED' });
    expect(home.world.docked).toBe(true);
    const goal = { x: 2.6, y: 4.3 };
    const arrival = witness.events.find((e) => e.event === 'COMPLETED' && e.step_id === 's3');
    expect(distance(arrival?.truth.pose ?? { x: 0, y: 0 }, goal)).toBeLessThan(0.2);
  }));
