import { describe, expect, it } from 'vitest';
import { distance } from '../../../config/contracts/geometry.js';
import { Drive } from './support/drive.js';
import { flat } from './support/grids.js';

const START = { x: 1, y: 1.2, theta: 0 };
const GOAL = { x: 3.5, y: 3.5, theta: 1.57 };

const rested = async () => {
  const drive = await new Drive(flat(), START).settle();
  await drive.run(4000);
  return drive;
};
const checked = (drive: Drive) => drive.navigator.counters().scans_checked ?? 0;

describe('a robot at rest', () => {
  it('takes in few of the scans that say nothing new, and shows all of them', async () => {
    const drive = await rested();
    const before = { checked: checked(drive), seen: drive.navigator.counters().scans ?? 0 };
    const shown = new Set<unknown>();
    await drive.run(10_000, () => shown.add(drive.navigator.view().scan));
    expect(drive.navigator.counters().scans).toBe(before.seen + 100);
    expect(shown.size).toBeGreaterThan(95);
    const taken = checked(drive) - before.checked;
    expect(taken).toBeGreaterThanOrEqual(18);
    expect(taken).toBeLessThanOrEqual(25);
  });

  it('is wide awake from the first step of an action on', async () => {
    const drive = await rested();
    const plan = await drive.followTo(GOAL);
    const before = checked(drive);
    drive.navigator.start('a', plan);
    await drive.run(1000);
    expect(checked(drive) - before).toBeGreaterThanOrEqual(9);
    expect(drive.updates.filter((u) => u.status === 'failed')).toEqual([]);
  });

  it('sees somebody who has come into the way before it sets off', async () => {
    const drive = await rested();
    drive.robot.things = [{ x: 2, y: 1.2, radius: 0.2 }];
    await drive.run(2000);
    const near = drive.navigator.view().obstacles.filter((p) => distance(p, { x: 2, y: 1.2 }) < 0.4);
    expect(near.length).toBeGreaterThan(0);
  });

  it('notices in time that it was carried away', async () => {
    const drive = await rested();
    drive.robot.pose = { x: 6, y: 1.5, theta: 2 };
    await drive.run(3500);
    expect(drive.navigator.state().localized).toBe(false);
  });

  it('does not take an old scan for a new one when the lidar fell silent meanwhile', async () => {
    const drive = await rested();
    await drive.run(200);
    drive.robot.lidarDead = true;
    await drive.run(3000);
    const before = checked(drive);
    drive.navigator.start('a', { kind: 'spin', angle: 1, tolerance: 0.1 });
    await drive.run(500);
    expect(checked(drive)).toBe(before);
  });
});
