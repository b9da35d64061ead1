import { describe, expect, it } from 'vitest';
import { LEG_RADIUS } from '../../../simulator/world/gait.js';
import { run, squareWorld } from './homes.js';

/** What the lidar meets of somebody, from in front, by scanning the sector they stand in. */
function hits(world: ReturnType<typeof squareWorld>): { y: number; range: number }[] {
  const { pose } = world.body;
  const found: { y: number; range: number }[] = [];
  for (let d = -15; d <= 15; d += 0.8) {
    const bearing = (d * Math.PI) / 180;
    const range = world.lidar.trueRange(pose, bearing, world.visitors.things);
    if (range < 2.5) found.push({ y: range * Math.sin(bearing), range });
  }
  return found;
}

describe('a person in the lidar', () => {
  it('is two legs of a shin’s width, with a gap between them', () => {
    const world = squareWorld([1, 2, 0]);
    world.visitors.addPerson({ x: 3, y: 2 });
    const ys = hits(world).map(({ y }) => y);
    expect(ys.some((y) => y > 0.05)).toBe(true);
    expect(ys.some((y) => y < -0.05)).toBe(true);
    expect(ys.every((y) => Math.abs(y) > 0.03 && Math.abs(y) < 0.17)).toBe(true);
  });

  it('walks: the legs swing past each other, about a step apart at their widest, and close again at rest', () => {
    const world = squareWorld([0.5, 0.5, 0]);
    const person = world.visitors.addPerson(
      { x: 1, y: 2 },
      { walk: [{ x: 3.2, y: 2 }], speed: 0.6, again: false },
    );
    const spreads: number[] = [];
    for (let i = 0; i < 400 && person.x < 3.19; i++) {
      run(world, 15);
      const [left, right] = person.gait.legs;
      spreads.push(left.x - right.x);
    }
    expect(Math.max(...spreads)).toBeGreaterThan(0.3);
    expect(Math.min(...spreads)).toBeLessThan(-0.3);
    run(world, 2_000);
    expect(person.x).toBeCloseTo(3.2, 1);
    expect(person.gait.swing).toBe(0);
    expect(person.gait.legs.every((leg) => leg.radius === LEG_RADIUS)).toBe(true);
  });

  it('walks the same way each time', () => {
    const walk = () => {
      const world = squareWorld([0.5, 0.5, 0]);
      const person = world.visitors.addPerson(
        { x: 1, y: 2 },
        {
          walk: [
            { x: 3, y: 3 },
            { x: 1, y: 2 },
          ],
        },
      );
      run(world, 9_000);
      return person.gait;
    };
    expect(walk()).toEqual(walk());
  });

  it('never swings a leg into the robot', () => {
    const world = squareWorld([2, 2, 0]);
    const person = world.visitors.addPerson(
      { x: 1, y: 2 },
      { walk: [{ x: 3.5, y: 2 }], speed: 1, again: false },
    );
    for (let i = 0; i < 500; i++) {
      world.step(15);
      for (const leg of person.gait.legs) {
        expect(Math.hypot(leg.x - 2, leg.y - 2)).toBeGreaterThan(0.17 + LEG_RADIUS);
      }
      expect(world.body.touching).toBe(false);
    }
  });
});
