/**
 * The project's drivers against the simulated devices: two readings of the same public protocols, written
 * without knowledge of each other.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Scan } from '../../../config/contracts/amr.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { Create2Base } from '../../../drivers/serial/create2/create2-base.js';
import { Ld19Lidar } from '../../../drivers/serial/ld19/ld19-lidar.js';
import { ModbusFan } from '../../../drivers/serial/modbus-fan/modbus-fan.js';
import type { AirReading, BaseFrame, SerialDriver } from '../../../drivers/serial/types.js';
import { Zphs01bSensor } from '../../../drivers/serial/zphs01b/zphs01b-sensor.js';
import { DEFAULT_FAN_OPTIONS } from '../../../simulator/devices/index.js';
import { createWorld } from '../../../simulator/world/index.js';
import type { World } from '../../../simulator/world/world.js';
import { rigOf, squareWorld } from './homes.js';

const TICK = 15;
const drivers: SerialDriver[] = [];
afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.stop();
});

function robot(world: World) {
  const rig = rigOf(world);
  const clock = new SimClock(1_790_000_000_000);
  const options = (name: 'base' | 'lidar' | 'air' | 'fan') => ({
    open: rig.ports.open[name],
    clock,
    random: () => 0.5,
    name,
  });
  const started = <T extends SerialDriver>(driver: T): T => {
    drivers.push(driver);
    driver.start();
    return driver;
  };
  const pass = async (ms: number) => {
    for (let t = 0; t < ms; t += TICK) {
      world.step(TICK);
      await clock.advanceAsync(TICK);
    }
  };
  return { ...rig, clock, options, started, pass };
}

/** Renews the drive command every 60 ms, as a control loop does. */
async function keepDriving(r: ReturnType<typeof robot>, base: Create2Base, speed: number, ms: number) {
  for (let t = 0; t < ms; t += 60) {
    base.driveWheels(speed, speed);
    await r.pass(60);
  }
}

describe('the Create 2 driver', () => {
  it('drives the simulated base and reads its encoders, bumper, battery and mode', async () => {
    const r = robot(squareWorld([3, 2, 0]));
    const base = r.started(new Create2Base(r.options('base')));
    const frames: BaseFrame[] = [];
    base.onFrame((frame) => frames.push(frame));
    await r.pass(1500);
    expect(base.connected).toBe(true);
    expect(frames.at(-1)).toMatchObject({
      docked: false,
      charging: false,
      bumpLeft: false,
      driveEnabled: true,
    });
    await keepDriving(r, base, 0.2, 3000);
    const moved = frames.at(-1);
    expect(moved?.wheelLeft).toBeCloseTo(r.world.body.turned.left, 1);
    await keepDriving(r, base, 0.2, 3000);
    expect(frames.at(-1)).toMatchObject({ bumpLeft: true, bumpRight: true });
    base.stopNow();
    await r.pass(600);
    expect(r.devices.base.last('drive_direct')?.values).toEqual([0, 0]);
    expect(r.world.body.wheels).toEqual({ left: 0, right: 0 });
    expect(Math.abs((frames.at(-1)?.batteryPercent ?? 0) - r.world.battery.percent)).toBeLessThan(1.5);
    expect(base.counters().checksum_errors ?? 0).toBe(0);
  });

  it('sees the home base, lets it charge, backs off it, and counts damaged frames', async () => {
    const r = robot(createWorld());
    r.world.battery.set(70);
    const base = r.started(new Create2Base(r.options('base')));
    const frames: BaseFrame[] = [];
    base.onFrame((frame) => frames.push(frame));
    await r.pass(6000);
    expect(frames.at(-1)).toMatchObject({ docked: true, charging: true, irOmni: 173 });
    await keepDriving(r, base, -0.1, 3500);
    expect(r.world.docked).toBe(false);
    expect(frames.at(-1)).toMatchObject({ docked: false, charging: false });
    const before = frames.length;
    r.devices.base.faults.noise = 0.2;
    await r.pass(3000);
    expect(frames.length - before).toBeGreaterThan(100);
    expect(frames.length - before).toBeLessThan(190);
  });
});

describe('the LD19 driver', () => {
  it('sees the room as it is, in base_link, ten times a second', async () => {
    const r = robot(squareWorld([1.05, 2.55, 0]));
    const lidar = r.started(new Ld19Lidar(r.options('lidar')));
    const scans: Scan[] = [];
    lidar.onScan((scan) => scans.push(scan));
    await r.pass(3000);
    expect(scans.length).toBeGreaterThanOrEqual(27);
    expect(scans.length).toBeLessThanOrEqual(30);
    const last = scans.at(-1);
    if (last === undefined) throw new Error('no scan');
    let seen = 0;
    last.ranges.forEach((range, i) => {
      if (!(range > 0)) return;
      seen += 1;
      const bearing = last.angleMin + i * last.angleIncrement;
      expect(Math.abs(range - r.world.lidar.trueRange(r.world.body.pose, bearing, []))).toBeLessThan(0.15);
    });
    expect(seen / last.ranges.length).toBeGreaterThan(0.9);
  });

  it('goes on with one frame in ten damaged', async () => {
    const r = robot(squareWorld([1.05, 2.55, 0]));
    r.devices.lidar.faults.noise = 0.1;
    const lidar = r.started(new Ld19Lidar(r.options('lidar')));
    const scans: Scan[] = [];
    lidar.onScan((scan) => scans.push(scan));
    await r.pass(3000);
    expect(scans.length).toBeGreaterThan(20);
    const counted = Object.values(lidar.counters()).reduce((a, b) => a + b, 0);
    expect(counted).toBeGreaterThan(50);
  });
});

describe('the ZPHS01B driver', () => {
  it('reads the air of the room', async () => {
    const r = robot(createWorld());
    const sensor = r.started(new Zphs01bSensor({ ...r.options('air'), warmUpMs: 10_000 }));
    const readings: AirReading[] = [];
    sensor.onReading((reading) => readings.push(reading));
    await r.pass(30_000);
    const truth = r.world.air.rooms[1];
    const last = readings.at(-1);
    expect(last?.warmingUp).toBe(false);
    expect(Math.abs((last?.pm2_5 ?? 0) - (truth?.pm2_5 ?? 0))).toBeLessThan(4);
    expect(Math.abs((last?.co2 ?? 0) - (truth?.co2 ?? 0))).toBeLessThan(40);
    expect(Math.abs((last?.temperature ?? 0) - (truth?.temperature ?? 0))).toBeLessThan(1);
    expect(Math.abs((last?.humidity ?? 0) - (truth?.humidity ?? 0))).toBeLessThan(3);
    expect(Math.abs((last?.hcho ?? 0) - (truth?.hcho ?? 0))).toBeLessThan(0.01);
  });
});

describe('the Modbus fan driver', () => {
  it('sets the speed and reads it back', async () => {
    const r = robot(squareWorld([2, 2, 0]));
    const { registers, unitId } = DEFAULT_FAN_OPTIONS;
    const fan = r.started(new ModbusFan({ ...r.options('fan'), registers, unitId }));
    await r.pass(600);
    const set = fan.setSpeed(60, 1);
    await r.pass(600);
    await set;
    expect(r.world.fan.setPointPercent).toBe(60);
    await r.pass(9000);
    const reading = fan.read();
    await r.pass(600);
    expect(await reading).toMatchObject({ setPointPercent: 60, fault: false, rpm: expect.closeTo(1440, -1) });
    const off = fan.setSpeed(0);
    await r.pass(6000);
    await off;
    expect(r.world.fan.rpm).toBe(0);
    await settle();
  });
});
