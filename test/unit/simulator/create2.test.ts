import { describe, expect, it } from 'vitest';
import {
  encodePacket,
  encodeStream,
  packetBytes,
  packetsOf,
} from '../../../simulator/devices/create2-packets.js';
import type { Device } from '../../../simulator/types.js';
import { createWorld, worldFromText } from '../../../simulator/world/index.js';
import { itWithSharedJson } from '../../support/shared-data.js';
import { type Host, hostOn, type Rig, rigOf, run, squareRoom, squareWorld } from './homes.js';

const START = 128;
const SAFE = 131;
const FULL = 132;
const DRIVE_DIRECT = 145;

async function base(world = squareWorld([2, 2, 0]), options: Parameters<typeof rigOf>[1] = {}) {
  const rig = rigOf(world, options);
  return { rig, host: await hostOn(rig, 'base') };
}

function word(value: number): [number, number] {
  return [(value >> 8) & 0xff, value & 0xff];
}

function driveDirect(host: Host, right: number, left: number): void {
  host.write(DRIVE_DIRECT, ...word(right), ...word(left));
}

/** Cuts stream frames out of what the host received; throws when anything else lies between them. */
function frames(bytes: readonly number[]): number[][] {
  const found: number[][] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = (bytes[at + 1] ?? 0) + 3;
    if (at + length > bytes.length) break;
    const frame = bytes.slice(at, at + length);
    const sum = frame.reduce((a, b) => a + b, 0) & 0xff;
    if (frame[0] !== 19 || sum !== 0) throw new Error(`no good frame at byte ${at}: ${frame}`);
    found.push(frame);
    at += length;
  }
  return found;
}

/** One answer to `sensors`. */
function ask(rig: Rig, host: Host, packet: number): number[] {
  host.received.length = 0;
  host.write(142, packet);
  run(rig.world, 30);
  return [...host.received];
}

function signed(bytes: readonly number[]): number {
  return ((((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) << 16) >> 16;
}

describe('sensor packets', () => {
  it('have the sizes of the specification, alone and in groups', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 100, 101, 106, 107].map(packetBytes)).toEqual([
      26, 10, 6, 10, 14, 12, 52, 80, 28, 12, 9,
    ]);
    expect(packetBytes(7)).toBe(1);
    expect(packetBytes(43)).toBe(2);
    expect(packetBytes(59)).toBe(0);
    expect(packetsOf(106)).toEqual([46, 47, 48, 49, 50, 51]);
  });

  it('make the stream frame of the specification: 19 5 29 2 25 13 0 163', () => {
    const values: Record<number, number> = { 29: 537, 13: 0 };
    expect([...encodeStream([29, 13], (p) => values[p] ?? 0)]).toEqual([19, 5, 29, 2, 25, 13, 0, 163]);
  });

  itWithSharedJson<{
    streams: { name: string; dec: number[]; expected: Record<string, number> }[];
    query_replies: { hex: string; expected: Record<string, number | boolean | number[]> }[];
  }>('make the frames that other projects publish', 'serial/irobot_oi_packets.json', (data) => {
    for (const stream of data.streams.slice(0, 2)) {
      const values: Record<number, number> = {
        29: stream.expected.packet29_cliff_front_left_signal ?? -1,
        13: 0,
      };
      expect([...encodeStream([29, 13], (p) => values[p] ?? 0)]).toEqual(stream.dec);
    }
    const [reply] = data.query_replies;
    const bytes = (reply?.hex ?? '').split(' ').map((h) => Number.parseInt(h, 16));
    const e = reply?.expected ?? {};
    const lists = [e.cliff_signals, e.light_bump_signals].map((l) => (Array.isArray(l) ? l : []));
    const values: Record<number, number> = {
      7: 0b1010,
      8: 1,
      9: 1,
      11: 1,
      13: 1,
      14: 8,
      15: Number(e.dirt_detect),
      17: Number(e.ir_omni),
      18: 0xaa,
      19: Number(e.distance_mm),
      20: Number(e.angle_deg),
      21: 2,
      22: Number(e.voltage_mV),
      23: Number(e.current_mA),
      24: Number(e.temperature_C),
      25: Number(e.charge_mAh),
      26: Number(e.capacity_mAh),
      27: Number(e.wall_signal),
      34: 3,
      35: Number(e.oi_mode),
      36: 1,
      37: 1,
      38: 1,
      39: Number(e.requested_velocity),
      40: Number(e.requested_radius),
      41: -200,
      42: 200,
      43: 40_000,
      44: 50_000,
      45: Number(e.light_bumper),
      52: 42,
      53: 42,
      54: Number(e.left_motor_mA),
      55: Number(e.right_motor_mA),
      56: Number(e.main_brush_mA),
      57: Number(e.side_brush_mA),
      58: 1,
    };
    (lists[0] ?? []).forEach((v, i) => {
      values[28 + i] = v;
    });
    (lists[1] ?? []).forEach((v, i) => {
      values[46 + i] = v;
    });
    const out: number[] = [];
    encodePacket(100, (p) => values[p] ?? 0, out);
    expect(out).toEqual(bytes);
  });

  it('keep to the ends of their range instead of wrapping', () => {
    const out: number[] = [];
    encodePacket(23, () => -70_000, out);
    encodePacket(22, () => 70_000, out);
    encodePacket(21, () => -1, out);
    expect(out).toEqual([0x80, 0x00, 0xff, 0xff, 0]);
  });
});

