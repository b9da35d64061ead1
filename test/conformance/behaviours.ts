/**
 * What any robot base with navigation does, whichever back end drives it: each row is an observation that has to hold,
 * against the truth of the simulated home and not against what the back end says.
 */
import { join } from 'node:path';
import { expect } from 'vitest';
import { compose, distance, wrapAngle } from '../../config/contracts/geometry.js';
import type { Bench } from './bench.js';

export interface Behaviour {
  name: string;
  run(bench: Bench): Promise<void>;
}

/** The living room and another room of the home that comes along, by number; see `two-bedroom.yaml`. */
const NEAR_ROOM = 1;
const FAR_ROOM = 3;
const WITHIN = 0.2;

const stoppedWithin = async (bench: Bench, ms: number) => {
  await bench.until(() => !bench.wheelsTurn, ms, 'the wheels stand still');
};
const driving = async (bench: Bench) => {
  await bench.until(() => bench.wheelsTurn, 10_000, 'the wheels turn');
  await bench.run(1500);
};

export const BEHAVIOURS: readonly Behaviour[] = [
  {
    name: 'leaves its station, and stands clear of it',
    run: async (bench) => {
      expect(bench.state().base.docked).toBe(true);
      const end = await bench.end(await bench.begin({ kind: 'undock', clearance: 0.4 }));
      expect(end.status).toBe('succeeded');
      expect(bench.wheelsTurn).toBe(false);
      expect(bench.world.docked).toBe(false);
      expect(distance(bench.world.body.pose, bench.station)).toBeGreaterThan(0.35);
      await bench.until(() => bench.state().base.docked === false, 2_000, 'it says that it left');
    },
  },
  {
    name: 'refuses to undock when it is not docked',
    run: async (bench) => {
      await bench.undock();
      await bench.until(() => bench.state().base.docked === false, 2_000, 'it says that it left');
      const { x, y } = bench.world.body.pose;
      const end = await bench.end(await bench.begin({ kind: 'undock', clearance: 0.4 }));
      expect(end).toMatchObject({ status: 'failed', failure: 'not_docked' });
      expect(distance(bench.world.body.pose, { x, y })).toBeLessThan(0.02);
    },
  },
  {
    name: 'drives to a goal, and says so when it is there within the tolerance and its wheels stand still',
    run: async (bench) => {
      await bench.undock();
      const goal = bench.roomGoal(FAR_ROOM);
      const end = await bench.end(await bench.goTo(goal));
      expect(end.status).toBe('succeeded');
      expect(bench.wheelsTurn).toBe(false);
      expect(distance(bench.world.body.pose, goal)).toBeLessThan(WITHIN);
      expect(Math.abs(wrapAngle(bench.world.body.pose.theta - goal.theta))).toBeLessThan(0.4);
      expect(bench.state().stoppedSince).not.toBeNull();
    },
  },
  {
    name: 'reports where it is on its way',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      const seen = bench.updates(id).filter((u) => u.status === 'running');
      expect(seen.length).toBeGreaterThan(2);
      const pose = bench.state().pose;
      expect(pose === null ? 9 : distance(pose, bench.world.body.pose)).toBeLessThan(WITHIN);
      expect(seen.some((u) => u.status === 'running' && u.remaining !== null)).toBe(true);
      await bench.during(bench.client.stop('enough'), 2_000);
      await bench.end(id, 6_000);
    },
  },
  {
    name: 'ends stopped when it is told to stop, only after the wheels stand still',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      await bench.during(bench.client.stop('test'), 2_000);
      const end = await bench.end(id, 6_000);
      expect(end).toMatchObject({ status: 'stopped' });
      expect(end.status === 'stopped' ? end.stoppedForMs : 0).toBeGreaterThanOrEqual(300);
      expect(bench.wheelsTurn).toBe(false);
      const { x, y } = bench.world.body.pose;
      await bench.run(3_000);
      expect(distance(bench.world.body.pose, { x, y })).toBeLessThan(0.01);
    },
  },
  {
    name: 'is proven to stand also when it is stopped in the moment in which it sets off',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 10_000, 'the wheels turn');
      await bench.during(bench.client.stop('test'), 2_000);
      expect(await bench.end(id, 6_000)).toMatchObject({ status: 'stopped' });
      expect(bench.wheelsTurn).toBe(false);
      const { x, y } = bench.world.body.pose;
      await bench.run(3_000);
      expect(distance(bench.world.body.pose, { x, y })).toBeLessThan(0.01);
    },
  },
  {
    name: 'ends the old action when a new one begins',
    run: async (bench) => {
      await bench.undock();
      const first = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      const second = await bench.goTo(bench.roomGoal(NEAR_ROOM));
      expect(await bench.end(first, 6_000)).toMatchObject({ status: 'stopped' });
      expect((await bench.end(second)).status).toBe('succeeded');
      expect(distance(bench.world.body.pose, bench.roomGoal(NEAR_ROOM))).toBeLessThan(WITHIN);
    },
  },
  {
    name: 'finds no plan to a place in a wall, or off the map',
    run: async (bench) => {
      await bench.undock();
      const inWall = { ...compose(bench.station, { x: 0.3, y: 0, theta: 0 }) };
      const wall = await bench.during(bench.client.plan({ from: null, goal: inWall }), 20_000);
      expect(wall.ok).toBe(false);
      const away = await bench.during(
        bench.client.plan({ from: null, goal: { x: 500, y: 500, theta: 0 } }),
        20_000,
      );
      expect(away.ok).toBe(false);
    },
  },
  {
    name: 'turns in place by the angle that was asked for',
    run: async (bench) => {
      await bench.undock();
      const before = bench.world.body.pose;
      const end = await bench.end(await bench.begin({ kind: 'spin', angle: 1.57, tolerance: 0.05 }));
      expect(end.status).toBe('succeeded');
      expect(bench.wheelsTurn).toBe(false);
      const turned = wrapAngle(bench.world.body.pose.theta - before.theta);
      expect(Math.abs(turned - 1.57)).toBeLessThan(0.12);
      expect(distance(bench.world.body.pose, before)).toBeLessThan(0.05);
    },
  },
  {
    name: 'stops driving by hand when nobody renews it',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.begin({ kind: 'drive', twist: { v: -0.1, w: 0 }, ttlMs: 300 });
      await bench.until(() => bench.wheelsTurn, 2_000, 'it drives');
      await stoppedWithin(bench, 1_200);
      expect((await bench.end(id, 3_000)).status).toBe('succeeded');
    },
  },
  {
    name: 'backs up by the distance that was asked for',
    run: async (bench) => {
      await bench.undock();
      const before = bench.world.body.pose;
      const end = await bench.end(await bench.begin({ kind: 'backUp', distance: 0.2, speed: 0.1 }));
      expect(end.status).toBe('succeeded');
      expect(Math.abs(distance(bench.world.body.pose, before) - 0.2)).toBeLessThan(0.05);
    },
  },
  {
    name: 'goes home: docked is what its contacts say',
    run: async (bench) => {
      await bench.undock();
      const away = await bench.end(await bench.goTo(bench.roomGoal(NEAR_ROOM)));
      expect(away.status).toBe('succeeded');
      const staged = await bench.end(await bench.goTo(bench.staging, { xy: 0.1, theta: 0.15 }));
      expect(staged.status).toBe('succeeded');
      const end = await bench.end(await bench.begin({ kind: 'dock', station: bench.station }));
      expect(end).toMatchObject({ status: 'succeeded', docked: true });
      expect(bench.world.docked).toBe(true);
      expect(bench.wheelsTurn).toBe(false);
    },
  },
  {
    name: 'does not call it docked when the contacts stay dead',
    run: async (bench) => {
      await bench.undock();
      bench.world.station.contacts = false;
      const end = await bench.end(await bench.begin({ kind: 'dock', station: bench.station }));
      expect(end).toMatchObject({ status: 'failed', failure: 'no_contact' });
      expect(bench.wheelsTurn).toBe(false);
    },
  },
  {
    name: 'waits for what stands in the way, and ends blocked without touching it',
    run: async (bench) => {
      await bench.undock();
      const goal = bench.roomGoal(FAR_ROOM);
      const plan = await bench.during(bench.client.plan({ from: null, goal }), 20_000);
      if (!plan.ok) throw new Error(plan.message);
      const id = await bench.goTo(goal);
      await driving(bench);
      // A ring of things around the goal: there is no way in.
      for (let i = 0; i < 10; i++) {
        const angle = (i * 2 * Math.PI) / 10;
        bench.world.visitors.addObstacle({
          x: goal.x + 0.5 * Math.cos(angle),
          y: goal.y + 0.5 * Math.sin(angle),
        });
      }
      const end = await bench.end(id);
      expect(end).toMatchObject({ status: 'failed', failure: 'blocked' });
      expect(bench.wheelsTurn).toBe(false);
      expect(bench.world.trace().filter((line) => /bump|touch/.test(line))).toEqual([]);
    },
  },
  {
    name: 'stops at once at an emergency stop, stays, and starts nothing until it is released',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      await bench.during(bench.client.estop('test'), 2_000);
      await stoppedWithin(bench, 600);
      expect(await bench.end(id, 6_000)).toMatchObject({ status: 'failed', failure: 'safety_stop' });
      await expect(bench.goTo(bench.roomGoal(NEAR_ROOM))).rejects.toMatchObject({ reason: 'EMERGENCY_STOP' });
      await bench.run(3_000);
      expect(bench.wheelsTurn).toBe(false);
      expect(bench.state().safety).toMatchObject({ level: 'CUT', estop: { latched: true } });
      await bench.during(bench.client.releaseEstop('test'), 2_000);
      await bench.run(500);
      const next = await bench.goTo(bench.roomGoal(NEAR_ROOM));
      expect((await bench.end(next)).status).toBe('succeeded');
    },
  },
  {
    name: 'keeps an emergency stop over a restart of the motion process',
    run: async (bench) => {
      await bench.during(bench.client.estop('test'), 2_000);
      await bench.restart();
      expect(bench.state().safety.estop.latched).toBe(true);
      await expect(bench.begin({ kind: 'undock', clearance: 0.4 })).rejects.toMatchObject({
        reason: 'EMERGENCY_STOP',
      });
    },
  },
  {
    name: 'refuses an action whose fence is old',
    run: async (bench) => {
      await bench.undock();
      await bench.begin({ kind: 'spin', angle: 0.3, tolerance: 0.1 }, 50);
      await expect(bench.begin({ kind: 'spin', angle: 0.3, tolerance: 0.1 }, 49)).rejects.toMatchObject({
        reason: 'RESOURCE_BUSY',
      });
    },
  },
  {
    name: 'stops when its lidar goes quiet, and does not start blind',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      bench.muteLidar(true);
      await stoppedWithin(bench, 1_500);
      expect(await bench.end(id, 8_000)).toMatchObject({ status: 'failed' });
      expect(bench.state().safety.active).toContain('lidar_stale');
      await bench.run(2_000);
      expect(bench.wheelsTurn).toBe(false);
      bench.muteLidar(false);
      await bench.run(1_000);
      expect((await bench.end(await bench.goTo(bench.roomGoal(NEAR_ROOM)))).status).toBe('succeeded');
    },
  },
  {
    name: 'fails what it did when the line to the body is cut, and stops the body first when it is back',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      bench.cutLink();
      expect(await bench.end(id, 8_000)).toMatchObject({ status: 'failed' });
      expect(bench.state().base.connected).toBe(false);
      await expect(bench.begin({ kind: 'spin', angle: 0.3, tolerance: 0.1 })).rejects.toMatchObject({
        reason: 'HARDWARE_FAULT',
      });
      bench.restoreLink();
      await bench.until(() => bench.state().base.connected, 15_000, 'the body is back');
      await stoppedWithin(bench, 1_500);
      await bench.run(1_000);
      expect(bench.wheelsTurn).toBe(false);
      await bench.until(() => bench.state().localized === true, 10_000, 'it knows where it is');
      expect((await bench.end(await bench.goTo(bench.roomGoal(NEAR_ROOM)))).status).toBe('succeeded');
    },
  },
  {
    name: 'stops when the motion process dies, and goes on with a new one, localised',
    run: async (bench) => {
      await bench.undock();
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await driving(bench);
      await bench.restart();
      expect(await bench.end(id, 3_000)).toMatchObject({ status: 'failed', failure: 'hardware' });
      await stoppedWithin(bench, 2_000);
      await bench.until(() => bench.state().localized === true, 20_000, 'it knows where it is');
      expect((await bench.end(await bench.goTo(bench.roomGoal(NEAR_ROOM)))).status).toBe('succeeded');
    },
  },
  {
    name: 'is told where it is, and then agrees with the truth',
    run: async (bench) => {
      await bench.undock();
      await bench.during(bench.client.relocalize(bench.world.body.pose), 2_000);
      await bench.until(() => bench.state().localized === true, 10_000, 'it is localised');
      const pose = bench.state().pose;
      expect(pose === null ? 9 : distance(pose, bench.world.body.pose)).toBeLessThan(WITHIN);
    },
  },
  {
    name: 'has the map that it was given, gives it up, and takes it again',
    run: async (bench) => {
      const { mapId } = bench.state();
      expect(mapId).not.toBeNull();
      await bench.during(bench.client.clearMap(), 2_000);
      await bench.run(500);
      expect(bench.state().mapId).toBeNull();
      const plan = await bench.during(
        bench.client.plan({ from: null, goal: bench.roomGoal(NEAR_ROOM) }),
        20_000,
      );
      expect(plan).toMatchObject({ ok: false, reason: 'no_map' });
      await bench.during(bench.client.loadMap(join(bench.dir, 'map.yaml')), 10_000);
      await bench.run(500);
      expect(bench.state().mapId).toBe(mapId);
    },
  },
  {
    name: 'reports its battery and its charging',
    run: async (bench) => {
      bench.world.battery.set(57);
      await bench.run(2_000);
      const { battery, charging } = bench.state().base;
      expect(Math.abs((battery?.percent ?? 0) - 57)).toBeLessThan(2);
      expect(charging).toBe(true);
    },
  },
];
