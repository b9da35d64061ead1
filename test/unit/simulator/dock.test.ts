import { describe, expect, it } from 'vitest';
import { compose, type Pose } from '../../../config/contracts/geometry.js';
import { worldFromText } from '../../../simulator/world/index.js';
import { hostOn, rigOf, run, squareRoom } from './homes.js';

const STATION: Pose = { x: 0.05 + 0.06 + 0.17, y: 2.05, theta: Math.PI };
const RED = 8;
const GREEN = 4;
const FIELD = 1;

/** Puts the robot `ahead` of the station and `aside` (positive to the left of one who looks at the base). */
function worldAt(ahead: number, aside: number, turn = 0, extra = '') {
  const world = worldFromText(squareRoom(extra));
  world.place(compose(STATION, { x: -ahead, y: aside, theta: turn }));
  return world;
}

describe('the charging contacts', () => {
  it('meet when the robot stands on the station, facing the wall', () => {
    const world = worldFromText(squareRoom());
    expect(world.body.pose).toMatchObject({ x: expect.closeTo(STATION.x), y: 2.05 });
    expect(world.docked).toBe(true);
    expect(world.body.bump).toEqual({ left: false, right: false });
  });

  it('do not meet 2 cm in front, 4 cm aside, or 12° turned', () => {
    expect(worldAt(0.02, 0).docked).toBe(false);
    expect(worldAt(0, 0.04).docked).toBe(false);
    expect(worldAt(0, 0, 0.21).docked).toBe(false);
    expect(worldAt(0.005, 0.02, 0.1).docked).toBe(true);
  });

  it('open when the robot backs off, and meet again when it drives on straight, without a bump', () => {
    const world = worldFromText(squareRoom());
    world.body.command.left = -0.1;
    world.body.command.right = -0.1;
    run(world, 3000);
    expect(world.docked).toBe(false);
    world.body.command.left = 0.1;
    world.body.command.right = 0.1;
    for (let i = 0; i < 400 && !world.docked; i++) world.step(15);
    world.body.command.left = 0;
    world.body.command.right = 0;
    run(world, 1000);
    expect(world.docked).toBe(true);
    expect(
      world
        .trace()
        .filter((l) => /dock|bump/.test(l))
        .map((l) => l.replace(/^\d+ /, '')),
    ).toEqual(['undocked', 'docked']);
  });

  it('are missed by a robot that comes in askew: it bumps', () => {
    const world = worldAt(0.3, 0.06);
    world.body.command.left = 0.1;
    world.body.command.right = 0.1;
    run(world, 6000);
    expect(world.docked).toBe(false);
    expect(world.body.bump.left || world.body.bump.right).toBe(true);
  });

  it('charge the battery', () => {
    const world = worldFromText(squareRoom());
    world.battery.set(50);
    run(world, 600_000, 100);
    expect(world.battery.percent).toBeGreaterThan(55);
    expect(world.battery.voltage).toBeGreaterThan(14_000);
  });
});

describe('the infrared of the home base', () => {
  it('gives both beams and the force field straight in front and near', () => {
    expect(worldAt(0.4, 0).infrared()).toEqual({ omni: 173, left: 173, right: 173 });
  });

  it('gives both beams without the force field straight in front and farther off', () => {
    expect(worldAt(1.2, 0).infrared().omni).toBe(160 + RED + GREEN);
  });

  it('gives only green to the left and only red to the right of one who looks at the base', () => {
    expect(worldAt(1.2, 0.35).infrared().omni).toBe(160 + GREEN);
    expect(worldAt(1.2, -0.35).infrared().omni).toBe(160 + RED);
    expect(worldAt(0.1, 0.4).infrared().omni).toBe(160 + FIELD);
  });

  it('is received by the side that looks at it, and by both when the robot faces it', () => {
    const turnedRight = worldAt(1.2, 0, -0.6).infrared();
    expect(turnedRight).toMatchObject({ left: 172, right: 0, omni: 172 });
    const turnedLeft = worldAt(1.2, 0, 0.6).infrared();
    expect(turnedLeft).toMatchObject({ left: 0, right: 172, omni: 172 });
    expect(worldAt(1.2, 0, Math.PI).infrared()).toMatchObject({ left: 0, right: 0, omni: 172 });
  });

  it('is not received far off, behind a person, or behind furniture', () => {
    expect(worldAt(2.5, 0).infrared().omni).toBe(0);
    const behindPerson = worldAt(1.2, 0);
    behindPerson.visitors.addPerson({ x: 0.7, y: 2.15 });
    expect(behindPerson.infrared().omni).toBe(0);
  });
});

describe('seek_dock', () => {
  const starts: [string, number, number, number][] = [
    ['straight in front', 1, 0, 0],
    ['to the left, turned away', 1.2, 0.3, 1],
    ['to the right, turned away', 1.2, -0.3, -1],
    ['with its back to the base', 1.3, 0.1, Math.PI],
  ];
  for (const [name, ahead, aside, turn] of starts) {
    it(`brings the robot home from ${name}`, async () => {
      const rig = rigOf(worldAt(ahead, aside, turn));
      const host = await hostOn(rig, 'base');
      host.write(128, 143);
      for (let i = 0; i < 6000 && !rig.world.docked; i++) rig.world.step(15);
      expect(rig.world.docked).toBe(true);
      run(rig.world, 500);
      expect(rig.world.body.wheels).toEqual({ left: 0, right: 0 });
      expect(rig.world.battery.charging).toBe(true);
    });
  }
});
