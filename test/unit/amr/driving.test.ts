import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ActionUpdate, MotionAction } from '../../../config/contracts/amr.js';
import { distance, type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle, mapBundle } from '../../../drivers/amr/map/bundle.js';
import { DEFAULT_NAVIGATOR } from '../../../drivers/amr/navigator/config.js';
import { itWithShared } from '../../support/shared-data.js';
import { Drive, type End } from './support/drive.js';
import { box, flat } from './support/grids.js';

const START: Pose = { x: 1, y: 1.2, theta: 0 };
const BEDROOM: Pose = { x: 5.5, y: 3.8, theta: 0 };
const KITCHEN: Pose = { x: 6, y: 1.8, theta: -1.57 };

const driveFrom = (pose: Pose, options: ConstructorParameters<typeof Drive>[2] = {}) =>
  new Drive(flat(), pose, options).settle();

function expectArrived(drive: Drive, end: End, goal: Pose): void {
  expect(end).toMatchObject({ status: 'succeeded' });
  expect(distance(drive.robot.pose, goal)).toBeLessThan(0.1);
  expect(Math.abs(wrapAngle(drive.robot.pose.theta - goal.theta))).toBeLessThan(0.15);
  expect(drive.robot.collisions).toBe(0);
}

function expectFailed(end: End, failure: string): Extract<ActionUpdate, { status: 'failed' }> {
  expect(end).toMatchObject({ status: 'failed', failure });
  if (end.status !== 'failed') throw new Error('it did not fail');
  return end;
}

