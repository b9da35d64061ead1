import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batteryPercent, decodeSensors } from '../../../drivers/serial/create2/decode.js';
import { EncoderUnwrapper } from '../../../drivers/serial/create2/encoders.js';
import { decodeQueryReply, packetLength } from '../../../drivers/serial/create2/packets.js';
import { OiStreamParser, type StreamItem } from '../../../drivers/serial/create2/stream-parser.js';
import { itWithSharedJson } from '../../support/shared-data.js';
import { chunked, concat, hex, oiFrame } from './support.js';

interface SharedStreams {
  streams: { name: string; dec: number[] }[];
  query_replies: { packet: number; hex: string; expected: Record<string, unknown> }[];
}
const SHARED = 'serial/irobot_oi_packets.json';

const framesOf = (items: StreamItem[]) =>
  items.filter((i) => i.kind === 'frame').map((i) => Object.fromEntries(i.values));
const discardedIn = (items: StreamItem[]) =>
  items.reduce((sum, i) => sum + (i.kind === 'discarded' ? i.bytes : 0), 0);

/** Frames as a base sends them: bumps, battery, encoders. */
const frame = fc
  .tuple(fc.nat(31), fc.nat(65535), fc.nat(65535), fc.nat(65535))
  .map(([bumps, charge, left, right]) =>
    oiFrame([
      [7, bumps],
      [25, charge],
      [43, left],
      [44, right],
    ]),
  );

describe('sensor stream of the Create 2', () => {
  itWithSharedJson<SharedStreams>('reads the frame of the specification', SHARED, ({ streams }) => {
    const bytes = byName(streams, 'oi_spec_example');
    expect(new OiStreamParser().push(bytes)).toEqual([
      {
        kind: 'frame',
        values: new Map([
          [29, 537],
          [13, 0],
        ]),
      },
    ]);
  });

  itWithSharedJson<SharedStreams>('reads a second frame of somebody else', SHARED, ({ streams }) => {
    const items = new OiStreamParser().push(byName(streams, 'second_valid'));
    expect(framesOf(items)).toEqual([{ 13: 0, 29: 2519 }]);
  });

  itWithSharedJson<SharedStreams>('joins a stream in the middle and says what it skipped', SHARED, (data) => {
    const parser = new OiStreamParser();
    const items = parser.push(byName(data.streams, 'misaligned_start_with_one_whole_frame'));
    expect(items[0]).toEqual({ kind: 'discarded', bytes: 3 });
    expect(framesOf(items)).toEqual([{ 13: 0, 29: 537 }]);
    expect(parser.pending).toBe(4);
  });

  itWithSharedJson<SharedStreams>('never uses a frame with a wrong checksum', SHARED, ({ streams }) => {
    const items = new OiStreamParser().push(byName(streams, 'misaligned_bad_checksum'));
    expect(framesOf(items)).toEqual([]);
    expect(items).toContainEqual({ kind: 'rejected', why: 'checksum' });
  });

  it('gives the same frames however the bytes are cut into chunks', () => {
    fc.assert(
      fc.property(
        fc
          .array(frame, { minLength: 1, maxLength: 6 })
          .chain((frames) => fc.tuple(fc.constant(frames), chunked(concat(...frames)))),
        ([frames, chunks]) => {
          const whole = framesOf(new OiStreamParser().push(concat(...frames)));
          const parser = new OiStreamParser();
          expect(chunks.flatMap((chunk) => framesOf(parser.push(chunk)))).toEqual(whole);
          expect(whole).toHaveLength(frames.length);
        },
      ),
    );
  });

  it('finds every frame that follows garbage, and accounts for every byte of it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), frame, (garbage, good) => {
        const parser = new OiStreamParser([7, 25, 43, 44]);
        const items = parser.push(concat(garbage, good, good));
        const expected = framesOf(new OiStreamParser().push(good))[0];
        expect(framesOf(items).slice(-2)).toEqual([expected, expected]);
        const used = framesOf(items).length * good.length;
        expect(used + discardedIn(items) + parser.pending).toBe(garbage.length + 2 * good.length);
      }),
    );
  });

  it('never uses a frame hit by a burst of up to eight bits, in the order in which a UART sends them', () => {
    const fields = [7, 25, 43, 44];
    fc.assert(
      fc.property(frame, fc.nat(16 * 8), fc.nat(127), (good, first, half) => {
        const damaged = good.slice();
        const pattern = 2 * half + 1;
        for (let bit = 0; bit < 8; bit++) {
          const byte = damaged[(first + bit) >> 3];
          const flip = (pattern >> bit) & 1 ? 1 << ((first + bit) & 7) : 0;
          if (byte !== undefined) damaged[(first + bit) >> 3] = byte ^ flip;
        }
        if (damaged.every((byte, i) => byte === good[i])) return;
        expect(framesOf(new OiStreamParser(fields).push(damaged))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('without a list of packets, loses no more than the frame that a false header covers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), frame, (garbage, good) => {
        // Enough good frames that a false header with the longest length has to decide.
        const items = new OiStreamParser().push(concat(garbage, ...Array.from({ length: 30 }, () => good)));
        expect(framesOf(items).length).toBeGreaterThanOrEqual(30 - Math.ceil(258 / good.length));
      }),
    );
  });

  it('refuses a sound frame with other packets than were asked for', () => {
    const parser = new OiStreamParser([7, 35]);
    expect(
      framesOf(
        parser.push(
          oiFrame([
            [7, 0],
            [36, 1],
          ]),
        ),
      ),
    ).toEqual([]);
    expect(framesOf(parser.push(oiFrame([[7, 0]])))).toEqual([]);
    expect(
      framesOf(
        parser.push(
          oiFrame([
            [7, 3],
            [35, 2],
          ]),
        ),
      ),
    ).toEqual([{ 7: 3, 35: 2 }]);
  });

  it('keeps at most one frame, whatever arrives', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        const parser = new OiStreamParser();
        parser.push(bytes);
        expect(parser.pending).toBeLessThanOrEqual(258);
      }),
    );
  });
});

