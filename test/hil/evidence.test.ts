/** Evidence comes from the world: what did not happen is not reported, however the robot was told to report it. */
import { describe, expect, it } from 'vitest';
import { distance } from '../../config/contracts/geometry.js';
import { contextOf, inHome } from './support/in-home.js';

const PHYSICAL = ['HARDWARE_FAULT', 'OBSTRUCTED', 'LOCALIZATION_LOST'];

describe('wheels that do not turn', () => {
  it('bring no arrival: the move FAILS for a physical reason and the told pose stays where the robot is', () =>
    inHome({}, async ({ home, witness }) => {
      await witness.end(await home.task('undock'));
      await home.inject('block-wheels', 'on');
      const from = home.world.pose;
      const end = await witness.end(await home.task('setMoveTo', { positionName: '안방' }));
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(distance(home.world.pose, from)).toBeLessThan(0.01);
      expect(witness.events.map((event) => event.event)).not.toContain('movement.arrived');
      const told = end.evidence?.pose as { x: number; y: number };
      expect(distance(told, from)).toBeLessThan(0.1);
      const { location } = await contextOf(home);
      expect(distance({ x: location.x ?? 99, y: location.y ?? 99 }, from)).toBeLessThan(0.1);
    }));

  it('fail the whole main job, the robot still on its station and saying so', () =>
    inHome({}, async ({ home, witness }) => {
      await home.inject('block-wheels', 'on');
      const { document } = await home.goal('거실로 갔다가 안방으로 이동해서 청정해줘');
      const end = await witness.end(document.workflow_id);
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(home.world.docked).toBe(true);
      const types = witness.events.map((event) => event.event);
      expect(types).not.toContain('movement.arrived');
      expect(witness.events.filter((e) => e.event === 'COMPLETED')).toEqual([]);
      expect(witness.diary.between(0).every((page) => page.rpm === 0)).toBe(true);
    }));

  it('in the middle of a drive end it there', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => witness.diary.travelled(0) > 1.5, 60_000, 'the robot is on its way');
      await home.inject('block-wheels', 'on');
      const at = home.world.pose;
      const end = await witness.end(task);
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(distance(home.world.pose, at)).toBeLessThan(0.05);
      expect(witness.events.map((event) => event.event)).not.toContain('movement.arrived');
    }));
});

describe('a fan that does not do what it was told', () => {
  it('and stands still although it answers ends the cleaning FAILED HARDWARE_FAULT', () =>
    inHome({}, async ({ home, witness }) => {
      home.session.world.fan.blocked = true;
      const end = await witness.end(await home.task('startCleaning', { cleanMinTimeMs: 10_000 }));
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
      expect(end.message).toContain('fan');
      expect(witness.diary.between(0).every((page) => page.rpm === 0)).toBe(true);
      expect(witness.events.map((event) => event.event)).not.toContain('COMPLETED');
      // And it is told to stop, for when whatever holds it lets go.
      expect(home.world.fan.setPointPercent).toBe(0);
    }));

  it('and says nothing ends it FAILED HARDWARE_FAULT too', () =>
    inHome({}, async ({ home, witness }) => {
      home.session.devices.fan.faults.silent = true;
      const end = await witness.end(await home.task('startCleaning', { cleanMinTimeMs: 10_000 }));
      expect(end).toMatchObject({
        event: 'FAILED',
        reason_code: expect.stringMatching(/HARDWARE_FAULT|CAPABILITY_UNAVAILABLE/),
      });
      expect(witness.events.map((event) => event.event)).not.toContain('cleaning.stopped');
    }));

  it('and ignores its set-point while it claims to obey ends it FAILED HARDWARE_FAULT', () =>
    inHome({}, async ({ home, witness }) => {
      const { world } = home.session;
      world.attach({
        before: () => {
          world.fan.setPointPercent = 0;
        },
      });
      const end = await witness.end(await home.task('startCleaning', { cleanMinTimeMs: 10_000 }));
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
    }));

  it('and stops by itself in the middle of the dwell does not count as having cleaned', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('startCleaning', { cleanMinTimeMs: 60_000 });
      await home.run(20_000);
      home.session.world.fan.blocked = true;
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
    }));
});

describe('a station', () => {
  it('without power brings no dock.docked: the robot fails to dock and waits clear of it', () =>
    inHome({}, async ({ home, witness }) => {
      await witness.end(await home.task('setMoveTo', { positionName: '거실' }));
      home.session.world.station.powered = false;
      const end = await witness.end(await home.task('returnToStation'), 400_000);
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(witness.events.filter((e) => e.event === 'COMPLETED' && e.method === 'returnToStation')).toEqual(
        [],
      );
      expect(home.world).toMatchObject({ battery: { charging: false } });
    }));

  it('with dirty contacts brings none either', () =>
    inHome({}, async ({ home, witness }) => {
      await witness.end(await home.task('setMoveTo', { positionName: '거실' }));
      home.session.world.station.contacts = false;
      const end = await witness.end(await home.task('returnToStation'), 400_000);
      expect(end.event).toBe('FAILED');
      expect(PHYSICAL).toContain(end.reason_code);
      expect(home.world.battery.charging).toBe(false);
    }));
});

describe('a robot that is carried away', () => {
  it('does not arrive where it was carried from', () =>
    inHome({}, async ({ home, witness }) => {
      const task = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => witness.diary.travelled(0) > 3, 60_000, 'the robot is on its way');
      home.session.world.place({ x: 7.4, y: 5.4, theta: 0 });
      const end = await witness.end(task, 400_000);
      const goal = { x: 2.6, y: 4.3 };
      if (end.event === 'COMPLETED') expect(distance(home.world.pose, goal)).toBeLessThan(0.2);
      else {
        expect(PHYSICAL).toContain(end.reason_code);
        expect(witness.events.map((event) => event.event)).not.toContain('movement.arrived');
      }
    }));
});
