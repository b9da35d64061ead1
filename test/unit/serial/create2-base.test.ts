import { beforeEach, describe, expect, it } from 'vitest';
import { Create2Base, type Create2Options, STREAMED } from '../../../drivers/serial/create2/create2-base.js';
import { P } from '../../../drivers/serial/create2/packets.js';
import type { BaseFrame, LinkChange } from '../../../drivers/serial/types.js';
import { bench, oiFrame } from './support.js';

const STOP = '91 00 00 00 00';
const START = '80';
const SAFE = '83';
const FULL = '84';
const STREAM = `94 1B ${STREAMED.map((id) => id.toString(16).toUpperCase().padStart(2, '0')).join(' ')}`;
const PASSIVE_MODE = 1;
const SAFE_MODE = 2;
const FULL_MODE = 3;

type Report = Partial<Record<keyof typeof P, number>>;

/** The wire frame of a base at rest in safe mode, off its station, with what `report` changes. */
function wire(report: Report = {}): Uint8Array {
  const base: Report = {
    oiMode: SAFE_MODE,
    batteryCharge: 2000,
    batteryCapacity: 2500,
    voltage: 16100,
    current: -420,
    stasis: 0,
    ...report,
  };
  const byId = new Map(Object.entries(base).map(([name, value]) => [P[name as keyof typeof P], value]));
  return oiFrame(STREAMED.map((id) => [id, byId.get(id as never) ?? 0] as const));
}

async function connect(options: Partial<Create2Options> = {}) {
  const b = bench('base');
  const base = new Create2Base({ ...b.options, ...options });
  const frames: BaseFrame[] = [];
  const links: LinkChange[] = [];
  base.onFrame((f) => frames.push(f));
  base.onLink((l) => links.push(l));
  base.start();
  await b.settle();
  await b.clock.advanceAsync(30);
  return { ...b, base, frames, links, report: (r?: Report) => b.device.write(wire(r)) };
}

describe('opening a Create 2', () => {
  it('stops the wheels before anything else, then starts the interface and asks for the stream', async () => {
    const { take } = await connect();
    expect(take()).toEqual([STOP, START, STREAM]);
  });

  it('counts as connected from the first sound frame on, not from the open port', async () => {
    const { base, report, links } = await connect();
    expect(base.connected).toBe(false);
    report();
    expect(base.connected).toBe(true);
    expect(links.at(-1)).toEqual({ connected: true, reason: 'answers' });
  });

  it('asks for safe mode when a frame shows that the base does not drive', async () => {
    const { take, report, frames } = await connect();
    take();
    report({ oiMode: PASSIVE_MODE });
    expect(frames.at(-1)?.driveEnabled).toBe(false);
    expect(take()).toEqual([SAFE]);
    report({ oiMode: SAFE_MODE });
    expect(frames.at(-1)?.driveEnabled).toBe(true);
    expect(take()).toEqual([]);
  });

  it('leaves a base on its station in passive mode, in which it charges', async () => {
    const { take, report, base } = await connect();
    take();
    report({ oiMode: PASSIVE_MODE, chargingSources: 2, chargingState: 2 });
    expect(take()).toEqual([]);
    base.driveWheels(-0.1, -0.1);
    expect(take()).toEqual(['91 FF 9C FF 9C', SAFE]);
  });

  it('passes over the boot message of the base', async () => {
    const { device, report, base, frames } = await connect();
    device.write(new TextEncoder().encode('bl-start\r\nRoomba by iRobot!\r\n'));
    report();
    expect(frames).toHaveLength(1);
    expect(base.counters()).toMatchObject({ discarded_bytes: 29, frames: 1 });
  });
});

