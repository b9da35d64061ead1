import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MotionAction, SafetyCondition } from '../../../config/contracts/amr.js';
import { failsafeRow } from '../../../drivers/rt/safety/failsafe-table.js';
import { Rig, STOP } from '../../support/rt/rig.js';

describe('the safety layer on the base line', () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await new Rig().start();
  });
  afterEach(() => rig.close());

  it('drives when nothing is wrong, with a command in every control cycle', async () => {
    await rig.drive();
    expect(rig.state().safety).toMatchObject({ level: 'OK', active: [] });
    const since = rig.clock.mono() + 1;
    await rig.run(1000);
    expect(rig.drivesSince(since).map((d) => d.command)).toEqual(Array(20).fill('drive 300 300'));
  });

  describe('on the byte that reports it', () => {
    const flags = {
      bumper_left: { bumpLeft: true },
      bumper_right: { bumpRight: true },
      cliff: { cliffFrontLeft: true },
      wheel_drop: { wheelDropRight: true },
      overcurrent: { overcurrentLeft: true },
      estop: { buttons: 1 },
    } satisfies Partial<Record<SafetyCondition, object>>;

    it.each(Object.entries(flags))(
      '%s: the stop bytes are out before the frame callback returns',
      async (condition, flag) => {
        await rig.drive();
        Object.assign(rig.peer.flags, flag);
        const before = rig.peer.received.length;
        rig.peer.sendFrame();
        // No timer has fired and no promise has run: the line is synchronous.
        expect(rig.peer.received[before]?.command).toBe(STOP);
        expect(rig.peer.stopped).toBe(true);
        await rig.run(500);
        expect(rig.state().safety.active).toContain(condition);
        expect(rig.peer.stopped).toBe(true);
        expect(rig.updates('failed')).toMatchObject([{ id: 'a-1', failure: 'safety_stop' }]);
      },
    );

    it('each of the four cliff sensors counts', async () => {
      for (const sensor of ['cliffLeft', 'cliffFrontLeft', 'cliffFrontRight', 'cliffRight'] as const) {
        await rig.drive(`a-${sensor}`);
        expect(rig.peer.stopped).toBe(false);
        rig.peer.flags[sensor] = true;
        rig.peer.sendFrame();
        expect(rig.peer.stopped).toBe(true);
        rig.peer.flags[sensor] = false;
        await rig.run(1000);
      }
    });
  });

  describe('by time', () => {
    const silences: [SafetyCondition, number, (rig: Rig) => void][] = [
      ['daemon_silent', 200, (r) => r.client.detach('the daemon hangs')],
      ['lidar_stale', 300, (r) => (r.lidar.delivering = false)],
      ['odometry_stale', 250, (r) => (r.peer.streaming = false)],
    ];

    it.each(silences)('%s after %i ms', async (condition, limit, begin) => {
      await rig.drive();
      begin(rig);
      const since = rig.clock.mono();
      // The last of whatever fell silent came at most one period ago.
      await rig.run(limit - 110);
      expect(rig.peer.stopped).toBe(false);
      await rig.run(110 + 1);
      const stops = rig.drivesSince(since).filter((d) => d.command === STOP);
      if (failsafeRow(condition).moving === 'CUT') {
        expect(stops.length).toBeGreaterThan(0);
      } else {
        // Settling: slower from the next cycle on, and standing within what braking at 1 m/s² takes.
        await rig.run(50);
        expect(Math.abs(rig.peer.left)).toBeLessThan(300);
        await rig.run(350);
        expect(rig.peer.stopped).toBe(true);
      }
      await rig.run(500);
      expect(rig.peer.mode).toBe(1);
      expect(rig.peer.stopped).toBe(true);
    });

    it('daemon_silent: exactly 200 ms after the last beat, whenever that was', async () => {
      await rig.drive();
      await rig.run(17);
      const lastBeat = Math.floor(rig.clock.mono() / 50) * 50;
      rig.client.detach('the daemon hangs');
      await rig.run(lastBeat + 200 - rig.clock.mono() - 1);
      expect(rig.peer.stopped).toBe(false);
      await rig.run(1);
      expect(rig.peer.stopped).toBe(true);
      expect(rig.peer.drives().at(-1)).toMatchObject({ command: STOP, mono: lastBeat + 200 });
    });

    it('a daemon that never beats cannot drive at all', async () => {
      const silent = new Rig();
      silent.host.start();
      silent.channel.onMessage(() => {});
      await silent.run(1000);
      silent.channel.send({
        t: 'request',
        n: 1,
        request: { op: 'start', id: 'x', action: { kind: 'spin', angle: 1, tolerance: 0.1 }, fence: 1 },
      });
      await silent.run(1000);
      expect(silent.peer.drives().every((d) => d.command === STOP)).toBe(true);
      await silent.close();
    });

    it('base_silent: goes on sending stops to a base that no longer answers', async () => {
      await rig.drive();
      rig.peer.streaming = false;
      await rig.run(450);
      const since = rig.clock.mono();
      await rig.run(500);
      const sent = rig.drivesSince(since);
      expect(sent.length).toBeGreaterThan(5);
      expect(sent.every((d) => d.command === STOP)).toBe(true);
    });

    it('battery_critical: settles once it has been critical for a while, and not at a single odd reading', async () => {
      await rig.drive();
      rig.peer.flags.batteryPercent = 1;
      await rig.run(100);
      rig.peer.flags.batteryPercent = 80;
      await rig.run(4000);
      expect(rig.peer.stopped).toBe(false);
      rig.peer.flags.batteryPercent = 1;
      await rig.run(4000);
      expect(rig.peer.stopped).toBe(true);
      expect(rig.state().safety).toMatchObject({ level: 'SETTLE', active: ['battery_critical'] });
    });

    it('localization_lost: ends a path, but lets the robot look around slowly', async () => {
      await rig.drive();
      rig.navigator.localized = false;
      await rig.run(600);
      expect(rig.peer.stopped).toBe(true);
      await rig.drive('look', { kind: 'spin', angle: 3, tolerance: 0.1 });
      expect(rig.peer.left).toBeLessThan(0);
      expect(rig.peer.right).toBeLessThanOrEqual(94);
    });
  });

  it('stops at once when the channel to the daemon closes, and says so to its process', async () => {
    await rig.drive();
    rig.channel.close();
    expect(rig.peer.stopped).toBe(true);
    expect(rig.lost).toHaveLength(1);
  });

  it('lets a robot that touched something back away slowly, and not forward', async () => {
    await rig.drive();
    rig.peer.flags.bumpLeft = true;
    await rig.run(500);
    expect(rig.state().safety).toMatchObject({ level: 'OK', active: ['bumper_left'] });
    await rig.drive('forward');
    expect(rig.peer.stopped).toBe(true);
    await rig.client.stop('test');
    await rig.run(500);
    await rig.drive('back', { kind: 'backUp', distance: 0.2, speed: 0.3 });
    expect([rig.peer.left, rig.peer.right]).toEqual([-100, -100]);
  });

  it('starts the way out of a contact even when it is asked for while the robot still rolls', async () => {
    await rig.drive();
    rig.peer.flags.bumpRight = true;
    rig.peer.sendFrame();
    await rig.client.start('back', { kind: 'backUp', distance: 0.2, speed: 0.1 }, 1);
    await rig.run(1000);
    expect(rig.updates('failed').map((u) => u.id)).toEqual(['a-1']);
    expect(rig.peer.left).toBe(-100);
  });

  it('does not stop again for a bumper that chatters while it backs away', async () => {
    await rig.drive();
    rig.peer.flags.bumpLeft = true;
    await rig.run(500);
    await rig.drive('back', { kind: 'backUp', distance: 1, speed: 0.1 });
    for (let i = 0; i < 5; i++) {
      rig.peer.flags.bumpLeft = i % 2 === 0;
      await rig.run(60);
    }
    expect(rig.updates('failed').map((u) => u.id)).toEqual(['a-1']);
    expect(rig.peer.stopped).toBe(false);
  });

  it('switches the drive off when wheels go on turning after a stop', async () => {
    await rig.drive();
    rig.peer.runaway = true;
    await rig.client.stop('test');
    await rig.run(2000);
    expect(rig.peer.received.some((r) => r.command === 'start' && r.mono > 2000)).toBe(true);
    expect(rig.state().counters.stops_unconfirmed).toBe(1);
  });

  it('sends no byte to a base that stands still with nothing to do', async () => {
    await rig.run(2000);
    const before = rig.peer.received.length;
    await rig.run(10_000);
    expect(rig.peer.received.length).toBe(before);
  });

  it('is not stopped by a wish that is not a number', async () => {
    rig.navigator.wish = { v: Number.NaN, w: 0 };
    await rig.drive();
    expect(rig.peer.stopped).toBe(true);
    expect(rig.state().counters.motion_not_finite).toBeGreaterThan(0);
  });

  it('slows down near an obstacle whatever the navigator wishes', async () => {
    for (let i = 175; i <= 185; i++) rig.lidar.ranges[i] = 0.25;
    await rig.drive();
    expect(rig.peer.left).toBeGreaterThan(0);
    expect(rig.peer.left).toBeLessThan(260);
  });

  it('speeds up and slows down within the limits of the body', async () => {
    await rig.client.start('a-1', DRIVE_FAST, 1);
    await rig.run(2000);
    await rig.client.stop('test');
    await rig.run(1000);
    const speeds = rig.peer.drives().map((d) => Number(d.command.split(' ')[1]));
    expect(Math.max(...speeds)).toBe(350);
    speeds.reduce((before, now) => {
      expect(now - before).toBeLessThanOrEqual(25 + 1);
      expect(before - now).toBeLessThanOrEqual(50 + 1);
      return now;
    }, 0);
  });
});

const DRIVE_FAST: MotionAction = {
  kind: 'followPath',
  path: [{ x: 0, y: 0, theta: 0 }],
  goal: { x: 10, y: 0, theta: 0 },
  tolerance: { xy: 0.1, theta: 0.1 },
  maxSpeed: 2,
};
