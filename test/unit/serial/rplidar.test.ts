import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scan } from '../../../config/contracts/amr.js';
import { CENTRED } from '../../../drivers/serial/lidar-mount.js';
import { decodeNode, type Node } from '../../../drivers/serial/rplidar/protocol.js';
import { RplidarLidar, type RplidarOptions } from '../../../drivers/serial/rplidar/rplidar-lidar.js';
import { RplidarParser } from '../../../drivers/serial/rplidar/stream-parser.js';
import { dropSpecks } from '../../../drivers/serial/rplidar/turn.js';
import { descriptor, encodeNode } from '../../../simulator/devices/rplidar.js';
import { bench, chunked, concat, hex } from './support.js';

const SCANNING = Uint8Array.from(descriptor(5, true, 0x81));
const INFO = Uint8Array.from([...descriptor(20, false, 4), 0x18, 0x1d, 1, 7, ...Array<number>(16).fill(9)]);
const health = (status: number) => Uint8Array.from([...descriptor(3, false, 6), status, 0x34, 0x12]);

/** Nodes of `turns` turns, one a degree; `range` in metres by the device's own angle. */
function nodes(turns: number, range: (degrees: number) => number = () => 2): Uint8Array {
  const out: number[] = [];
  for (let i = 0; i < 360 * turns; i++) {
    const angle = i % 360;
    out.push(...encodeNode(angle === 0, 15, angle + 0.3, range(angle)));
  }
  return Uint8Array.from(out);
}

function nodesIn(chunks: readonly Uint8Array[]) {
  const found: Node[] = [];
  const parser = new RplidarParser({
    onAnswer: () => {},
    onScanStart: () => {},
    onNode: (bytes, at) => found.push(decodeNode(bytes, at)),
  });
  for (const chunk of [SCANNING, ...chunks]) parser.push(chunk);
  return { found, parser };
}

/** A device that answers as an A1 does, and sends nodes when the test says so. */
async function connect(options: Partial<RplidarOptions> & { health?: number[] } = {}) {
  const b = bench('lidar');
  const asked: number[] = [];
  const states = [...(options.health ?? [0])];
  b.onHostBytes((bytes) => {
    const request = bytes[1] ?? 0;
    asked.push(request);
    if (request === 0x50) b.device.write(INFO);
    if (request === 0x52)
      b.device.write(health(states.length > 1 ? (states.shift() ?? 0) : (states[0] ?? 0)));
    if (request === 0x20) b.device.write(SCANNING);
  });
  const lidar = new RplidarLidar({ ...b.options, ...options });
  const scans: Scan[] = [];
  lidar.onScan((scan) => scans.push(scan));
  lidar.start();
  await b.settle();
  await b.clock.advanceAsync(100);
  const toward = (degrees: number) =>
    scans.at(-1)?.ranges[Math.round(((degrees + 180) % 360) * 1)] ?? Number.NaN;
  return { ...b, lidar, scans, asked, toward };
}

