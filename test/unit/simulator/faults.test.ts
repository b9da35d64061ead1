import { describe, expect, it } from 'vitest';
import { createFaults } from '../../../simulator/faults/faults.js';
import { createWorld } from '../../../simulator/world/index.js';
import { hostOn, rigOf, run } from './homes.js';

function home() {
  const rig = rigOf(createWorld());
  const calls: string[][] = [];
  const faults = createFaults(rig.world, rig.devices, {
    extra: {
      network: (words) => {
        calls.push([...words]);
        return `network is ${words[0]}`;
      },
    },
  });
  return { ...rig, faults, calls, inject: (text: string) => faults.apply(text.split(' ')) };
}

describe('injected faults', () => {
  it('person: stands in the room by name or alias, also one of two words', () => {
    const { world, inject } = home();
    expect(inject('person 거실')).toMatch(/^a person stands in 거실 at \(/);
    inject('person main bedroom');
    expect(world.view().people.map((p) => p.room)).toEqual(['2', '4']);
    // Two legs each.
    expect(world.visitors.things).toHaveLength(4);
    expect(inject('remove-person')).toBe('all 2 people went away');
    expect(inject('remove-person')).toBe('nobody was there');
  });

  it('person: several in one room do not stand in each other, nor in the robot', () => {
    const { world, inject } = home();
    world.place({ x: 4.3, y: 5.0, theta: 0 });
    for (let i = 0; i < 5; i++) inject('person 거실');
    const all = [...world.visitors.people, { ...world.body.pose, radius: 0.17 }];
    all.forEach((a, i) => {
      for (const b of all.slice(i + 1)) {
        expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(a.radius + b.radius);
      }
    });
  });

  it('person-walks: goes from the first point over the others and stays at the last', () => {
    const { world, inject } = home();
    expect(inject('person-walks 0.8 4.3 4.4 5.3 4.4')).toMatch(/^a person walks from \(4\.30, 4\.40\)/);
    for (let i = 0; i < 300; i++) world.step(15);
    expect(world.view().people[0]?.x).toBeCloseTo(5.3, 1);
    expect(() => inject('person-walks 0.8 4.3 4.4')).toThrow(/usage/);
  });

  it('dirty-air: sets the dust of a room', () => {
    const { world, inject } = home();
    expect(inject('dirty-air 작은방 120')).toBe('PM2.5 in 작은방 is now 120 µg/m³');
    expect(world.air.rooms[4]?.pm2_5).toBe(120);
    expect(world.air.rooms[4]?.pm10).toBeGreaterThan(120);
  });

  it('battery, block-wheels, block-lidar: change the robot', () => {
    const { world, inject } = home();
    inject('battery 12');
    expect(world.battery.percent).toBeCloseTo(12);
    inject('block-wheels on');
    expect(world.body.wheelsBlocked).toBe(true);
    inject('block-wheels off');
    expect(world.body.wheelsBlocked).toBe(false);
    inject('block-lidar 90');
    expect(world.lidar.blockedSector).toBeCloseTo(Math.PI / 2);
  });

  it('unplug and plug: end the host’s connection and take a new one', async () => {
    const rig = home();
    const host = await hostOn(rig, 'lidar');
    expect(rig.inject('unplug lidar')).toBe('lidar is unplugged');
    expect(host.closed).toBe('unplugged');
    expect(rig.inject('unplug lidar')).toBe('lidar was unplugged already');
    expect(rig.inject('plug lidar')).toBe('lidar is plugged in');
    await hostOn(rig, 'lidar');
  });

  it('noise: damages frames of base or lidar', () => {
    const { devices, inject } = home();
    expect(inject('noise lidar 0.1')).toBe('10 % of the frames of lidar are damaged');
    expect(devices.lidar.faults.noise).toBe(0.1);
    expect(devices.base.faults.noise).toBe(0);
  });

  it('bump and cliff: press for a moment', () => {
    const { world, inject } = home();
    inject('bump left');
    inject('cliff');
    run(world, 30);
    expect(world.body.bump).toEqual({ left: true, right: false });
    expect(world.body.cliff.frontLeft).toBe(true);
    run(world, 2000);
    expect(world.body.bump.left || world.body.cliff.frontLeft).toBe(false);
  });

  it('estop: the CLEAN button is seen pressed by the host', async () => {
    const rig = home();
    const host = await hostOn(rig, 'base');
    host.write(128);
    rig.inject('estop');
    host.write(142, 18);
    run(rig.world, 60);
    expect(host.received).toEqual([1]);
  });

  it('obstacle: stands in the way until it is cleared, and is not put into walls or the robot', () => {
    const { world, inject } = home();
    expect(inject('obstacle 3.5 1.5')).toMatch(/stands at \(3\.50, 1\.50\)/);
    expect(world.view().obstacles).toMatchObject([{ x: 3.5, y: 1.5 }]);
    expect(() => inject('obstacle 0 3.5')).toThrow(/does not fit/);
    expect(() => inject('obstacle 2.3 0.8')).toThrow(/does not fit/);
    expect(() => inject('obstacle 40 1')).toThrow(/X: found "40"; it must be a number from/);
    expect(inject('obstacle clear')).toBe('the obstacle was taken away');
  });

  it('dark: switches the light of a room off and on', () => {
    const { world, inject } = home();
    inject('dark 안방');
    expect(world.view().darkRooms).toEqual(['4']);
    inject('dark 안방 off');
    expect(world.view().darkRooms).toEqual([]);
  });

  it('of others are handed to their handlers', () => {
    const { calls, inject } = home();
    expect(inject('network down')).toBe('network is down');
    expect(calls).toEqual([['down']]);
  });

  it('stand in the world trace', () => {
    const { world, inject } = home();
    run(world, 30);
    inject('person 주방');
    expect(world.trace().at(-1)).toBe('2 inject person 주방');
  });

  const wrong: [string, RegExp][] = [
    ['explode', /unknown fault "explode"; known are: person, remove-person/],
    ['constructor', /unknown fault/],
    ['person', /usage: person ROOM/],
    ['person 옥상', /no room "옥상" in this world; there are: 현관/],
    ['dirty-air 거실', /usage: dirty-air/],
    ['dirty-air 거실 lots', /PM25: found "lots"; it must be a number from 0 to 1000/],
    ['dirty-air 거실 NaN', /PM25: found "NaN"/],
    ['battery', /usage: battery PCT/],
    ['battery 101', /PCT: found "101"; it must be a number from 0 to 100/],
    ['unplug mouse', /found "mouse"; allowed are: base, lidar, air, fan/],
    ['block-wheels maybe', /found "maybe"; allowed are: on, off/],
    ['noise air 0.1', /found "air"; allowed are: base, lidar/],
    ['noise base 2', /RATE: found "2"; it must be a number from 0 to 1/],
    ['bump top', /found "top"; allowed are: left, right/],
    ['cliff now', /usage: cliff/],
    ['obstacle 1', /usage: obstacle X Y/],
  ];
  for (const [text, message] of wrong) {
    it(`refuse "${text}" and say what is allowed`, () => {
      const { world, inject } = home();
      expect(() => inject(text)).toThrow(message);
      expect(world.trace()).toEqual([]);
    });
  }

  it('have a line of help each', () => {
    const { faults } = home();
    expect(faults.usage()).toContain('network up|down');
    expect(faults.usage().some((u) => u.startsWith('obstacle X Y'))).toBe(true);
  });
});
