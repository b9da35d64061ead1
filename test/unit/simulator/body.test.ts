import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorld } from '../../../simulator/world/index.js';
import { ROBOT } from '../../../simulator/world/layout.js';
import type { World } from '../../../simulator/world/world.js';
import { run, squareWorld } from './homes.js';

function drive(world: World, left: number, right: number, ms: number): void {
  world.body.command.left = left;
  world.body.command.right = right;
  run(world, ms, 5);
}

/** How many things the robot is in, more than by a micrometre. */
function intrusions(world: World, near: Int32Array): number {
  const { x, y } = world.body.pose;
  const inWalls = world.layout.solid.near(x, y, ROBOT.radius - 1e-6, near);
  const inThings = world.visitors.things.filter(
    (t) => Math.hypot(t.x - x, t.y - y) < ROBOT.radius + t.radius - 1e-6,
  );
  return inWalls + inThings.length;
}

/** Metres that a wheel turned, from its encoder counts. */
function metres(counts: number): number {
  return (((counts << 16) >> 16) / ROBOT.countsPerRev) * Math.PI * ROBOT.wheelDiameter;
}

describe('the body on a free floor', () => {
  it('drives straight when both wheels turn alike, within its slip', () => {
    const world = squareWorld([0.5, 2, 0]);
    drive(world, 0.2, 0.2, 10_000);
    drive(world, 0, 0, 500);
    expect(world.body.pose.x).toBeGreaterThan(2.4);
    expect(world.body.pose.x).toBeLessThan(2.6);
    expect(Math.abs(world.body.pose.y - 2)).toBeLessThan(0.08);
    expect(Math.abs(world.body.pose.theta)).toBeLessThan(0.08);
  });

  it('turns on the spot when the wheels turn against each other', () => {
    const world = squareWorld([2, 2, 0]);
    const w = (2 * 0.1) / ROBOT.wheelBase;
    drive(world, -0.1, 0.1, Math.round(((Math.PI / 2) * 1000) / w / 5) * 5);
    drive(world, 0, 0, 500);
    expect(world.body.pose.theta).toBeCloseTo(Math.PI / 2, 1);
    expect(Math.hypot(world.body.pose.x - 2, world.body.pose.y - 2)).toBeLessThan(0.01);
  });

  it('follows its set-point with a lag, and stands still at the end', () => {
    const world = squareWorld([0.5, 2, 0]);
    drive(world, 0.3, 0.3, 50);
    expect(world.body.wheels.left).toBeGreaterThan(0.02);
    expect(world.body.wheels.left).toBeLessThan(0.25);
    drive(world, 0.3, 0.3, 950);
    expect(world.body.wheels.left).toBeCloseTo(0.3, 2);
    drive(world, 0, 0, 600);
    const { x } = world.body.pose;
    expect(world.body.wheels).toEqual({ left: 0, right: 0 });
    drive(world, 0, 0, 1000);
    expect(world.body.pose.x).toBe(x);
  });

  it('has encoders that agree with the way driven to about one per cent, not exactly', () => {
    const errors = [1, 2, 3, 4, 5].map((seed) => {
      const world = squareWorld([0.5, 2, 0], '', seed);
      drive(world, 0.2, 0.2, 12_000);
      const driven = Math.hypot(world.body.pose.x - 0.5, world.body.pose.y - 2);
      const counted = (metres(world.body.encoder('left')) + metres(world.body.encoder('right'))) / 2;
      return (driven - counted) / driven;
    });
    for (const error of errors) expect(Math.abs(error)).toBeLessThan(0.02);
    expect(errors.some((e) => Math.abs(e) > 0.0005)).toBe(true);
  });

  it('counts whole encoder steps that wrap around at 16 bits, also backwards', () => {
    const world = squareWorld([2, 2, 0]);
    drive(world, -0.1, -0.1, 1000);
    const back = world.body.encoder('left');
    expect(Number.isInteger(back)).toBe(true);
    expect(back).toBeGreaterThan(65_536 - 300);
    expect(metres(back)).toBeCloseTo(world.body.turned.left, 3);
  });
});