describe('sensor packets of the Create 2', () => {
  it('knows the lengths that the specification gives for the groups', () => {
    const lengths = [0, 1, 2, 3, 4, 5, 6, 100, 101, 106, 107].map((id) => [id, packetLength(id)]);
    expect(Object.fromEntries(lengths)).toEqual({
      0: 26,
      1: 10,
      2: 6,
      3: 10,
      4: 14,
      5: 12,
      6: 52,
      100: 80,
      101: 28,
      106: 12,
      107: 9,
    });
    expect(packetLength(59)).toBeNull();
  });

  itWithSharedJson<SharedStreams>('decodes packet 100', SHARED, ({ query_replies }) => {
    const reply = query_replies.find((r) => r.packet === 100);
    const values = decodeQueryReply(100, hex(reply?.hex ?? ''));
    if (values === null) throw new Error('packet 100 was not decoded');
    // This author labels the encoders as the Roomba 500 specification does: 43 is the right wheel.
    expect(decodeSensors(values, 'right_first')).toMatchObject({
      wheelDropLeft: true,
      wheelDropRight: false,
      bumpLeft: true,
      bumpRight: false,
      cliffLeft: true,
      cliffFrontLeft: false,
      cliffFrontRight: true,
      cliffRight: false,
      overcurrentLeft: false,
      overcurrentRight: true,
      irOmni: 42,
      irLeft: 42,
      irRight: 42,
      chargingState: 'full_charging',
      voltageMv: 17000,
      currentMa: -4000,
      chargeMah: 5000,
      capacityMah: 10000,
      homeBase: true,
      internalCharger: true,
      mode: 'safe',
      encoderRight: 40000,
      encoderLeft: 50000,
      makingProgress: true,
    });
    expect(Object.fromEntries(values)).toMatchObject({
      8: 1,
      13: 1,
      15: 123,
      19: 300,
      20: -90,
      24: 22,
      27: 555,
      28: 2000,
      29: 2100,
      30: 2200,
      31: 2300,
      39: -200,
      40: 300,
      45: 63,
      46: 1500,
      51: 2000,
      54: 1000,
      55: -1000,
      56: 500,
      57: 300,
    });
  });

  it('takes packet 43 as the left wheel on a Create 2', () => {
    const values = new Map([
      [43, 1],
      [44, 2],
    ]);
    expect(decodeSensors(values)).toMatchObject({ encoderLeft: 1, encoderRight: 2 });
  });

  it('refuses a reply of the wrong length', () => {
    expect(decodeQueryReply(7, Uint8Array.of(1, 2))).toBeNull();
    expect(decodeQueryReply(200, Uint8Array.of(1))).toBeNull();
  });

  it('reports what is not in a frame as unknown', () => {
    const sensors = decodeSensors(new Map([[7, 3]]));
    expect(sensors).toMatchObject({ bumpLeft: true, cliffLeft: null, homeBase: null, mode: null });
    expect(batteryPercent(sensors)).toBeNull();
  });

  it('does not know the charge of a battery whose capacity the base does not know', () => {
    expect(batteryPercent({ chargeMah: 1200, capacityMah: 0 })).toBeNull();
    expect(batteryPercent({ chargeMah: 1200, capacityMah: 2400 })).toBe(50);
    expect(batteryPercent({ chargeMah: 2500, capacityMah: 2400 })).toBe(100);
  });
});

describe('wheel encoders', () => {
  it('follow any sequence of steps below half the range, across roll-over', () => {
    fc.assert(
      fc.property(
        fc.nat(65535),
        fc.array(fc.integer({ min: -32767, max: 32767 }), { maxLength: 200 }),
        (start, steps) => {
          const encoder = new EncoderUnwrapper();
          encoder.update(start);
          let raw = start;
          let total = 0;
          for (const step of steps) {
            raw = (raw + step + 65536) & 0xffff;
            total += step;
            expect(encoder.update(raw)).toBe(true);
            expect(encoder.total).toBe(total);
          }
        },
      ),
    );
  });

  it('do not turn a restarted base into a journey', () => {
    const encoder = new EncoderUnwrapper(2250);
    encoder.update(30_000);
    encoder.update(30_100);
    expect(encoder.update(0)).toBe(false);
    encoder.update(50);
    expect(encoder.total).toBe(150);
  });
});

function byName(streams: SharedStreams['streams'], name: string): Uint8Array {
  const found = streams.find((s) => s.name === name);
  if (found === undefined) throw new Error(`no stream ${name} in the shared data`);
  return Uint8Array.from(found.dec);
}
