import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHex, readCapture } from '../../../drivers/serial/capture.js';
import {
  guessKind,
  REPLAY_KINDS,
  type ReplayItem,
  replayBytes,
  replayQueryReply,
} from '../../../drivers/serial/replay.js';
import { itWithShared } from '../../support/shared-data.js';
import { concat, hex, oiFrame } from './support.js';

const text = (s: string) => new TextEncoder().encode(s);
const types = (items: Iterable<ReplayItem>) => [...items].map((item) => item.type);

/** Two answers of an air sensor with a stray byte between them. */
const AIR = concat(
  hex('FF 86 00 08 00 0C 00 0F 02 80 01 02 9E 00 2D 00 1F 00 05 00 02 00 02 00 00 DF'),
  hex('00'),
  hex('FF 86 00 08 00 0C 00 0F 02 80 01 02 9E 00 2D 00 1F 00 05 00 02 00 02 00 00 DF'),
);

describe('reading a capture', () => {
  it('takes raw bytes as they are', () => {
    const raw = Uint8Array.of(0x54, 0x2c, 0, 255);
    expect(readCapture(raw)).toEqual([{ name: null, bytes: raw, packet: null }]);
  });

  it('takes hex in the ways that people write it', () => {
    for (const written of ['54 2C 68', '54,2c,68', '0x54, 0x2C, 0x68', '542c68', '54 2C # header\n68\n']) {
      expect(readCapture(text(written))).toEqual([{ name: null, bytes: hex('54 2C 68'), packet: null }]);
    }
  });

  it('takes JSON: an array of bytes, or named captures at any depth', () => {
    expect(readCapture(text('[19, 1, 7]'))[0]?.bytes).toEqual(Uint8Array.of(19, 1, 7));
    const file = {
      about: '로봇',
      streams: [
        { name: 'a', dec: [1, 2], expected: { x: [3] } },
        { hex: '0A', packet: 7 },
      ],
    };
    expect(readCapture(text(JSON.stringify(file)))).toEqual([
      { name: 'a', bytes: Uint8Array.of(1, 2), packet: null },
      { name: null, bytes: Uint8Array.of(10), packet: 7 },
    ]);
  });

  it('says in a sentence what is wrong with a file', () => {
    expect(() => readCapture(text('hello there'))).toThrow('not hex: "hello"; expected pairs of hex digits');
    expect(() => readCapture(text('54 2'))).toThrow('not hex: "2"');
    expect(() => readCapture(text('{"a":'))).toThrow(/^not JSON: /);
    expect(() => readCapture(text('{"a":"b"}'))).toThrow('no bytes in this JSON');
    expect(readCapture(text(' \n'))).toEqual([]);
  });

  it('gives back any bytes that were written as hex', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (bytes) => {
        expect(parseHex(Buffer.from(bytes).toString('hex'))).toEqual(bytes);
      }),
    );
  });
});

