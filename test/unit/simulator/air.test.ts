import { describe, expect, it } from 'vitest';
import { createWorld, worldFromText } from '../../../simulator/world/index.js';
import type { World } from '../../../simulator/world/world.js';
import { run, squareRoom, squareWorld } from './homes.js';

const STILL = 'ventilation: 0\nceiling: 2.5';

function pm(world: World, room = 0): number {
  return world.air.rooms[room]?.pm2_5 ?? Number.NaN;
}

describe('the purifier', () => {
  it('cleans the room it stands in at its delivery rate: e-fold after volume over flow', () => {
    const world = squareWorld([2, 2, 0], STILL);
    world.air.makeDirty(0, 100);
    world.fan.setPointPercent = 100;
    run(world, 20_000);
    const before = pm(world);
    const volume = 4.1 * 4.1 * 2.5;
    const eFold = volume / (700 / 3600);
    run(world, 60_000);
    expect(pm(world) / before).toBeCloseTo(Math.exp(-60 / eFold), 1);
  });

  it('cleans more slowly at lower speed, and not at all when it stands', () => {
    const left = [0, 40, 100].map((percent) => {
      const world = squareWorld([2, 2, 0], STILL);
      world.air.makeDirty(0, 100);
      world.fan.setPointPercent = percent;
      run(world, 120_000);
      return pm(world);
    });
    expect(left[0]).toBeGreaterThan(97);
    expect(left[1]).toBeLessThan(85);
    expect(left[2]).toBeLessThan(60);
  });

  it('brings 안방 from its first grade to good within two minutes at 70 %', () => {
    const world = createWorld();
    world.place({ x: 2.6, y: 4.3, theta: 0 });
    world.fan.setPointPercent = 70;
    run(world, 120_000);
    const air = world.air.rooms[3];
    expect(air?.pm2_5).toBeLessThan(15);
    expect(air?.pm10).toBeLessThan(30);
    expect(world.trace().some((l) => l.endsWith('air 안방 moderate'))).toBe(true);
    expect(world.trace().some((l) => l.endsWith('air 안방 good'))).toBe(true);
  });

  it('has a rotor that takes time to come up and to stop', () => {
    const world = squareWorld([2, 2, 0]);
    world.fan.setPointPercent = 100;
    run(world, 300);
    expect(world.fan.rpm).toBeGreaterThan(100);
    expect(world.fan.rpm).toBeLessThan(1200);
    run(world, 9000);
    expect(world.fan.rpm).toBeCloseTo(2400, -1);
    world.fan.setPointPercent = 0;
    run(world, 1000);
    expect(world.fan.rpm).toBeGreaterThan(100);
    run(world, 4000);
    expect(world.fan.rpm).toBe(0);
  });
});

describe('the air of the home', () => {
  it('spreads dust through open doors, and slowly where two doors lie between', () => {
    const world = createWorld();
    world.air.makeDirty(3, 300);
    run(world, 600_000, 60);
    expect(pm(world, 3)).toBeLessThan(250);
    expect(pm(world, 1)).toBeGreaterThan(30);
    expect(pm(world, 2)).toBeGreaterThan(13);
    expect(pm(world, 2)).toBeLessThan(pm(world, 1));
  });

  it('moves towards the outdoor air by ventilation', () => {
    const world = squareWorld([2, 2, 0], 'ventilation: 2\noutdoor: {co2: 420}');
    const before = world.air.rooms[0]?.co2 ?? 0;
    const room = world.air.rooms[0];
    if (room !== undefined) room.co2 = 2000;
    run(world, 3_600_000, 100);
    expect(before).toBe(420);
    expect(world.air.rooms[0]?.co2).toBeCloseTo(420 + 1580 * Math.exp(-2), -1);
  });

  it('gets the breath of people and the smoke of cooking', () => {
    const cooking = 'sources: [{id: c, room: "1", start_s: 60, for_s: 60, emits: {pm2_5: 1000}}]';
    const world = worldFromText(squareRoom(`${STILL}\n${cooking}`));
    world.visitors.addPerson({ x: 3, y: 3 });
    const co2 = world.air.rooms[0]?.co2 ?? 0;
    run(world, 59_000);
    const before = pm(world);
    run(world, 61_000);
    const after = pm(world);
    run(world, 60_000);
    const volume = 4.1 * 4.1 * 2.5;
    expect(after - before).toBeCloseTo(1000 / volume, 0);
    expect(pm(world)).toBeLessThanOrEqual(after);
    expect((world.air.rooms[0]?.co2 ?? 0) - co2).toBeCloseTo((3 * 300) / volume, 0);
  });
});