describe('modes', () => {
  it('off until `start`: nothing is answered and nothing moves', async () => {
    const { rig, host } = await base();
    host.write(142, 35);
    driveDirect(host, 200, 200);
    run(rig.world, 300);
    expect(host.received).toEqual([]);
    expect(rig.devices.base.received).toEqual([]);
    host.write(START);
    expect(ask(rig, host, 35)).toEqual([1]);
  });

  it('passive does not drive; safe and full do', async () => {
    const { rig, host } = await base();
    host.write(START);
    driveDirect(host, 200, 200);
    run(rig.world, 300);
    expect(rig.world.body.command).toEqual({ left: 0, right: 0 });
    for (const mode of [SAFE, FULL]) {
      host.write(mode);
      driveDirect(host, 200, -100);
      run(rig.world, 100);
      expect(rig.world.body.command).toEqual({ left: -0.1, right: 0.2 });
      host.write(START);
      run(rig.world, 100);
      expect(rig.world.body.command).toEqual({ left: 0, right: 0 });
    }
  });

  it('safe ends in passive, stopped, at a cliff while driving forward; full goes on', async () => {
    for (const [mode, after] of [
      [SAFE, 1],
      [FULL, 3],
    ] as const) {
      const { rig, host } = await base();
      host.write(START, mode);
      driveDirect(host, 100, 100);
      run(rig.world, 300);
      rig.world.body.stimulate('cliff', 200);
      run(rig.world, 60);
      expect(ask(rig, host, 35)).toEqual([after]);
      expect(rig.world.body.command.left === 0).toBe(mode === SAFE);
    }
  });

  it('safe backs away from a cliff, and ends when a wheel drops', async () => {
    const { rig, host } = await base(
      squareWorld([2.85, 2, 0], 'cliffs: [{id: s, polygon: [[3, 0.05], [4.05, 0.05], [4.05, 4], [3, 4]]}]'),
    );
    host.write(START, SAFE);
    driveDirect(host, -100, -100);
    run(rig.world, 300);
    expect(rig.devices.base.mode).toBe('safe');
    rig.world.place({ x: 3.05, y: 2, theta: 0 });
    run(rig.world, 60);
    expect(rig.devices.base.mode).toBe('passive');
    host.write(SAFE);
    run(rig.world, 60);
    expect(rig.devices.base.mode).toBe('passive');
  });

  it('safe stands still when nobody drives, whatever the cliff sensors say', async () => {
    const { rig, host } = await base();
    host.write(START, SAFE);
    rig.world.body.stimulate('cliff', 500);
    run(rig.world, 300);
    expect(rig.devices.base.mode).toBe('safe');
  });

  it('`stop` ends the stream and every answer until `start`', async () => {
    const { rig, host } = await base();
    host.write(START, 148, 1, 7);
    run(rig.world, 150);
    host.write(173);
    run(rig.world, 30);
    expect(ask(rig, host, 35)).toEqual([]);
  });

  it('`reset` boots with text on the line, deaf meanwhile, and comes up off', async () => {
    const { rig, host } = await base();
    host.write(START, FULL);
    driveDirect(host, 100, 100);
    run(rig.world, 60);
    host.write(7);
    run(rig.world, 500);
    expect(rig.world.body.command).toEqual({ left: 0, right: 0 });
    host.write(START);
    run(rig.world, 3000);
    expect(String.fromCharCode(...host.received)).toMatch(/^bl-start\r\n/);
    expect(rig.devices.base.mode).toBe('off');
  });

  it('charging ends in safe and full mode, and goes on in passive', async () => {
    const { rig, host } = await base(worldFromText(squareRoom()));
    rig.world.battery.set(60);
    host.write(START);
    run(rig.world, 60);
    expect(ask(rig, host, 21)).toEqual([2]);
    expect(signed(ask(rig, host, 23))).toBeGreaterThan(1000);
    host.write(FULL);
    run(rig.world, 60);
    expect(ask(rig, host, 34)).toEqual([2]);
    expect(ask(rig, host, 21)).toEqual([0]);
    expect(signed(ask(rig, host, 23))).toBeLessThan(0);
    host.write(START);
    run(rig.world, 60);
    expect(ask(rig, host, 21)).toEqual([2]);
  });

  it('a base that takes the dock for a charger leaves safe mode on it', async () => {
    const { rig, host } = await base(worldFromText(squareRoom()), { base: { dockEndsSafeMode: true } });
    host.write(START, SAFE);
    run(rig.world, 60);
    expect(rig.devices.base.mode).toBe('passive');
  });
});

