import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scan } from '../../../config/contracts/amr.js';
import { angleSpan, crc8, decodeFrame, FRAME_BYTES, frameFault } from '../../../drivers/serial/ld19/frame.js';
import { Ld19Parser } from '../../../drivers/serial/ld19/frame-parser.js';
import { Ld19Lidar, type Ld19Options } from '../../../drivers/serial/ld19/ld19-lidar.js';
import { CENTRED } from '../../../drivers/serial/lidar-mount.js';
import { itWithSharedJson } from '../../support/shared-data.js';
import { bench, burst, chunked, concat, hex } from './support.js';

interface SharedFrames {
  frames: {
    hex: string;
    expected: {
      crc: string;
      speed_deg_s: number;
      start_angle_cdeg: number;
      end_angle_cdeg: number;
      timestamp_ms: number;
      points_mm_intensity: [number, number][];
    };
  }[];
}

interface FrameSpec {
  speed?: number;
  /** Hundredths of a degree. */
  start?: number;
  end?: number;
  timestamp?: number;
  /** mm and intensity of point `i`. */
  point?: (i: number) => [distance: number, intensity: number];
}

function ld19Frame(spec: FrameSpec = {}): Uint8Array {
  const { speed = 3600, start = 0, timestamp = 0, point = () => [1000, 200] } = spec;
  const end = spec.end ?? (start + 880) % 36_000;
  const bytes = new Uint8Array(FRAME_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = 0x54;
  bytes[1] = 0x2c;
  view.setUint16(2, speed, true);
  view.setUint16(4, start, true);
  for (let i = 0; i < 12; i++) {
    const [distance, intensity] = point(i);
    view.setUint16(6 + 3 * i, distance, true);
    bytes[8 + 3 * i] = intensity;
  }
  view.setUint16(42, end, true);
  view.setUint16(44, timestamp % 30_000, true);
  bytes[46] = crc8(bytes, 0, 46);
  return bytes;
}

/** Ten turns a second, 450 points a turn, from device angle `from`; `range` in mm by device angle in degrees. */
function turns(count: number, range: (degrees: number) => number, from = 0, startMs = 0): Uint8Array[] {
  const frames: Uint8Array[] = [];
  const perTurn = 450 / 12;
  for (let n = 0; n < Math.round(count * perTurn); n++) {
    const start = (from + n * 960) % 36_000;
    frames.push(
      ld19Frame({
        start,
        timestamp: Math.floor(startMs + (n * 100) / perTurn),
        point: (i) => [range(((start + 80 * i) % 36_000) / 100), 200],
      }),
    );
  }
  return frames;
}

function framesIn(chunks: readonly Uint8Array[]): { frames: Uint8Array[]; parser: Ld19Parser } {
  const frames: Uint8Array[] = [];
  const parser = new Ld19Parser((bytes, at) => frames.push(bytes.slice(at, at + FRAME_BYTES)));
  for (const chunk of chunks) parser.push(chunk);
  return { frames, parser };
}

async function connect(options: Partial<Ld19Options> = {}) {
  const b = bench('lidar');
  const lidar = new Ld19Lidar({ ...b.options, ...options });
  const scans: Scan[] = [];
  lidar.onScan((scan) => scans.push(scan));
  lidar.start();
  await b.settle();
  return { ...b, lidar, scans };
}

/** Range of a scan in a direction of `base_link`, degrees counter-clockwise from ahead. */
function toward(scan: Scan | undefined, degrees: number): number | undefined {
  if (scan === undefined) return undefined;
  const angle = (degrees * Math.PI) / 180;
  const bin = Math.round((angle - scan.angleMin) / scan.angleIncrement);
  return scan.ranges[((bin % scan.ranges.length) + scan.ranges.length) % scan.ranges.length];
}

describe('frames of the LD19', () => {
  itWithSharedJson<SharedFrames>(
    "reads the manufacturer's example",
    'serial/ld06_ld19_frames.json',
    (data) => {
      const [example] = data.frames;
      if (example === undefined) throw new Error('no frame in the shared data');
      const bytes = hex(example.hex);
      const { expected } = example;
      expect(crc8(bytes, 0, 46)).toBe(Number(expected.crc));
      expect(frameFault(bytes, 0)).toBeNull();
      expect(decodeFrame(bytes)).toEqual({
        speed: expected.speed_deg_s,
        startAngle: expected.start_angle_cdeg,
        endAngle: expected.end_angle_cdeg,
        timestamp: expected.timestamp_ms,
        points: expected.points_mm_intensity.map(([distance, intensity]) => ({ distance, intensity })),
      });
    },
  );

  it('are never accepted with a burst of up to eight wrong bits, wherever it falls', () => {
    const good = ld19Frame({ start: 12_345, timestamp: 777, point: (i) => [500 + 17 * i, 100 + i] });
    for (let first = 0; first < 8 * FRAME_BYTES; first++) {
      for (const pattern of [1, 3, 0x81, 0xff, 0x55, 0xb5]) {
        expect(framesIn([burst(good, first, pattern)]).frames).toEqual([]);
      }
    }
    fc.assert(
      fc.property(
        fc.nat(8 * FRAME_BYTES - 1),
        fc.nat(127).map((n) => 2 * n + 1),
        fc.nat(35_999),
        (first, pattern, start) => {
          expect(framesIn([burst(ld19Frame({ start }), first, pattern)]).frames).toEqual([]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('that follow a damaged one are not lost with it', () => {
    fc.assert(
      fc.property(
        fc.nat(8 * FRAME_BYTES - 1),
        fc.nat(127).map((n) => 2 * n + 1),
        (first, pattern) => {
          const next = ld19Frame({ start: 960 });
          const { frames } = framesIn([burst(ld19Frame(), first, pattern), next, ld19Frame({ start: 1920 })]);
          expect(frames).toContainEqual(next);
        },
      ),
    );
  });

  it('come out the same however the bytes are cut into chunks', () => {
    const frames = turns(0.5, () => 2000);
    fc.assert(
      fc.property(chunked(concat(Uint8Array.of(1, 0x54, 0x2c, 7), ...frames)), (chunks) => {
        expect(framesIn(chunks).frames).toEqual(frames);
      }),
    );
  });

  it('are found after garbage, of which every byte is counted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => {
        const good = turns(0.2, () => 3000);
        const { frames, parser } = framesIn([garbage, ...good]);
        expect(frames.slice(-good.length + 1)).toEqual(good.slice(1));
        const { stats, pending } = parser;
        const total = garbage.length + good.length * FRAME_BYTES;
        expect(stats.frames * FRAME_BYTES + stats.discarded + pending).toBe(total);
      }),
    );
  });

  it('from a motor that is still spinning up, or with an angle that cannot be, are counted and left out', () => {
    const { parser } = framesIn([
      ld19Frame({ speed: 500 }),
      ld19Frame({ speed: 9000 }),
      ld19Frame({ start: 36_000, end: 880 }),
      ld19Frame({ start: 0, end: 18_000 }),
      ld19Frame({ start: 100, end: 100 }),
    ]);
    expect(parser.stats).toMatchObject({ frames: 0, speed: 2, angle: 3, crc: 0 });
  });

  it('span their angle across 360°', () => {
    expect(angleSpan(35_600, 400)).toBe(800);
    expect(angleSpan(400, 1200)).toBe(800);
  });
});

describe('scans of the LD19', () => {
  it('are in base_link: counter-clockwise, although the device counts clockwise', async () => {
    const { device, scans } = await connect();
    // A wall on the right of the robot is at 90° for the device, and at −90° for the robot.
    const world = (degrees: number) => (degrees > 85 && degrees < 95 ? 500 : 4000);
    for (const frame of turns(3.2, world)) device.write(frame);
    const scan = scans.at(-1);
    expect(toward(scan, -90)).toBeCloseTo(0.5);
    expect(toward(scan, 90)).toBeCloseTo(4);
    expect(toward(scan, 0)).toBeCloseTo(4);
    expect(scan?.ranges).toHaveLength(360);
    expect(scan?.ranges.filter(Number.isNaN)).toEqual([]);
  });

  it('turn with the mounting of the device', async () => {
    const { device, scans } = await connect({ mount: { ...CENTRED, yaw: Math.PI / 2 } });
    for (const frame of turns(2.2, (d) => (d < 5 || d > 355 ? 700 : 3000))) device.write(frame);
    expect(toward(scans.at(-1), 90)).toBeCloseTo(0.7);
    expect(toward(scans.at(-1), 0)).toBeCloseTo(3);
  });

  it('put every point into the bin nearest to it, across the wrap of both angles', async () => {
    fc.assert(
      fc.property(
        fc.nat(359),
        fc.constantFrom(360, 450, 720),
        fc.double({ min: -3, max: 3, noNaN: true }),
        (at, bins, mountYaw) => {
          const assembled = scanOf(bins, mountYaw, (d) => (Math.round(d) % 360 === at ? 1000 : 0));
          const hits = assembled.ranges.flatMap((r, i) => (Number.isNaN(r) ? [] : [i]));
          expect(hits.length).toBeGreaterThan(0);
          for (const bin of hits) {
            const angle = assembled.angleMin + bin * assembled.angleIncrement;
            const error = angle - (mountYaw - (at * Math.PI) / 180);
            const wrapped = Math.abs(Math.atan2(Math.sin(error), Math.cos(error)));
            // Half a degree of the test's wall, and half a bin.
            expect(wrapped).toBeLessThanOrEqual(Math.PI / 360 + Math.PI / bins + 1e-9);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('hold NaN where nothing came back, too near, too far or too weak', async () => {
    const { device, scans } = await connect({ rangeMin: 0.2, rangeMax: 8, minIntensity: 20 });
    const frames = turns(2.2, (d) => (d < 90 ? 0 : d < 180 ? 100 : d < 270 ? 9000 : 2000));
    for (const frame of frames) device.write(frame);
    const scan = scans.at(-1);
    for (const degrees of [-45, -135, 135]) expect(toward(scan, degrees)).toBeNaN();
    expect(toward(scan, 45)).toBeCloseTo(2);
    expect(scan).toMatchObject({ rangeMin: 0.2, rangeMax: 8 });
  });

  it('leave out weak points', async () => {
    const { device, scans } = await connect({ minIntensity: 20 });
    for (const frame of turns(1.2, () => 2000)) {
      const weak = frame.slice();
      for (let i = 0; i < 12; i++) weak[8 + 3 * i] = 19;
      weak[46] = crc8(weak, 0, 46);
      device.write(weak);
    }
    expect(scans.at(-1)?.ranges.every(Number.isNaN)).toBe(true);
  });

  it('keep the nearer of two points that share a bin', async () => {
    const scan = scanOf(90, 0, (d) => (d % 4 < 1 ? 800 : 2500));
    expect(Math.max(...scan.ranges)).toBeCloseTo(0.8);
  });

  it('come ten times a second with the time of their last byte', async () => {
    const { device, scans, clock, lidar } = await connect();
    const start = clock.now();
    for (const frame of turns(10, () => 2000)) {
      device.write(frame);
      clock.advance(100 / 37.5);
    }
    expect(scans).toHaveLength(9);
    expect(scans[0]?.at).toBeCloseTo(start + 100, -1);
    expect(lidar.counters()).toMatchObject({ scans: 9, scans_incomplete: 0, revolutions_dropped: 0 });
  });

  it('still come when a tenth of the frames is damaged, with holes and without one wrong point', async () => {
    const { device, scans, lidar } = await connect();
    turns(20, () => 2000).forEach((frame, n) => {
      device.write(n % 10 === 7 ? burst(frame, (n * 13) % 376, 0xb5) : frame);
    });
    expect(scans.length).toBeGreaterThanOrEqual(19);
    for (const scan of scans) for (const r of scan.ranges) expect(Number.isNaN(r) || r === 2).toBe(true);
    expect(lidar.counters().scans_incomplete).toBeGreaterThan(15);
  });

  it('still come, every one, when three in ten frames are damaged here and there: no hole hides much', async () => {
    const { device, scans, lidar } = await connect();
    turns(20, () => 2000).forEach((frame, n) => {
      device.write([1, 4, 7].includes(n % 10) ? burst(frame, (n * 13) % 376, 0xb5) : frame);
    });
    expect(scans.length).toBeGreaterThanOrEqual(19);
    expect(lidar.counters().revolutions_dropped).toBe(0);
    for (const scan of scans) for (const r of scan.ranges) expect(Number.isNaN(r) || r === 2).toBe(true);
  });

  it('of which a third is missing are dropped and counted', async () => {
    const { device, scans, lidar } = await connect();
    turns(5, () => 2000).forEach((frame, n) => {
      if (n % 37 > 12 || n < 37) device.write(frame);
    });
    expect(lidar.counters().revolutions_dropped).toBeGreaterThanOrEqual(3);
    expect(scans.length).toBeLessThanOrEqual(1);
  });

  it('never mix points from before a gap with points from after it', async () => {
    const { device, scans } = await connect();
    for (const frame of turns(0.8, () => 1000, 0, 0)) device.write(frame);
    // 9.8 turns later the angle goes on as if nothing had been missing.
    for (const frame of turns(1.2, () => 3000, 28_800, 1080)) device.write(frame);
    for (const scan of scans) expect(new Set(scan.ranges.filter((r) => !Number.isNaN(r))).size).toBe(1);
  });

  it('go on over the wrap of the device clock', async () => {
    const { device, scans } = await connect();
    for (const frame of turns(6, () => 2000, 0, 29_700)) device.write(frame);
    expect(scans).toHaveLength(5);
  });

  it('stop with the device, and start again when it is plugged in', async () => {
    const { device, scans, lidar, clock } = await connect();
    for (const frame of turns(1.5, () => 2000)) device.write(frame);
    expect(lidar.connected).toBe(true);
    device.unplug();
    expect(lidar.connected).toBe(false);
    device.plug();
    await clock.advanceAsync(500);
    for (const frame of turns(1.5, () => 2500)) device.write(frame);
    expect(lidar.connected).toBe(true);
    expect(scans).toHaveLength(2);
    expect(scans[1]?.ranges.every((r) => r === 2.5)).toBe(true);
  });
});

function scanOf(bins: number, mountYaw: number, range: (degrees: number) => number): Scan {
  const lidarScans: Scan[] = [];
  const b = bench('lidar');
  const lidar = new Feed({ ...b.options, bins, mount: { ...CENTRED, yaw: mountYaw } });
  lidar.onScan((scan) => lidarScans.push(scan));
  for (const frame of turns(1.2, range)) lidar.feed(frame);
  const [scan] = lidarScans;
  if (scan === undefined) throw new Error('no scan');
  return scan;
}

/** A lidar that is given its bytes without a port, for properties that cannot wait for one to open. */
class Feed extends Ld19Lidar {
  feed(bytes: Uint8Array): void {
    this.onBytes(bytes);
  }
}