describe('the body against things', () => {
  it('is stopped by a wall with its bumper pressed, while the wheels turn on', () => {
    const world = squareWorld([3, 2, 0]);
    drive(world, 0.2, 0.2, 6000);
    expect(world.body.pose.x).toBeCloseTo(4.05 - ROBOT.radius, 3);
    expect(world.body.bump).toEqual({ left: true, right: true });
    expect(world.body.turned.left).toBeGreaterThan(1.1);
    expect(world.trace().filter((l) => l.endsWith(' collision'))).toHaveLength(1);
    drive(world, -0.1, -0.1, 500);
    expect(world.body.bump).toEqual({ left: false, right: false });
  });

  it('slides along a wall that it meets at a slant, with one side of the bumper pressed', () => {
    const world = squareWorld([2, 3.6, 0.6]);
    drive(world, 0.2, 0.2, 3000);
    expect(world.body.pose.y).toBeCloseTo(4.05 - ROBOT.radius, 3);
    expect(world.body.pose.x).toBeGreaterThan(2.3);
    expect(world.body.bump).toEqual({ left: true, right: false });
  });

  it('is stopped by a person, and does not push one', () => {
    const world = squareWorld([1, 2, 0]);
    world.visitors.addPerson({ x: 2, y: 2.1 });
    drive(world, 0.3, 0.3, 3000);
    const [person] = world.visitors.people;
    expect(person).toMatchObject({ x: 2, y: 2.1 });
    expect(world.trace().some((l) => /bumper (left|both)/.test(l))).toBe(true);
  });

  it('feels low furniture that the lidar does not see', () => {
    const world = squareWorld([1, 2, 0], 'furniture: [{id: step, at: [3, 2], size: [0.2, 1], low: true}]');
    drive(world, 0.2, 0.2, 12_000);
    expect(world.body.pose.x).toBeCloseTo(2.9 - ROBOT.radius, 3);
    expect(world.body.bump.left && world.body.bump.right).toBe(true);
  });

  it('never gets into anything, whatever it is told', () => {
    const speed = fc.double({ min: -0.5, max: 0.5, noNaN: true });
    const leg = fc.tuple(speed, speed, fc.integer({ min: 50, max: 3000 }));
    fc.assert(
      fc.property(
        fc.array(leg, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        (legs, seed) => {
          const world = createWorld(undefined, { seed });
          world.visitors.addPerson({ x: 4.0, y: 1.4 });
          const near = new Int32Array(64);
          let inside = 0;
          for (const [left, right, ms] of legs) {
            world.body.command.left = left;
            world.body.command.right = right;
            for (let t = 0; t < ms; t += 15) {
              world.step(15);
              inside += intrusions(world, near);
            }
          }
          expect(inside).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('has wheels that do not turn, and too much current, while they are held', () => {
    const world = squareWorld([2, 2, 0]);
    world.body.wheelsBlocked = true;
    drive(world, 0.2, 0.2, 1000);
    expect(world.body.pose).toEqual({ x: 2, y: 2, theta: 0 });
    expect(world.body.encoder('left')).toBe(0);
    expect(world.body.overcurrent).toEqual({ left: true, right: true });
    world.body.wheelsBlocked = false;
    drive(world, 0.2, 0.2, 1000);
    expect(world.body.overcurrent).toEqual({ left: false, right: false });
    expect(world.body.pose.x).toBeGreaterThan(2.1);
  });
});

describe('steps down', () => {
  const step = 'cliffs: [{id: step, polygon: [[3, 0.05], [4.05, 0.05], [4.05, 4.05], [3, 4.05]]}]';

  it('are seen by the front sensors before a wheel drops', () => {
    const world = squareWorld([2.5, 2, 0], step);
    drive(world, 0.1, 0.1, 4000);
    expect(world.body.cliff).toMatchObject({ frontLeft: true, frontRight: true });
    expect(world.body.wheelDrop).toEqual({ left: false, right: false });
  });

  it('catch a robot that drives on: the wheels drop and turn in the air', () => {
    const world = squareWorld([2.5, 2, 0], step);
    drive(world, 0.2, 0.2, 20_000);
    expect(world.body.wheelDrop).toEqual({ left: true, right: true });
    expect(world.body.pose.x).toBeLessThan(3.1);
    expect(world.body.turned.left).toBeGreaterThan(3);
  });
});

describe('people who walk', () => {
  it('go there and back, and wait for the robot instead of walking into it', () => {
    const world = squareWorld([2, 1, 0], 'people: [{id: p, at: [1, 3], walk: [[3, 3]], speed: 0.5}]');
    const xs: number[] = [];
    for (let i = 0; i < 40; i++) {
      run(world, 500);
      xs.push(world.visitors.people[0]?.x ?? 0);
    }
    expect(Math.max(...xs)).toBeGreaterThan(2.8);
    expect(Math.min(...xs.slice(10))).toBeLessThan(1.2);
    world.place({ x: 2, y: 3, theta: 0 });
    for (let i = 0; i < 400; i++) {
      world.step(15);
      const [person] = world.visitors.people;
      expect(Math.abs((person?.x ?? 0) - 2)).toBeGreaterThan(ROBOT.radius + (person?.radius ?? 0));
    }
  });
});