describe('driving', () => {
  const cases: [string, number[], { left: number; right: number }][] = [
    [
      'drive_direct takes the right wheel first',
      [145, ...word(200), ...word(100)],
      { left: 0.1, right: 0.2 },
    ],
    ['drive_direct is limited to 500 mm/s', [145, ...word(900), ...word(-900)], { left: -0.5, right: 0.5 }],
    ['drive with radius 0x8000 goes straight', [137, ...word(150), 0x80, 0x00], { left: 0.15, right: 0.15 }],
    [
      'drive with radius 0x7fff goes straight',
      [137, ...word(-150), 0x7f, 0xff],
      { left: -0.15, right: -0.15 },
    ],
    [
      'drive with radius 1 turns counter-clockwise',
      [137, ...word(100), ...word(1)],
      { left: -0.1, right: 0.1 },
    ],
    ['drive with radius -1 turns clockwise', [137, ...word(100), ...word(-1)], { left: 0.1, right: -0.1 }],
    [
      'drive turns left around a positive radius',
      [137, ...word(200), ...word(1000)],
      { left: 0.1765, right: 0.2235 },
    ],
    ['drive_pwm is a share of full speed', [146, ...word(255), ...word(-51)], { left: -0.1, right: 0.5 }],
  ];
  for (const [name, bytes, wheels] of cases) {
    it(name, async () => {
      const { rig, host } = await base();
      host.write(START, FULL, ...bytes);
      run(rig.world, 30);
      expect(rig.world.body.command.left).toBeCloseTo(wheels.left, 6);
      expect(rig.world.body.command.right).toBeCloseTo(wheels.right, 6);
    });
  }

  it('is on record with the time it was received', async () => {
    const { rig, host } = await base();
    host.write(START, FULL);
    run(rig.world, 300);
    driveDirect(host, 0, 0);
    run(rig.world, 30);
    const device: Device = rig.devices.base;
    expect(device.last('drive_direct')).toMatchObject({ values: [0, 0], tick: 21 });
    expect(device.last('drive_direct')?.timeMs).toBeGreaterThan(300);
    expect(device.last('drive')).toBeNull();
  });

  it('goes on after the cable was pulled, and stops with a watchdog', async () => {
    for (const baseWatchdog of [false, true]) {
      const { rig, host } = await base(squareWorld([0.6, 2, 0]), { baseWatchdog });
      host.write(START, FULL);
      driveDirect(host, 100, 100);
      run(rig.world, 300);
      rig.devices.base.unplug();
      expect(host.closed).toBe('unplugged');
      run(rig.world, 2000);
      expect(rig.world.body.wheels.left === 0).toBe(baseWatchdog);
    }
  });

  it('commands may come in pieces, among bytes that mean nothing', async () => {
    const { rig, host } = await base();
    host.write(0, 255, START, FULL, 145, 0);
    run(rig.world, 60);
    host.write(100);
    run(rig.world, 60);
    host.write(0, 50, 3);
    run(rig.world, 60);
    expect(rig.world.body.command).toEqual({ left: 0.05, right: 0.1 });
  });
});

