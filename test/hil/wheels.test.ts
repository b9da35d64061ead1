/** One wheel that does not do what it is told ends the way it happens on, and the robot says which. */
import { describe, expect, it } from 'vitest';
import { inHome } from './support/in-home.js';

const CASES = [
  { chips: {}, side: 'left', state: 'dead-encoder', says: /the left wheel .*encoder/ },
  { chips: {}, side: 'right', state: 'dead-motor', says: /the right wheel .*encoder does not count/ },
  { chips: {}, side: 'left', state: 'slips', says: /the left wheel slips/ },
  { chips: { base: 'kobuki' }, side: 'right', state: 'slips', says: /the right wheel slips/ },
  {
    chips: { base: 'kobuki', lidar: 'rplidar_a1' },
    side: 'right',
    state: 'dead-encoder',
    says: /the right wheel/,
  },
] as const;

describe('a wheel that fails on the way', () => {
  it.each(CASES)(
    '$side $state ($chips.base $chips.lidar): HARDWARE_FAULT, with which wheel, standing',
    ({ chips, side, state, says }) =>
      inHome(chips, async ({ home, witness }) => {
        const id = await home.task('setMoveTo', { positionName: '안방' });
        await home.until(() => home.wheelsTurn && !home.world.docked, 60_000, 'the robot drives');
        await home.run(5_000);
        await home.inject('wheel', side, state);
        const end = await witness.end(id, 60_000);
        expect(end).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
        expect(end.message).toMatch(says);
        expect(home.wheelsTurn).toBe(false);
      }),
  );
});

describe('a lidar that is not mounted as it usually is', () => {
  const post = { bearing: 2.5, width: 0.12, range: 0.2 };
  it.each([
    ['head down', { x: 0, y: 0, yaw: 0, inverted: true, posts: [] }, { inverted: true }],
    [
      'before the middle and turned',
      { x: 0.08, y: -0.04, yaw: 0.7, inverted: false, posts: [] },
      { x: 0.08, y: -0.04, yaw: 0.7 },
    ],
    [
      'between posts',
      { x: 0, y: 0, yaw: 0, inverted: false, posts: [post] },
      { masks: [{ from: 2.4, to: 2.6 }] },
    ],
  ] as const)('%s finds its way when the profile says so', (_, lidarMounting, mount) =>
    inHome(
      {
        lidarMounting: { ...lidarMounting, posts: [...lidarMounting.posts] },
        editConfig: (config) => ({
          ...config,
          lidar: config.lidar && {
            ...config.lidar,
            ...mount,
            masks: 'masks' in mount ? mount.masks.map((mask) => ({ ...mask })) : [],
          },
        }),
      },
      async ({ home }) => {
        const there = await home.task('setMoveTo', { positionName: '안방' });
        expect(await home.end(there)).toMatchObject({ event: 'COMPLETED' });
        expect(home.world.room).toBe('4');
        const back = await home.task('returnToStation');
        expect(await home.end(back)).toMatchObject({ event: 'COMPLETED' });
        expect(home.world.docked).toBe(true);
      },
    ),
  );
});