describe('reports of a Create 2', () => {
  it('carry bumps, cliffs, wheel drops, buttons, infrared and the battery', async () => {
    const { report, frames, clock } = await connect();
    report({
      bumpsWheelDrops: 0b1010,
      cliffFrontLeft: 1,
      buttons: 5,
      irOmni: 161,
      irRight: 164,
      overcurrents: 16,
    });
    expect(frames.at(-1)).toMatchObject({
      at: clock.now(),
      mono: clock.mono(),
      bumpLeft: true,
      bumpRight: false,
      wheelDropLeft: true,
      wheelDropRight: false,
      cliffFrontLeft: true,
      cliffLeft: false,
      overcurrentLeft: true,
      overcurrentRight: false,
      buttons: 5,
      irOmni: 161,
      irLeft: 0,
      irRight: 164,
      batteryPercent: 80,
      voltageMv: 16100,
      currentMa: -420,
      charging: false,
      docked: false,
    });
  });

  it('say docked with live contacts and charging with a charging state, each by itself', async () => {
    const { report, frames } = await connect();
    report({ chargingSources: 2, chargingState: 4 });
    expect(frames.at(-1)).toMatchObject({ docked: true, charging: false });
    report({ chargingSources: 2, chargingState: 3 });
    expect(frames.at(-1)).toMatchObject({ docked: true, charging: true });
    report({ chargingSources: 1, chargingState: 2 });
    expect(frames.at(-1)).toMatchObject({ docked: false, charging: true });
  });

  it('add up the wheels in metres, across the roll-over of the counter', async () => {
    const { report, frames } = await connect();
    report({ encoderA: 65_500, encoderB: 100 });
    report({ encoderA: 65_500 + 509 - 65_536, encoderB: 0 });
    // One turn of a 72 mm wheel is 508.8 counts.
    expect(frames.at(-1)?.wheelLeft).toBeCloseTo((Math.PI * 0.072 * 509) / 508.8, 6);
    expect(frames.at(-1)?.wheelRight).toBeCloseTo((-Math.PI * 0.072 * 100) / 508.8, 6);
  });

  it('go on from the same travel after the cable was out, without a jump', async () => {
    const { report, frames, device, clock } = await connect();
    report({ encoderA: 1000, encoderB: 1000 });
    report({ encoderA: 1100, encoderB: 1100 });
    const before = frames.at(-1)?.wheelLeft ?? 0;
    device.unplug();
    device.plug();
    await clock.advanceAsync(2500);
    report({ encoderA: 40, encoderB: 40 });
    expect(frames.at(-1)?.wheelLeft).toBe(before);
    report({ encoderA: 140, encoderB: 40 });
    expect(frames.at(-1)?.wheelLeft).toBeCloseTo(2 * before, 9);
  });

  it('count what the wheels turned while the cable was out for less time than the base takes to start', async () => {
    const { report, frames, device, clock } = await connect();
    report({ encoderA: 1000, encoderB: 1000 });
    device.unplug();
    device.plug();
    await clock.advanceAsync(900);
    report({ encoderA: 1509, encoderB: 1509 });
    expect(frames.at(-1)?.wheelLeft).toBeCloseTo((Math.PI * 0.072 * 509) / 508.8, 6);
  });

  it('are never made of a damaged frame', async () => {
    const { device, frames, base } = await connect();
    const damaged = wire({ bumpsWheelDrops: 3 });
    damaged[3] = (damaged[3] ?? 0) ^ 1;
    device.write(damaged);
    expect(frames).toEqual([]);
    expect(base.counters().checksum_errors).toBe(1);
  });
});

describe('driving a Create 2', () => {
  let rig: Awaited<ReturnType<typeof connect>>;
  beforeEach(async () => {
    rig = await connect();
    rig.report();
    rig.take();
  });

  it('sends the right wheel first, in mm/s', () => {
    expect(rig.base.driveWheels(0.2, -0.1)).toBe(true);
    expect(rig.take()).toEqual(['91 FF 9C 00 C8']);
  });

  it('slows both wheels alike when one is asked for more than the base can do', () => {
    rig.base.driveWheels(1, 0.5);
    expect(rig.take()).toEqual(['91 00 FA 01 F4']);
  });

  it('stops instead of driving with a speed that is not a number', () => {
    expect(rig.base.driveWheels(Number.NaN, 0.1)).toBe(false);
    expect(rig.take()).toEqual([STOP]);
    expect(rig.base.counters().drives_refused).toBe(1);
  });

  it('stops by itself when the speed is not renewed: the base has no watchdog', async () => {
    rig.base.driveWheels(0.2, 0.2);
    await advanceWithFrames(rig, 300);
    rig.base.driveWheels(0.2, 0.2);
    rig.take();
    await advanceWithFrames(rig, 480);
    expect(rig.take()).toEqual([]);
    await advanceWithFrames(rig, 30);
    expect(rig.take()).toEqual([STOP]);
    expect(rig.base.counters().deadman_stops).toBe(1);
  });

  it('does not stop twice once it was told to stop', async () => {
    rig.base.driveWheels(0.2, 0.2);
    rig.base.stopNow();
    rig.take();
    await advanceWithFrames(rig, 2000);
    expect(rig.take()).toEqual([]);
  });

  it('takes the base out of its drive mode when disabled, and back only when enabled', async () => {
    rig.base.disable();
    expect(rig.take()).toEqual([STOP, START]);
    expect(rig.base.driveWheels(0.1, 0.1)).toBe(false);
    rig.report({ oiMode: PASSIVE_MODE });
    await advanceWithFrames(rig, 3000, { oiMode: PASSIVE_MODE });
    expect(rig.take()).toEqual([]);
    rig.base.enable();
    expect(rig.take()).toEqual([SAFE]);
    expect(rig.base.counters().mode_lost).toBe(0);
  });

  it('stays disabled over a reconnection', async () => {
    rig.base.disable();
    rig.device.unplug();
    rig.device.plug();
    await rig.clock.advanceAsync(1000);
    rig.take();
    rig.report({ oiMode: PASSIVE_MODE });
    expect(rig.take()).toEqual([]);
    expect(rig.base.driveWheels(0.1, 0.1)).toBe(false);
  });

  it('insists on passive mode while a disabled base reports a drive mode', async () => {
    rig.base.disable();
    rig.take();
    await advanceWithFrames(rig, 240, { oiMode: SAFE_MODE });
    expect(rig.take()).toEqual([START]);
  });
});