describe('following a path', () => {
  it('passes the narrow door whatever the slip and noise, and reports arrival only at the goal and at rest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 0.08, noNaN: true }),
        fc.double({ min: 0, max: 0.12, noNaN: true }),
        async (seed, slip, slipNoise) => {
          const drive = await driveFrom(START, { seed, slip, slipNoise, rangeNoise: 0.02, dropout: 0.05 });
          const end = await drive.goTo(BEDROOM);
          expectArrived(drive, end, BEDROOM);
          expect(drive.navigator.state().stoppedSince).not.toBeNull();
          expect(end.at - (drive.navigator.state().stoppedSince ?? end.at)).toBeGreaterThanOrEqual(300);
          expectArrived(drive, await drive.goTo(KITCHEN), KITCHEN);
        },
      ),
      { numRuns: 4, seed: 20_261_130 },
    );
  });

  it('stays within the limits of speed and acceleration all the way', async () => {
    const drive = await driveFrom(START);
    await drive.act(await drive.followTo(BEDROOM, 0.3));
    const { limits } = DEFAULT_NAVIGATOR;
    expect(drive.largest.v).toBeLessThanOrEqual(0.3 + 1e-9);
    expect(drive.largest.w).toBeLessThanOrEqual(limits.maxTurn);
    expect(drive.largest.dv).toBeLessThanOrEqual(limits.brake * 0.05 + 1e-9);
    expect(drive.largest.dw).toBeLessThanOrEqual(limits.turnAccel * 0.05 + 1e-9);
  });

  it('says where it is, how far it still has to go and what it is doing, five times a second', async () => {
    const drive = await driveFrom(START);
    await drive.goTo(BEDROOM);
    const running = drive.updates.filter((u) => u.status === 'running');
    const left = running.map((u) => (u.status === 'running' ? (u.remaining ?? 0) : 0));
    expect(left[0]).toBeGreaterThan(5);
    expect(left[left.length - 1]).toBeLessThan(0.2);
    const seconds = (drive.updates[drive.updates.length - 1]?.at ?? 0) - (running[0]?.at ?? 0);
    expect(running.length).toBeLessThan((seconds / 1000) * 5 + 10);
    const notes = running.map((u) => (u.status === 'running' ? u.note : null));
    expect(new Set(notes)).toEqual(new Set(['driving', 'arriving']));
    expect(drive.navigator.state().action).toBeNull();
    expect(drive.navigator.view().path).toEqual([]);
  });

  it('obeys speed areas', async () => {
    const base = flat();
    const slow = mapBundle(base.grid, {
      ...base.areas,
      speedAreas: [{ id: 's', polygon: box(2, 0, 4, 6), maxSpeed: 0.12 }],
    });
    const drive = await new Drive(slow, START).settle();
    let fastest = 0;
    await drive.goTo(KITCHEN, 120_000, () => {
      const { x } = drive.robot.pose;
      if (x > 2.1 && x < 3.9) fastest = Math.max(fastest, drive.command.v);
    });
    expect(fastest).toBeLessThanOrEqual(0.13);
    expect(fastest).toBeGreaterThan(0.08);
  });

  it('stops before a person who steps into its way, and drives on when the way is free', async () => {
    const drive = await driveFrom(START);
    let steps = 0;
    let nearest = Number.POSITIVE_INFINITY;
    const person = { x: 3.3, y: 1.5, radius: 0.2 };
    const end = await drive.goTo(KITCHEN, 120_000, () => {
      steps++;
      drive.robot.things = steps > 60 && steps < 160 ? [person] : [];
      if (drive.robot.things.length > 0)
        nearest = Math.min(nearest, distance(person, drive.robot.pose) - 0.37);
    });
    expectArrived(drive, end, KITCHEN);
    expect(nearest).toBeGreaterThan(0.02);
  });

  it.each([0.5, 1.2, 2.1, -0.8])(
    'drives off from a person who has come up to it, at %f rad',
    async (bearing) => {
      const drive = await driveFrom({ x: 1.5, y: 1.6, theta: 0 });
      // Hull to hull 2 cm.
      const at = 0.17 + 0.16 + 0.02;
      drive.robot.things = [
        { x: 1.5 + at * Math.cos(bearing), y: 1.6 + at * Math.sin(bearing), radius: 0.16 },
      ];
      await drive.run(1000);
      const end = await drive.goTo(KITCHEN);
      expectArrived(drive, end, KITCHEN);
    },
  );

  it.each([0.4, 0.8])(
    'has stopped before somebody who comes towards it at %f m/s is there',
    async (speed) => {
      const drive = await driveFrom(START);
      const person = { x: 3.4, y: 1.35, radius: 0.16 };
      drive.robot.things = [person];
      const gap = () => distance(person, drive.robot.pose) - 0.17 - person.radius;
      let nearest = Number.POSITIVE_INFINITY;
      drive.navigator.start('a', await drive.followTo(KITCHEN));
      await drive.run(12_000, () => {
        nearest = Math.min(nearest, gap());
        // He walks up to it, and no further.
        if (gap() < 0.05) return;
        const { x, y } = drive.robot.pose;
        const away = distance(person, drive.robot.pose);
        person.x += (0.05 * speed * (x - person.x)) / away;
        person.y += (0.05 * speed * (y - person.y)) / away;
      });
      expect(nearest).toBeLessThan(0.06);
      expect(nearest).toBeGreaterThan(0.003);
    },
  );

  it('drives round a chair that is not in the map', async () => {
    const drive = await driveFrom(START);
    const action = await drive.followTo(KITCHEN);
    if (action.kind !== 'followPath') throw new Error('no path');
    const on = action.path[Math.floor(action.path.length * 0.35)] ?? START;
    drive.robot.things = [{ x: on.x, y: on.y, radius: 0.2 }];
    const end = await drive.act(action);
    expectArrived(drive, end, KITCHEN);
    expect(end).toMatchObject({ detail: { replans: expect.any(Number) } });
    expect(drive.navigator.view().obstacles.some((p) => distance(p, on) < 0.3)).toBe(true);
  });

  it('gives up as blocked after a bounded wait, and says where', async () => {
    const drive = await driveFrom({ x: 3.3, y: 4.7, theta: 0 });
    const action = await drive.followTo(BEDROOM);
    const person = { x: 4.5, y: 4.7, radius: 0.25 };
    // He follows into the other door: there is no way round either.
    drive.robot.things = [person, { x: 4.5, y: 1.6, radius: 0.4 }];
    const end = expectFailed(await drive.act(action), 'blocked');
    expect(distance(end.where ?? START, person)).toBeLessThan(0.4);
    expect(drive.robot.timeMs).toBeLessThan(30_000);
    expect(drive.robot.collisions).toBe(0);
    expect(drive.updates.some((u) => u.status === 'running' && u.note === 'waiting_for_obstacle')).toBe(true);
  });

  it('looks for a way of its own when it is put down beside its path', async () => {
    const drive = await driveFrom({ x: 1, y: 4, theta: 0 });
    const path = [START, { x: 2, y: 1.2, theta: 0 }, { x: 3, y: 1.2, theta: 0 }];
    const goal = { x: 3, y: 1.2, theta: 0 };
    const end = await drive.act({
      kind: 'followPath',
      path,
      goal,
      tolerance: { xy: 0.1, theta: 0.2 },
      maxSpeed: 0.3,
    });
    expectArrived(drive, end, goal);
  });

  it('is stuck when its wheels are held, and when they spin on the spot', async () => {
    const held = await driveFrom(START);
    let steps = 0;
    const hold = await held.goTo(KITCHEN, 60_000, () => {
      if (++steps === 60) held.robot.wheelsHeld = true;
    });
    expect(expectFailed(hold, 'stuck').message).toBe('the wheels are told to turn and do not');
    const spinning = await driveFrom(START);
    steps = 0;
    const spin = await spinning.goTo(KITCHEN, 60_000, () => {
      if (++steps === 60) spinning.robot.spinning = true;
    });
    expect(expectFailed(spin, 'stuck').message).toBe('the wheels turn but the robot does not move on');
  });

  it('ends when scans no longer fit, and when none arrive', async () => {
    const carried = await driveFrom(START);
    let steps = 0;
    const lost = await carried.goTo(KITCHEN, 60_000, () => {
      if (++steps === 40) carried.robot.pose = { x: 6.5, y: 3.7, theta: 2 };
    });
    expectFailed(lost, 'localization_lost');
    const blind = await driveFrom(START);
    steps = 0;
    let seenBlind = Number.POSITIVE_INFINITY;
    const stale = await blind.goTo(KITCHEN, 60_000, () => {
      if (++steps === 60) blind.robot.lidarDead = true;
      if (steps > 70) seenBlind = Math.min(seenBlind, blind.command.v);
    });
    expectFailed(stale, 'sensors_stale');
    expect(seenBlind).toBe(0);
  });

  it('does not drive where its lidar sees nothing at all, and says so', async () => {
    for (const degrees of [120, 180, 300, 360]) {
      const drive = await driveFrom(START);
      let steps = 0;
      let blindAt: { x: number; y: number } | null = null;
      const end = await drive.goTo(KITCHEN, 60_000, () => {
        if (++steps !== 60) return;
        drive.robot.covered = { width: (degrees * Math.PI) / 180, middle: 0 };
        blindAt = drive.robot.pose;
      });
      const { message } = expectFailed(end, 'sensors_stale');
      expect(message).toBe('the lidar sees nothing ahead: is it covered?');
      expect(distance(drive.robot.pose, blindAt ?? { x: 99, y: 0 })).toBeLessThan(0.3);
    }
  });

  it('does not back up where its lidar sees nothing at all', async () => {
    const drive = await driveFrom(START);
    drive.robot.covered = { width: Math.PI, middle: Math.PI };
    const before = drive.robot.pose;
    await drive.run(500);
    expectFailed(await drive.act({ kind: 'backUp', distance: 0.15, speed: 0.1 }), 'sensors_stale');
    expect(distance(drive.robot.pose, before)).toBeLessThan(0.02);
  });

  it('needs a pose and a map', async () => {
    const drive = await driveFrom(START);
    const action = await drive.followTo(KITCHEN);
    drive.navigator.clearMap();
    drive.navigator.setMap(renamed(flat()));
    expectFailed(await drive.act(action), 'localization_lost');
    expect(await drive.plan(KITCHEN)).toMatchObject({ ok: false, reason: 'no_pose' });
  });

  it('keeps its place when only the areas of its map are new', async () => {
    const drive = await driveFrom(START);
    drive.navigator.setMap({ ...flat(), id: 'm-other' });
    expect(await drive.plan(KITCHEN)).toMatchObject({ ok: true });
  });

  itWithShared('drives through a real house', 'maps/aws_small_house/map.yaml', async (path) => {
    const bundle = loadMapBundle(path);
    const costmap = new StaticCostmap(bundle);
    const start = { x: -3, y: 1, theta: 0 };
    const goals = [
      { x: 6, y: -1, theta: 1 },
      { x: -1.63, y: 4.63, theta: 3 },
      { x: -7.67, y: -4, theta: 0 },
    ];
    for (const goal of [start, ...goals]) expect(costmap.statusAt(goal)).toBe('free');
    const drive = await new Drive(bundle, start, { seed: 4, slip: 0.02, slipNoise: 0.05 }).settle();
    for (const goal of goals) expectArrived(drive, await drive.goTo(goal, 200_000), goal);
  });
});

