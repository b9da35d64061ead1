import { describe, expect, it } from 'vitest';
import { encodeLd19Frame, LD19_FRAME_BYTES, ld19Crc } from '../../../simulator/devices/ld19.js';
import { itWithSharedJson } from '../../support/shared-data.js';
import { hostOn, rigOf, run, squareWorld } from './homes.js';

interface Decoded {
  startDeg: number;
  endDeg: number;
  speed: number;
  timestamp: number;
  /** Metres, 0 for none; twelve. */
  ranges: number[];
  good: boolean;
}

/** The manual's layout, read here on its own. */
function decode(frame: readonly number[]): Decoded {
  const u16 = (at: number) => (frame[at] ?? 0) + 256 * (frame[at + 1] ?? 0);
  return {
    speed: u16(2),
    startDeg: u16(4) / 100,
    ranges: Array.from({ length: 12 }, (_, i) => u16(6 + 3 * i) / 1000),
    endDeg: u16(42) / 100,
    timestamp: u16(44),
    good: frame[0] === 0x54 && frame[1] === 0x2c && slowCrc(frame.slice(0, 46)) === frame[46],
  };
}

/** CRC-8, polynomial 0x4D, bit by bit. */
function slowCrc(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) & 0xff) ^ 0x4d : (crc << 1) & 0xff;
  }
  return crc;
}

async function listen(ms: number, pose: [number, number, number] = [1.05, 2.05, 0]) {
  const rig = rigOf(squareWorld(pose));
  const host = await hostOn(rig, 'lidar');
  run(rig.world, ms);
  const frames: Decoded[] = [];
  for (let at = 0; at + LD19_FRAME_BYTES <= host.received.length; at += LD19_FRAME_BYTES) {
    frames.push(decode(host.received.slice(at, at + LD19_FRAME_BYTES)));
  }
  return { rig, host, frames };
}

describe('an LD19 frame', () => {
  itWithSharedJson<{
    frames: {
      hex: string;
      expected: {
        speed_deg_s: number;
        start_angle_cdeg: number;
        end_angle_cdeg: number;
        timestamp_ms: number;
        points_mm_intensity: [number, number][];
      };
    }[];
  }>("is laid out as the manual's example, CRC included", 'serial/ld06_ld19_frames.json', ({ frames }) => {
    for (const { hex, expected } of frames) {
      const bytes = encodeLd19Frame({
        speed: expected.speed_deg_s,
        startAngle: expected.start_angle_cdeg,
        endAngle: expected.end_angle_cdeg,
        timestamp: expected.timestamp_ms,
        points: expected.points_mm_intensity.map(([distance, intensity]) => ({ distance, intensity })),
      });
      expect([...bytes]).toEqual(hex.split(' ').map((h) => Number.parseInt(h, 16)));
    }
  });

  it('has the CRC that a bit-by-bit reckoning gives', () => {
    const bytes = Uint8Array.from({ length: 46 }, (_, i) => (i * 37 + 11) & 0xff);
    expect(ld19Crc(bytes)).toBe(slowCrc([...bytes]));
  });
});

describe('the lidar on its line', () => {
  it('sends 375 good frames a second without being asked, ten turns a second', async () => {
    const { frames } = await listen(1995);
    expect(frames.length).toBeGreaterThanOrEqual(746);
    expect(frames.length).toBeLessThanOrEqual(749);
    expect(frames.every((f) => f.good)).toBe(true);
    for (const f of frames) expect(Math.abs(f.speed - 3600)).toBeLessThan(80);
    const turned = frames.slice(1).map((f, i) => (f.startDeg - (frames[i]?.startDeg ?? 0) + 360) % 360);
    const turns = turned.reduce((a, b) => a + b, 0) / 360;
    expect(turns).toBeGreaterThan(19.6);
    expect(turns).toBeLessThan(20.2);
  });

  it('spreads 12 points evenly from start to end angle, over the wrap as well', async () => {
    const { frames } = await listen(1000);
    for (const f of frames) expect((f.endDeg - f.startDeg + 360) % 360).toBeCloseTo(8.8, 0);
    expect(frames.some((f) => f.endDeg < f.startDeg)).toBe(true);
    const times = frames
      .slice(1)
      .map((f, i) => (f.timestamp - (frames[i]?.timestamp ?? 0) + 30_000) % 30_000);
    for (const t of times) expect([2, 3]).toContain(t);
  });

  it('measures clockwise from the front: the near wall on the left is at 270°', async () => {
    const { frames } = await listen(1000, [2.05, 3.05, 0]);
    const at = (deg: number) => {
      const ranges = frames.flatMap((f) =>
        f.ranges.filter((r, i) => r > 0 && Math.abs(((f.startDeg + i * 0.8 - deg + 540) % 360) - 180) < 1),
      );
      return ranges.sort((a, b) => a - b)[Math.floor(ranges.length / 2)];
    };
    expect(at(0)).toBeCloseTo(2.0, 1);
    expect(at(90)).toBeCloseTo(3.0, 1);
    expect(at(180)).toBeCloseTo(2.0, 1);
    expect(at(270)).toBeCloseTo(1.0, 1);
  });

  it('puts no more bytes on the line in a step than 230400 baud allow', async () => {
    const rig = rigOf(squareWorld([2, 2, 0]));
    const host = await hostOn(rig, 'lidar');
    let before = 0;
    let most = 0;
    for (let i = 0; i < 400; i++) {
      rig.world.step(5);
      most = Math.max(most, host.received.length - before);
      before = host.received.length;
    }
    expect(most).toBeLessThanOrEqual(116);
  });

  it('has the share of damaged frames that it is told to have', async () => {
    const rig = rigOf(squareWorld([2, 2, 0]));
    rig.devices.lidar.faults.noise = 0.1;
    const host = await hostOn(rig, 'lidar');
    run(rig.world, 10_000);
    let bad = 0;
    let total = 0;
    for (let at = 0; at + LD19_FRAME_BYTES <= host.received.length; at += LD19_FRAME_BYTES) {
      total += 1;
      if (!decode(host.received.slice(at, at + LD19_FRAME_BYTES)).good) bad += 1;
    }
    expect(bad / total).toBeCloseTo(0.1, 1);
    expect(bad).toBeGreaterThan(200);
  });

  it('loses its power with the plug, and needs time to come up again', async () => {
    const { rig, host } = await listen(300);
    rig.devices.lidar.unplug();
    expect(host.closed).toBe('unplugged');
    await expect(rig.ports.open.lidar()).rejects.toThrow(/no such device/);
    run(rig.world, 300);
    rig.devices.lidar.plug();
    const again = await hostOn(rig, 'lidar');
    run(rig.world, 600);
    expect(again.received).toEqual([]);
    run(rig.world, 600);
    expect(decode(again.received.slice(0, LD19_FRAME_BYTES)).good).toBe(true);
  });
});
