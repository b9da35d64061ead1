import { describe, expect, it } from 'vitest';
import { hostOn, rigOf, run, squareWorld } from './homes.js';

describe('the battery', () => {
  it('drains faster while driving and purifying', () => {
    const drained = [
      { wheels: 0, fan: 0 },
      { wheels: 0.02, fan: 0 },
      { wheels: 0.02, fan: 100 },
    ].map(({ wheels, fan }) => {
      const world = squareWorld([2, 2, 0]);
      world.body.command.left = -wheels;
      world.body.command.right = wheels;
      world.fan.setPointPercent = fan;
      run(world, 600_000, 100);
      return 100 - world.battery.percent;
    });
    expect(drained[0]).toBeGreaterThan(1);
    expect(drained[1]).toBeGreaterThan(drained[0] ?? 0);
    expect(drained[2]).toBeGreaterThan((drained[1] ?? 0) + 5);
  });

  it('empty, leaves the robot dead: wheels stop and nothing is sent', async () => {
    const rig = rigOf(squareWorld([2, 2, 0]));
    const base = await hostOn(rig, 'base');
    const lidar = await hostOn(rig, 'lidar');
    base.write(128, 132, 148, 1, 7, 145, 0, 50, 0, 50);
    run(rig.world, 300);
    expect(rig.world.body.wheels.left).toBeGreaterThan(0.04);
    rig.world.battery.set(0);
    run(rig.world, 600);
    expect(rig.world.body.wheels).toEqual({ left: 0, right: 0 });
    const sent = [base.received.length, lidar.received.length];
    run(rig.world, 600);
    expect([base.received.length, lidar.received.length]).toEqual(sent);
    expect(rig.devices.base.mode).toBe('off');
  });
});