/** The same map under another id, as if it had been edited. */
function renamed(bundle: ReturnType<typeof flat>): ReturnType<typeof flat> {
  // Other ground, not only other areas: those leave the robot its place.
  const cells = Int8Array.from(bundle.grid.cells);
  cells[0] = cells[0] === 0 ? 100 : 0;
  return { ...bundle, id: 'm-other', grid: { ...bundle.grid, cells } };
}

describe('actions', () => {
  it('end stopped only once the wheels have stood still for 0.3 s', async () => {
    const drive = await driveFrom(START);
    drive.navigator.start('a', await drive.followTo(KITCHEN));
    await drive.run(3000);
    expect(drive.command.v).toBeGreaterThan(0.2);
    drive.navigator.stop('test');
    let moved = true;
    for (let k = 0; k < 60 && drive.endOf('a') === null; k++) {
      const before = drive.robot.wheels.left;
      await drive.step();
      moved = drive.robot.wheels.left - before > 0.001;
    }
    expect(moved).toBe(false);
    const end = drive.endOf('a');
    expect(end).toMatchObject({ status: 'stopped' });
    if (end?.status === 'stopped') expect(end.stoppedForMs).toBeGreaterThanOrEqual(300);
  });

  it('begin only after the one they replace has stopped', async () => {
    const drive = await driveFrom(START);
    const [first, second] = [await drive.followTo(KITCHEN), await drive.followTo(BEDROOM)];
    drive.navigator.start('a', first);
    await drive.run(3000);
    drive.navigator.start('b', second);
    drive.navigator.start('c', second);
    await drive.run(20_000);
    const order = drive.updates
      .filter((u) => u.status !== 'running' || u.id === 'c')
      .map((u) => `${u.id} ${u.status}`);
    expect(order.slice(0, 3).sort()).toEqual(['a stopped', 'b stopped', 'c running']);
    expect(order.indexOf('a stopped')).toBeLessThan(order.indexOf('c running'));
    expect(drive.endOf('b')).toMatchObject({ status: 'stopped' });
  });

  it('end safety_stop when the safety layer steps in, and at once for CUT', async () => {
    for (const level of ['CUT', 'SETTLE'] as const) {
      const drive = await driveFrom(START);
      drive.navigator.start('a', await drive.followTo(KITCHEN));
      await drive.run(3000);
      drive.safety = level;
      await drive.step();
      if (level === 'CUT') expect(drive.command).toEqual({ v: 0, w: 0 });
      else expect(drive.command.v).toBeGreaterThan(0);
      await drive.run(2000);
      expect(drive.endOf('a')).toMatchObject({ status: 'failed', failure: 'safety_stop' });
      expect(drive.command.v).toBe(0);
    }
  });

  it('say hardware when the wheels do not report their stop', async () => {
    const drive = await driveFrom(START);
    drive.navigator.start('a', await drive.followTo(KITCHEN));
    await drive.run(2000);
    drive.input = { wheels: null };
    drive.navigator.stop('test');
    await drive.run(4000);
    expect(drive.endOf('a')).toMatchObject({ status: 'failed', failure: 'hardware' });
  });
});

