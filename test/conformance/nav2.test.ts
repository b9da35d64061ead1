/** What only a robot with Nav2 can do wrong, and what is then said and done. */
import { describe, expect, it, vi } from 'vitest';
import type { MotionAction } from '../../config/contracts/amr.js';
import { distance, type Pose } from '../../config/contracts/geometry.js';
import { Bench, type BenchOptions } from './bench.js';

vi.setConfig({ testTimeout: 300_000 });

const FAR_ROOM = 3;

function follow(path: Pose[], goal: Pose): MotionAction {
  return { kind: 'followPath', path, goal, tolerance: { xy: 0.2, theta: 0.35 }, maxSpeed: 0.3 };
}

async function withBench(
  options: BenchOptions & { backEnd?: 'nav2 jazzy' | 'nav2 humble' },
  test: (bench: Bench, ros: NonNullable<Bench['ros']>) => Promise<void>,
): Promise<void> {
  const bench = await Bench.start(options.backEnd ?? 'nav2 jazzy', options);
  try {
    if (bench.ros === null) throw new Error('no ROS');
    await bench.undock();
    await test(bench, bench.ros);
  } finally {
    await bench.close();
  }
}

describe('a robot with Nav2', () => {
  it('does not believe that it arrived where the pose does not say so', () =>
    withBench({}, async (bench, ros) => {
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      ros.nav2.faults.lies = true;
      const end = await bench.end(id, 20_000);
      expect(end).toMatchObject({ status: 'failed', failure: 'stuck' });
      expect(end.status === 'failed' ? end.message : '').toMatch(
        /Nav2 says that it is done, and the robot is .* m off/,
      );
    }));

  it.each([
    [102, 'localization_lost'],
    [105, 'blocked'],
    [107, 'timeout'],
    [208, 'blocked'],
    [308, 'blocked'],
  ] as const)('ends with code %i as %s', (code, failure) =>
    withBench({}, async (bench, ros) => {
      const goal = bench.roomGoal(FAR_ROOM);
      const plan = await bench.during(bench.client.plan({ from: null, goal }), 20_000);
      if (!plan.ok) throw new Error(plan.message);
      ros.nav2.faults.abortNext = code;
      const action = follow(plan.path, goal);
      const end = await bench.end(await bench.begin(action), 10_000);
      expect(end).toMatchObject({
        status: 'failed',
        failure,
        message: expect.stringContaining(`code ${code}`),
      });
    }),
  );

  it('without a code, as in Humble, ends stuck where nothing is seen in the way', () =>
    withBench({ backEnd: 'nav2 humble' }, async (bench, ros) => {
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 5_000, 'it drives');
      await bench.during(bench.client.stop('first'), 2_000);
      await bench.end(id, 6_000);
      ros.nav2.faults.abortNext = 105;
      const goal = bench.roomGoal(FAR_ROOM);
      const action = follow([goal], goal);
      expect(await bench.end(await bench.begin(action), 10_000)).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('without a code'),
      });
    }));

  it('gives a goal up that its server does not answer, and stands', () =>
    withBench({}, async (bench, ros) => {
      ros.nav2.faults.silent = true;
      const goal = bench.roomGoal(FAR_ROOM);
      const action = follow([goal], goal);
      const end = await bench.end(await bench.begin(action), 30_000);
      expect(end).toMatchObject({ status: 'failed', failure: 'timeout' });
      expect(bench.wheelsTurn).toBe(false);
    }));

  it('is not sent anywhere while bt_navigator is inactive, and says which node it is', () =>
    withBench({}, async (bench, ros) => {
      ros.nav2.faults.inactive.add('bt_navigator');
      await bench.run(2_500);
      await expect(bench.goTo(bench.roomGoal(FAR_ROOM))).rejects.toMatchObject({
        reason: 'HARDWARE_FAULT',
        message: expect.stringContaining('/bt_navigator is inactive'),
      });
    }));

  it('stops when transforms go stale: nobody knows where it is', () =>
    withBench({}, async (bench, ros) => {
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 5_000, 'it drives');
      ros.robot.faults.transforms = true;
      expect(await bench.end(id, 8_000)).toMatchObject({ status: 'failed' });
      expect(bench.wheelsTurn).toBe(false);
      expect(bench.state().localized).toBe(false);
    }));

  it('stops when odometry goes stale', () =>
    withBench({}, async (bench, ros) => {
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 5_000, 'it drives');
      ros.robot.faults.odometry = true;
      await bench.until(() => !bench.wheelsTurn, 2_500, 'the wheels stand');
      expect(await bench.end(id, 10_000)).toMatchObject({ status: 'failed' });
      expect(bench.state().stoppedSince).toBeNull();
    }));

  it('calls a goal that Nav2 does not give up a fault, and never stopped', () =>
    withBench({}, async (bench, ros) => {
      const id = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 5_000, 'it drives');
      ros.nav2.faults.ignoresCancel = true;
      await bench.during(bench.client.stop('test'), 2_000);
      const end = await bench.end(id, 10_000);
      expect(end).toMatchObject({ status: 'failed', failure: 'hardware' });
    }));

  it('drives through poses of the way that was planned, when the profile says so', () =>
    withBench(
      {
        editConfig: (config) => ({
          ...config,
          ros2: config.ros2 === null ? null : { ...config.ros2, follow: 'through_poses' },
        }),
      },
      async (bench) => {
        const goal = bench.roomGoal(FAR_ROOM);
        expect((await bench.end(await bench.goTo(goal))).status).toBe('succeeded');
        expect(distance(bench.world.body.pose, goal)).toBeLessThan(0.2);
      },
    ));
});

it('over a rosbridge without actions, as Humble had, it drives by /goal_pose and reads the end from the status topic', async () => {
  const noDockServer = { with: 'onboard', dock_id: null, dock_type: '' } as const;
  await withBench(
    {
      actions: false,
      backEnd: 'nav2 humble',
      editConfig: (config) => ({
        ...config,
        ros2: config.ros2 === null ? null : { ...config.ros2, docking: noDockServer },
      }),
    },
    async (bench) => {
      const goal = bench.roomGoal(1);
      const plan = await bench.during(bench.client.plan({ from: null, goal }), 20_000);
      if (!plan.ok) throw new Error(plan.message);
      const action = follow(plan.path, goal);
      expect((await bench.end(await bench.begin(action))).status).toBe('succeeded');
      expect(distance(bench.world.body.pose, goal)).toBeLessThan(0.2);
      const never = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.during(bench.client.stop('before it was sent'), 2_000);
      expect(await bench.end(never, 8_000)).toMatchObject({ status: 'stopped' });
      await bench.run(2_000);
      expect(bench.wheelsTurn).toBe(false);
      const back = await bench.goTo(bench.roomGoal(FAR_ROOM));
      await bench.until(() => bench.wheelsTurn, 8_000, 'it drives');
      await bench.during(bench.client.stop('test'), 2_000);
      expect(await bench.end(back, 8_000)).toMatchObject({ status: 'stopped' });
      expect(bench.wheelsTurn).toBe(false);
    },
  );
});
