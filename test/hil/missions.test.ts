/** A slice of the missions campaign (`npm run missions`): one of most families, whatever the world allows. */
import { expect, it, vi } from 'vitest';
import { findings } from '../missions/report.js';
import { runMission } from '../missions/run-mission.js';

vi.setConfig({ testTimeout: 300_000 });

it.each([201, 204, 205, 206, 207, 208, 209, 211, 212, 213])(
  'mission %i arrives or says rightly why not, touches nothing, and comes home',
  async (seed) => {
    const result = await runMission(seed);
    expect(findings(result)).toEqual([]);
    expect(result.collisions).toBe(0);
    expect(result.legs.length).toBeGreaterThan(0);
  },
);

it('a mission is the same again from its seed alone', async () => {
  const [once, again] = [await runMission(213), await runMission(213)];
  expect(again).toEqual(once);
});