describe('spinning', () => {
  it('turns by any angle, more than a full turn too, and ends at rest', async () => {
    const drive = await driveFrom(START);
    for (const angle of [Math.PI / 2, -Math.PI, 7, 0.06]) {
      const before = drive.robot.pose.theta;
      const end = await drive.act({ kind: 'spin', angle, tolerance: 0.05 });
      expect(end.status).toBe('succeeded');
      expect(Math.abs(wrapAngle(drive.robot.pose.theta - before - angle))).toBeLessThan(0.09);
    }
    expect(distance(drive.robot.pose, START)).toBeLessThan(0.05);
  });
});

describe('backing up', () => {
  it('goes back by a distance', async () => {
    const drive = await driveFrom(START);
    await drive.act({ kind: 'backUp', distance: 0.3, speed: 0.1 });
    expect(drive.robot.pose.x).toBeCloseTo(0.7, 1);
  });

  it('does not back into what stands behind', async () => {
    const drive = await driveFrom(START);
    drive.robot.things = [{ x: 0.55, y: 1.2, radius: 0.1 }];
    const end = expectFailed(await drive.act({ kind: 'backUp', distance: 0.5, speed: 0.1 }), 'blocked');
    expect(distance(end.where ?? { x: 9, y: 9 }, { x: 0.65, y: 1.2 })).toBeLessThan(0.1);
    expect(drive.robot.collisions).toBe(0);
  });
});

describe('driving by hand', () => {
  const ahead: MotionAction = { kind: 'drive', twist: { v: 0.3, w: 0 }, ttlMs: 300 };

  it('stops when it is not renewed in time', async () => {
    const drive = await driveFrom(START);
    const end = await drive.act(ahead);
    expect(end).toMatchObject({ status: 'succeeded', detail: { expired: 1 } });
    expect(drive.robot.pose.x).toBeLessThan(1.2);
  });

  it('takes signs of life that come before its first control step for what they are', async () => {
    const drive = await driveFrom(START);
    for (let k = 0; k < 3; k++) drive.navigator.start('m', ahead);
    await drive.step();
    expect(drive.endOf('m')).toBeNull();
    await drive.run(2000);
    expect(drive.endOf('m')).toMatchObject({ status: 'succeeded', detail: { expired: 1 } });
  });

  it('goes on while it is renewed under the same id, but not into things', async () => {
    const drive = await driveFrom(START);
    drive.robot.things = [{ x: 2.6, y: 1.2, radius: 0.2 }];
    for (let k = 0; k < 160; k++) {
      if (k % 4 === 0) drive.navigator.start('m', ahead);
      await drive.step();
    }
    expect(drive.endOf('m')).toBeNull();
    expect(drive.robot.pose.x).toBeGreaterThan(1.9);
    expect(drive.robot.collisions).toBe(0);
    await drive.run(2000);
    expect(drive.endOf('m')).toMatchObject({ status: 'succeeded' });
  });
});