describe('nodes of an RPLIDAR', () => {
  it('decode as the manual lays them out', () => {
    expect(decodeNode(hex('3E 81 19 9C 10'), 0)).toEqual({
      first: false,
      quality: 15,
      angle: (0x19 << 7) | 0x40,
      distance: 0x109c,
    });
  });

  it('are found at once behind the descriptor, however the bytes are cut', () => {
    fc.assert(
      fc.property(chunked(nodes(1)), (chunks) => {
        const { found, parser } = nodesIn(chunks);
        // The last one waits for one that follows on it.
        expect(found).toHaveLength(359);
        expect(parser.stats).toMatchObject({ broken: 0, discarded: 0 });
      }),
      { numRuns: 30 },
    );
  });

  it('are found again after bytes were lost, inserted or garbled, and no wrong one passes at the seam', () => {
    const stream = nodes(2);
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 1500 }),
        fc.integer({ min: 1, max: 40 }),
        fc.uint8Array({ maxLength: 40 }),
        (at, lost, garbage) => {
          const damaged = concat(stream.slice(0, at), garbage, stream.slice(at + lost));
          const { found } = nodesIn([damaged]);
          // Within a dozen nodes of the seam everything is as it was sent.
          expect(found.length).toBeGreaterThanOrEqual(720 - Math.ceil((lost + garbage.length) / 5) - 14);
          const wrong = found.filter((node) => node.distance !== 8000);
          expect(wrong.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('cannot be told from damage in the range, for they have no checksum: what passes is a single point', () => {
    const stream = nodes(1);
    let passed = 0;
    for (let bit = 0; bit < 8 * 5; bit++) {
      const hit = stream.slice();
      const at = 500 + (bit >> 3);
      hit[at] = (hit[at] ?? 0) ^ (1 << (bit & 7));
      const { found } = nodesIn([hit]);
      const strange = found.filter(
        (n) => n.distance !== 8000 || n.quality !== 15 || (n.angle - 19) % 64 !== 0,
      );
      expect(strange.length).toBeLessThanOrEqual(1);
      passed += strange.length;
    }
    // All of range and quality, and the low bits of the angle.
    expect(passed).toBeGreaterThan(16);
    expect(passed).toBeLessThan(36);
  });
});

describe('scans of an RPLIDAR', () => {
  it('come after stop, information, health and scan were asked for, in this order', async () => {
    const { asked, lidar, device, scans, clock } = await connect();
    expect(asked).toEqual([0x25, 0x50, 0x52, 0x20]);
    expect(lidar.connected).toBe(false);
    device.write(nodes(2));
    await clock.advanceAsync(10);
    expect(lidar.connected).toBe(true);
    expect(scans).toHaveLength(1);
    expect(lidar.about()).toEqual({
      chip: 'rplidar_a1',
      model: 'RPLIDAR A1',
      hardwareVersion: '7',
      firmwareVersion: '1.29',
      health: 'good',
    });
  });

  it('are in base_link, and turn, mirror and move with the mounting', async () => {
    // A wall at 90° clockwise of the device: on the right of an upright one.
    const wall = (degrees: number) => (degrees > 80 && degrees < 100 ? 1 : 3);
    const seen = async (mount: Partial<typeof CENTRED>, at: number) => {
      const { device, toward } = await connect({ mount: { ...CENTRED, ...mount } });
      device.write(nodes(2.2, wall));
      return toward(at);
    };
    expect(await seen({}, -90)).toBeCloseTo(1);
    expect(await seen({ inverted: true }, 90)).toBeCloseTo(1);
    expect(await seen({ inverted: true }, -90)).toBeCloseTo(3);
    expect(await seen({ yaw: Math.PI / 2 }, 0)).toBeCloseTo(1);
    expect(await seen({ y: 0.2 }, -90)).toBeCloseTo(0.8, 1);
    expect(await seen({ masks: [{ from: -2, to: -1 }] }, -90)).toBeNaN();
  });

  it('reset a device that protects itself, and say so', async () => {
    const { lidar, asked, clock } = await connect({ health: [2, 0] });
    expect(lidar.about().health).toBe('error');
    expect(asked).toEqual([0x25, 0x50, 0x52, 0x40]);
    await clock.advanceAsync(1100);
    expect(asked.slice(4)).toEqual([0x50, 0x52, 0x20]);
    expect(lidar.counters()).toMatchObject({ health_errors: 1, resets: 1 });
  });

  it('are asked for again when none come, and the port is opened anew at last', async () => {
    const { asked, clock, lidar } = await connect();
    await clock.advanceAsync(2000);
    expect(asked.filter((request) => request === 0x20).length).toBeGreaterThan(1);
    await clock.advanceAsync(10_000);
    expect(lidar.counters().reconnects).toBeGreaterThan(0);
  });

  it('drop a single bin that would look through an obstacle, and keep one that stands before it', () => {
    const ranges = Array<number>(360).fill(1);
    ranges[10] = 6;
    ranges[20] = 0.3;
    expect(dropSpecks(ranges)).toBe(1);
    expect(ranges[10]).toBeNaN();
    expect(ranges[20]).toBe(0.3);
  });
});