describe('the drive mode of a Create 2', () => {
  it('is asked for again after the base fell back at a cliff, so that it can back off', async () => {
    const rig = await connect();
    rig.report();
    rig.take();
    rig.report({ oiMode: PASSIVE_MODE, cliffFrontRight: 1 });
    expect(rig.take()).toEqual([SAFE]);
    expect(rig.base.counters().mode_lost).toBe(1);
  });

  it('is not asked for while a wheel hangs in the air', async () => {
    const rig = await connect();
    rig.report();
    rig.take();
    await advanceWithFrames(rig, 1000, { oiMode: PASSIVE_MODE, bumpsWheelDrops: 8 });
    expect(rig.take()).toEqual([]);
    rig.report({ oiMode: PASSIVE_MODE });
    expect(rig.take()).toEqual([SAFE]);
  });

  it('is asked for ever more rarely by a base that refuses', async () => {
    const rig = await connect();
    rig.take();
    await advanceWithFrames(rig, 60_000, { oiMode: PASSIVE_MODE });
    const asked = rig.take().filter((bytes) => bytes === SAFE).length;
    expect(asked).toBeGreaterThan(15);
    expect(asked).toBeLessThan(30);
  });

  it('is full mode on contacts that end safe mode, and safe mode again off them', async () => {
    const rig = await connect();
    rig.take();
    const docked = { oiMode: PASSIVE_MODE, chargingSources: 2 };
    for (let i = 0; i < 12; i++) {
      rig.base.driveWheels(-0.1, -0.1);
      await advanceWithFrames(rig, 60, docked);
    }
    const modes = rig.take().filter((bytes) => bytes === SAFE || bytes === FULL);
    expect(modes.slice(0, 3)).toEqual([SAFE, SAFE, FULL]);
    rig.report({ oiMode: FULL_MODE, chargingSources: 2 });
    expect(rig.take()).toEqual([]);
    rig.report({ oiMode: FULL_MODE });
    expect(rig.take()).toEqual([SAFE]);
  });

  it('is full mode also where safe mode is granted and ended at once', async () => {
    const rig = await connect();
    rig.take();
    for (let i = 0; i < 60; i++) {
      rig.base.driveWheels(-0.1, -0.1);
      await advanceWithFrames(rig, 15, { oiMode: i % 2 ? SAFE_MODE : PASSIVE_MODE, chargingSources: 2 });
    }
    expect(rig.take()).toContain(FULL);
  });

  it('is given up for charging two seconds after the last drive onto the station', async () => {
    const rig = await connect();
    rig.report();
    rig.base.driveWheels(0.05, 0.05);
    rig.base.stopNow();
    rig.take();
    await advanceWithFrames(rig, 1900, { chargingSources: 2 });
    expect(rig.take()).toEqual([]);
    await advanceWithFrames(rig, 200, { chargingSources: 2 });
    expect(rig.take()).toEqual([START]);
  });
});

describe('a silent or absent Create 2', () => {
  it('is stopped and started anew when its stream ends', async () => {
    const { take, clock, base, report, links } = await connect();
    report();
    take();
    await clock.advanceAsync(340);
    expect(take()).toEqual([STOP, START, STREAM]);
    expect(base.connected).toBe(false);
    expect(links.at(-1)?.reason).toMatch(/nothing valid/);
    expect(base.counters()).toMatchObject({ stream_restarts: 1, silences: 1 });
    report();
    expect(base.connected).toBe(true);
  });

  it('has its port opened anew when restarting the stream does not help', async () => {
    const { clock, base } = await connect();
    await clock.advanceAsync(4000);
    expect(base.counters().reconnects).toBeGreaterThanOrEqual(1);
  });

  it('is stopped first when the cable is back', async () => {
    const { take, clock, device, report, base } = await connect();
    report();
    base.driveWheels(0.3, 0.3);
    device.unplug();
    expect(base.connected).toBe(false);
    expect(base.stopNow()).toBe(false);
    expect(base.driveWheels(0.3, 0.3)).toBe(false);
    take();
    device.plug();
    await clock.advanceAsync(400);
    expect(take()[0]).toBe(STOP);
  });

  it('is stopped and let go when the driver stops', async () => {
    const { take, base, report, device } = await connect();
    report();
    take();
    await base.stop();
    expect(take()).toEqual([STOP, 'AD']);
    expect(device.hostConnected).toBe(false);
  });
});

/** Lets time pass with a frame every 15 ms, as a base sends them. */
async function advanceWithFrames(
  rig: Awaited<ReturnType<typeof connect>>,
  ms: number,
  report?: Report,
): Promise<void> {
  for (let t = 0; t < ms; t += 15) {
    rig.clock.advance(15);
    rig.report(report);
  }
  await rig.settle();
}