describe('the stream', () => {
  const IDS = [7, 9, 10, 11, 12, 14, 17, 18, 21, 22, 23, 25, 26, 34, 35, 43, 44, 52, 53, 58];

  it('sends a frame each 15 ms with a checksum that makes the sum zero', async () => {
    const { rig, host } = await base();
    host.write(START, 148, IDS.length, ...IDS);
    run(rig.world, 3000);
    const sent = frames(host.received);
    expect(sent.length).toBeGreaterThanOrEqual(198);
    expect(sent.length).toBeLessThanOrEqual(201);
    expect(sent[0]?.[2]).toBe(7);
    expect(rig.devices.base.skippedFrames).toBe(0);
  });

  it('puts no more bytes on the line in a step than 115200 baud allow', async () => {
    const { rig, host } = await base();
    host.write(START, 148, 1, 100);
    let before = 0;
    let most = 0;
    for (let i = 0; i < 400; i++) {
      rig.world.step(5);
      most = Math.max(most, host.received.length - before);
      before = host.received.length;
    }
    expect(most).toBeLessThanOrEqual(58);
    expect(frames(host.received).length).toBeGreaterThan(120);
  });

  it('pauses and resumes', async () => {
    const { rig, host } = await base();
    host.write(START, 148, 1, 7);
    run(rig.world, 150);
    host.write(150, 0);
    run(rig.world, 60);
    const paused = host.received.length;
    run(rig.world, 150);
    expect(host.received.length).toBe(paused);
    host.write(150, 1);
    run(rig.world, 150);
    expect(host.received.length).toBeGreaterThan(paused + 30);
  });

  it('reports encoders, the bumper, buttons and the distance since last asked', async () => {
    const { rig, host } = await base(squareWorld([3, 2, 0]));
    host.write(START, FULL);
    driveDirect(host, 200, 200);
    run(rig.world, 6000);
    expect(ask(rig, host, 7)).toEqual([3]);
    const counts = signed(ask(rig, host, 43));
    expect(counts).toBeGreaterThan(2400);
    const distance = signed(ask(rig, host, 19));
    expect(distance).toBeGreaterThan(1150);
    expect(Math.abs(signed(ask(rig, host, 19)) - 6)).toBeLessThan(4);
    rig.devices.base.press('clean', 100);
    run(rig.world, 15);
    expect(ask(rig, host, 18)).toEqual([1]);
    run(rig.world, 150);
    expect(ask(rig, host, 18)).toEqual([0]);
  });

  it('reports over-current of held wheels, cliffs, and the home base', async () => {
    const { rig, host } = await base();
    host.write(START, FULL);
    driveDirect(host, 100, 100);
    rig.world.body.wheelsBlocked = true;
    rig.world.body.stimulate('cliff', 2000);
    run(rig.world, 600);
    expect(ask(rig, host, 14)).toEqual([0b11000]);
    host.received.length = 0;
    host.write(149, 4, 9, 10, 11, 12);
    run(rig.world, 30);
    expect(host.received).toEqual([1, 1, 1, 1]);
    expect(ask(rig, host, 34)).toEqual([0]);
    const docked = await base(worldFromText(squareRoom()));
    docked.host.write(START);
    expect(ask(docked.rig, docked.host, 34)).toEqual([2]);
    expect(ask(docked.rig, docked.host, 17)).toEqual([173]);
  });

  it('sees a wall ahead with the light bumper before it touches', async () => {
    const { rig, host } = await base(squareWorld([3.8, 2, 0]));
    host.write(START);
    const [flags = 0] = ask(rig, host, 45);
    expect(flags & 0b001100).toBe(0b001100);
    expect(ask(rig, host, 7)).toEqual([0]);
  });
});

describe('faults of the line', () => {
  it('damage the share of frames that they are set to, and no more', async () => {
    const { rig, host } = await base(createWorld());
    rig.devices.base.faults.noise = 0.1;
    host.write(START, 148, 2, 7, 43);
    run(rig.world, 15_000);
    let bad = 0;
    let total = 0;
    for (let at = 0; at + 8 < host.received.length; at += 8) {
      total += 1;
      if ((host.received.slice(at, at + 8).reduce((a, b) => a + b, 0) & 0xff) !== 0) bad += 1;
    }
    expect(total).toBeGreaterThan(950);
    expect(bad / total).toBeGreaterThan(0.05);
    expect(bad / total).toBeLessThan(0.15);
  });

  it('make the base silent though it listens, or late', async () => {
    const { rig, host } = await base();
    host.write(START, FULL, 148, 1, 7);
    run(rig.world, 150);
    rig.devices.base.faults.silent = true;
    run(rig.world, 30);
    const heard = host.received.length;
    driveDirect(host, 10, 10);
    run(rig.world, 150);
    expect(host.received.length).toBe(heard);
    expect(rig.world.body.command.left).toBe(0.01);
    rig.devices.base.faults.silent = false;
    host.write(150, 0);
    run(rig.world, 60);
    rig.devices.base.faults.delayMs = 200;
    host.received.length = 0;
    host.write(142, 35);
    run(rig.world, 150);
    expect(host.received).toEqual([]);
    run(rig.world, 150);
    expect(host.received).toEqual([3]);
  });

  it('can be scripted at byte, message and frame level, newest first', async () => {
    const { rig, host } = await base();
    const { line } = rig.devices.base;
    host.write(START, FULL);
    run(rig.world, 30);
    const ignore = line.override({ message: (c) => (c.what === 'drive_direct' ? 'ignore' : undefined) });
    driveDirect(host, 100, 100);
    run(rig.world, 30);
    expect(rig.world.body.command.left).toBe(0);
    ignore();
    const swallow = line.override({ frame: () => null });
    line.override({ frame: (bytes) => (bytes.length === 1 ? Uint8Array.from([42]) : undefined) });
    expect(ask(rig, host, 35)).toEqual([42]);
    expect(ask(rig, host, 43)).toEqual([]);
    swallow();
    expect(ask(rig, host, 43)).toHaveLength(2);
    line.override({ byte: (b) => (b === 35 ? null : undefined) });
    expect(ask(rig, host, 35)).toEqual([]);
  });
});