describe('replaying a capture', () => {
  it('shows what the base driver decodes, discards and rejects', () => {
    const bytes = concat(
      hex('0D 00'),
      oiFrame([
        [7, 2],
        [22, 16_000],
      ]),
      hex('13 02 07 00 55 13'),
    );
    const items = [...replayBytes('create2', bytes)];
    expect(items[0]).toEqual({ type: 'discarded', bytes: 2 });
    expect(items[1]).toMatchObject({
      type: 'base',
      packets: { bumps_wheel_drops: 2, voltage_mv: 16_000 },
      sensors: { bumpLeft: true, voltageMv: 16_000, cliffLeft: null },
    });
    expect(items.slice(2)).toEqual([
      { type: 'rejected', why: 'checksum', count: 1 },
      { type: 'discarded', bytes: 5 },
      { type: 'incomplete', bytes: 1 },
    ]);
  });

  it('shows what the air sensor says', () => {
    const items = [...replayBytes('zphs01b', AIR)];
    expect(items.map((i) => i.type)).toEqual(['air', 'discarded', 'air']);
    expect(items[0]).toMatchObject({ answer: { pm2_5: 12, co2: 640, temperature: 23.5, humidity: 45 } });
  });

  it('tells what kind of device was recorded', () => {
    expect(guessKind(AIR)).toBe('zphs01b');
    expect(
      guessKind(
        oiFrame([
          [7, 0],
          [43, 9],
        ]),
      ),
    ).toBe('create2');
    expect(guessKind(hex('00 01 02 03'))).toBeNull();
  });

  itWithShared('decodes the recorded lidar frame', 'serial/ld06_ld19_frames.json', (path) => {
    const [capture] = readCapture(readFileSync(path));
    if (capture === undefined) throw new Error('nothing in the file');
    expect(guessKind(capture.bytes)).toBe('ld19');
    const [item] = replayBytes('ld19', capture.bytes);
    expect(item).toMatchObject({
      type: 'lidar_frame',
      frame: { speed: 2152, startAngle: 32_427, endAngle: 33_470 },
    });
  });

  itWithShared(
    'decodes the recorded streams and the query reply of a base',
    'serial/irobot_oi_packets.json',
    (path) => {
      const captures = readCapture(readFileSync(path));
      const streams = captures
        .filter((c) => c.packet === null)
        .map((c) => types(replayBytes('create2', c.bytes)));
      expect(streams).toEqual([
        ['base'],
        ['base'],
        ['discarded', 'base', 'incomplete'],
        ['rejected', 'discarded', 'incomplete'],
      ]);
      const reply = captures.find((c) => c.packet !== null);
      if (reply?.packet == null) throw new Error('no reply in the file');
      expect(replayQueryReply(reply.packet, reply.bytes, 'right_first')).toMatchObject({
        type: 'base',
        packets: { distance_mm: 300, angle_deg: -90, temperature_c: 22 },
        sensors: { encoderRight: 40_000, encoderLeft: 50_000, mode: 'safe' },
      });
    },
  );

  it('assembles full turns of a lidar in base_link', () => {
    const items = [...replayBytes('ld19', lidarTurns())];
    const scan = items.find((i) => i.type === 'scan');
    if (scan?.type !== 'scan') throw new Error('no scan');
    expect(scan.coverage).toBeCloseTo(1);
    expect(scan.ranges).toHaveLength(360);
    expect(scan.ranges.every((r) => r === 1.5)).toBe(true);
  });

  it('accounts for every byte of any file, for every kind of device', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.constantFrom(...REPLAY_KINDS), (bytes, kind) => {
        let unused = 0;
        let used = 0;
        for (const item of replayBytes(kind, bytes)) {
          if (item.type === 'discarded' || item.type === 'incomplete') unused += item.bytes;
          if (item.type === 'lidar_frame') used += 47;
          if (item.type === 'air') used += 26;
          if (item.type === 'base') used += 3 + baseBytes(item.packets);
        }
        expect(used + unused).toBe(bytes.length);
      }),
      { numRuns: 500 },
    );
  });
});

/** Data of a frame in which no packet stands twice. */
function baseBytes(packets: Record<string, number>): number {
  const wide = /_mm|_mv|_ma|_mah|signal|encoder|angle|unused_33|radius|velocity|distance/;
  return Object.keys(packets).reduce((sum, name) => sum + (wide.test(name) ? 3 : 2), 0);
}

/** Two and a half turns around which everything is 1.5 m away. */
function lidarTurns(): Uint8Array {
  const frames: Uint8Array[] = [];
  for (let n = 0; n < 94; n++) {
    const bytes = new Uint8Array(47);
    const view = new DataView(bytes.buffer);
    bytes.set([0x54, 0x2c]);
    view.setUint16(2, 3600, true);
    view.setUint16(4, (n * 960) % 36_000, true);
    for (let i = 0; i < 12; i++) {
      view.setUint16(6 + 3 * i, 1500, true);
      bytes[8 + 3 * i] = 200;
    }
    view.setUint16(42, (n * 960 + 880) % 36_000, true);
    view.setUint16(44, Math.floor((n * 100) / 37.5), true);
    bytes[46] = crc(bytes.subarray(0, 46));
    frames.push(bytes);
  }
  return concat(...frames);
}

/** CRC-8 with polynomial 0x4D, bit by bit. */
function crc(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++)
      value = value & 0x80 ? ((value << 1) ^ 0x4d) & 0xff : (value << 1) & 0xff;
  }
  return value;
}
