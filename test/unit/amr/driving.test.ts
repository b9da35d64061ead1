import { describe, expect, it } from 'vitest';
import { distance } from '../../../config/contracts/geometry.js';
import { Drive } from './support/drive.js';
import { flat } from './support/grids.js';

describe('driving through the flat', () => {
  it('passes the narrow door and ends within tolerance, with the wheels proven still', async () => {
    const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }, { seed: 3 }).settle();
    const goal = { x: 5.5, y: 3.8, theta: 0 };
    const end = await drive.goTo(goal);
    console.log(end, drive.error(), drive.robot.timeMs, drive.largest);
    expect(end.status).toBe('succeeded');
    expect(distance(drive.robot.pose, goal)).toBeLessThan(0.15);
    expect(drive.robot.collisions).toBe(0);
  });
});
