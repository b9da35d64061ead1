import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEG_RADIUS } from '../../../simulator/world/gait.js';
import { worldFromText } from '../../../simulator/world/index.js';
import { LIDAR_MAX } from '../../../simulator/world/lidar.js';
import { SegmentField } from '../../../simulator/world/segment-field.js';
import { squareRoom, squareWorld } from './homes.js';

const deg = (d: number) => (d * Math.PI) / 180;

/** Every segment tested, nothing clever. */
function castSlowly(ends: readonly number[], x: number, y: number, angle: number, max: number): number {
  const dx = Math.cos(angle);
  const dy = Math.sin(angle);
  let best = max;
  for (let i = 0; i + 3 < ends.length; i += 4) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = ends.slice(i, i + 4);
    const det = dx * (by - ay) - dy * (bx - ax);
    if (det === 0) continue;
    const t = ((ax - x) * (by - ay) - (ay - y) * (bx - ax)) / det;
    const u = ((ax - x) * dy - (ay - y) * dx) / det;
    if (t >= 0 && t < best && u >= 0 && u <= 1) best = t;
  }
  return best;
}

describe('rays', () => {
  it('meet walls at the distance that geometry says', () => {
    const world = squareWorld([1.05, 2.05, 0]);
    const { pose } = world.body;
    const range = (d: number) => world.lidar.trueRange(pose, deg(d), []);
    expect(range(0)).toBeCloseTo(3.0, 9);
    expect(range(180)).toBeCloseTo(1.0, 9);
    expect(range(90)).toBeCloseTo(2.0, 9);
    expect(range(-90)).toBeCloseTo(2.0, 9);
    expect(range(30)).toBeCloseTo(3.0 / Math.cos(deg(30)), 9);
    expect(range(60)).toBeCloseTo(2.0 / Math.sin(deg(60)), 9);
  });

  it('turn with the robot', () => {
    const world = squareWorld([1.05, 2.05, Math.PI / 2]);
    expect(world.lidar.trueRange(world.body.pose, deg(-90), [])).toBeCloseTo(3.0, 9);
  });

  it('meet people and obstacles, and pass beside them', () => {
    const world = squareWorld([1.05, 2.05, 0]);
    world.visitors.addPerson({ x: 3.05, y: 2.05 });
    const range = (d: number) => world.lidar.trueRange(world.body.pose, deg(d), world.visitors.things);
    // Between the legs, at a leg, and beside them.
    expect(range(0)).toBeCloseTo(3.0, 9);
    expect(range((Math.atan2(0.1, 2) * 180) / Math.PI)).toBeCloseTo(Math.hypot(0.1, 2) - LEG_RADIUS, 9);
    expect(range(6)).toBeCloseTo(3.0 / Math.cos(deg(6)), 9);
    world.visitors.removePeople();
    expect(range(0)).toBeCloseTo(3.0, 9);
  });

  it('do not see furniture below the lidar, nor the dock', () => {
    const world = squareWorld(
      [1.05, 2.05, 0],
      'furniture: [{id: step, at: [3, 2.05], size: [0.2, 2], low: true}]',
    );
    expect(world.lidar.trueRange(world.body.pose, 0, [])).toBeCloseTo(3.0, 9);
    expect(world.lidar.trueRange(world.body.pose, Math.PI, [])).toBeCloseTo(1.0, 9);
  });

  it('agree with testing every segment, from anywhere in any direction', () => {
    const coordinate = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(coordinate, coordinate, coordinate, coordinate), { minLength: 1, maxLength: 30 }),
        fc.double({ min: -8, max: 8, noNaN: true }),
        fc.double({ min: -8, max: 8, noNaN: true }),
        fc.double({ min: -Math.PI, max: Math.PI, noNaN: true }),
        (segments, x, y, angle) => {
          const ends = segments.flat();
          const field = new SegmentField(ends, 0.25);
          const fast = field.cast(x, y, Math.cos(angle), Math.sin(angle), 12);
          expect(fast).toBeCloseTo(castSlowly(ends, x, y, angle, 12), 6);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a measurement', () => {
  function sample(world: ReturnType<typeof squareWorld>, bearing: number, n = 4000): number[] {
    return Array.from({ length: n }, () => world.lidar.measure(world.body.pose, bearing, []).range);
  }

  it('is off by about a centimetre, without bias', () => {
    const world = squareWorld([1.05, 2.05, 0]);
    const ranges = sample(world, 0).filter((r) => r > 0);
    const mean = ranges.reduce((a, b) => a + b, 0) / ranges.length;
    const sigma = Math.sqrt(ranges.reduce((a, r) => a + (r - mean) ** 2, 0) / ranges.length);
    expect(mean).toBeCloseTo(3.0, 2);
    expect(sigma).toBeGreaterThan(0.005);
    expect(sigma).toBeLessThan(0.02);
  });

  it('comes back with nothing now and then', () => {
    const world = squareWorld([1.05, 2.05, 0]);
    const lost = sample(world, 0).filter((r) => r === 0).length;
    expect(lost).toBeGreaterThan(5);
    expect(lost).toBeLessThan(100);
  });

  it('comes back with nothing from walls beyond 12 m', () => {
    const hall = squareRoom('start: [2, 2, 0]').replaceAll('4.1', '30.1');
    const world = worldFromText(hall);
    expect(world.lidar.trueRange(world.body.pose, 0, [])).toBe(LIDAR_MAX);
    expect(sample(world, 0, 200).every((r) => r === 0)).toBe(true);
    expect(sample(world, Math.PI, 200).some((r) => r > 1.9)).toBe(true);
  });

  it('comes back with nothing from a covered sector in front', () => {
    const world = squareWorld([1.05, 2.05, 0]);
    world.lidar.blockedSector = deg(60);
    expect(sample(world, deg(29), 200).every((r) => r === 0)).toBe(true);
    expect(sample(world, deg(-29), 200).every((r) => r === 0)).toBe(true);
    expect(sample(world, deg(31), 200).some((r) => r > 0)).toBe(true);
  });
});
