import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arcOf, STOP } from '../../../drivers/serial/kobuki/commands.js';
import { beaconCharacter } from '../../../drivers/serial/kobuki/docking-ir.js';
import { decodeReport, IR, type KobukiReport } from '../../../drivers/serial/kobuki/feedback.js';
import { KobukiParser } from '../../../drivers/serial/kobuki/frame-parser.js';
import { KobukiBase, type KobukiOptions } from '../../../drivers/serial/kobuki/kobuki-base.js';
import { percentOf } from '../../../drivers/serial/kobuki/power.js';
import type { BaseFrame } from '../../../drivers/serial/types.js';
import { wheels } from '../../../simulator/devices/kobuki.js';
import { encodeFrame, le16 } from '../../../simulator/devices/kobuki-frames.js';
import { itWithSharedJson } from '../../support/shared-data.js';
import { bench, burst, chunked, concat, hex, toHex } from './support.js';

interface SharedFrames {
  frames: { hex: string; expected: Record<string, number | number[]> }[];
  malformed_fragments: string[];
}

interface Said {
  timestamp?: number;
  bump?: number;
  drop?: number;
  cliff?: number;
  left?: number;
  right?: number;
  button?: number;
  charger?: number;
  battery?: number;
  over?: number;
  ir?: [number, number, number];
  inputs?: number;
}

/** A report as the firmware sends it. */
function report(said: Said = {}): Uint8Array {
  const { ir = [0, 0, 0] } = said;
  const core = [
    ...le16(said.timestamp ?? 0),
    ...[said.bump ?? 0, said.drop ?? 0, said.cliff ?? 0],
    ...le16(said.left ?? 0),
    ...le16(said.right ?? 0),
    ...[0, 0, said.button ?? 0, said.charger ?? 0, said.battery ?? 160, said.over ?? 0],
  ];
  return encodeFrame([
    { id: 1, data: core },
    { id: 3, data: ir },
    { id: 4, data: [...le16(4500), ...le16(-1000), 0, 0, 0] },
    { id: 5, data: [...le16(1700), ...le16(1800), ...le16(1900)] },
    { id: 6, data: [3, 4] },
    { id: 0x0d, data: [1, 6, 0, 0, 0, 0, 0, 0] },
    { id: 0x10, data: [...le16(said.inputs ?? 15), ...Array<number>(14).fill(0)] },
  ]);
}

function payloadsIn(chunks: readonly Uint8Array[]) {
  const parser = new KobukiParser();
  const items = chunks.flatMap((chunk) => parser.push(chunk));
  const frames = items.flatMap((item) => (item.kind === 'frame' ? [item.payload] : []));
  const discarded = items.reduce((sum, item) => sum + (item.kind === 'discarded' ? item.bytes : 0), 0);
  return { frames, discarded, parser };
}

function decoded(bytes: Uint8Array): KobukiReport {
  const [payload] = payloadsIn([bytes]).frames;
  const found = payload === undefined ? null : decodeReport(payload);
  if (found === null) throw new Error('no report');
  return found;
}

async function connect(options: Partial<KobukiOptions> = {}) {
  const b = bench('base');
  const base = new KobukiBase({ ...b.options, ...options });
  const frames: BaseFrame[] = [];
  base.onFrame((frame) => frames.push(frame));
  base.start();
  await b.settle();
  let timestamp = 0;
  const say = async (said: Said = {}) => {
    timestamp += 20;
    b.device.write(report({ timestamp, ...said }));
    await b.clock.advanceAsync(20);
  };
  return { ...b, base, frames, say };
}

describe('frames of a Kobuki', () => {
  itWithSharedJson<SharedFrames>(
    'decode to the values that were captured with them',
    'serial/kobuki_frames.json',
    (data) => {
      expect(data.frames).toHaveLength(3);
      for (const { hex: text, expected } of data.frames) {
        const r = decoded(Uint8Array.from(Buffer.from(text, 'hex')));
        expect(r).toMatchObject({
          timestamp: expected.timestamp,
          encoderLeft: expected.left_encoder,
          encoderRight: expected.right_encoder,
          charger: 'adapter_charged',
          batteryDecivolts: expected.battery_dV,
          currentLeft: 10,
          currentRight: 10,
        });
        expect([r.heading & 0xffff, r.headingRate & 0xffff]).toEqual([
          expected.inertial_angle_raw,
          expected.inertial_rate_raw,
        ]);
        expect([r.cliffAdc.right, r.cliffAdc.center, r.cliffAdc.left]).toEqual(expected.cliff_adc);
        expect([r.digitalInputs, ...r.analogInputs]).toEqual(expected.gpinput);
      }
    },
  );

  itWithSharedJson<SharedFrames>(
    'of which a byte was lost on the line are refused, and the next is found',
    'serial/kobuki_frames.json',
    (data) => {
      // The second: behind the first stands a stray 00, with which the XOR of a frame that is a byte short can come out.
      const [, good] = data.frames.map((frame) => Uint8Array.from(Buffer.from(frame.hex, 'hex')));
      if (good === undefined) throw new Error('no frame');
      for (const fragment of data.malformed_fragments) {
        expect(payloadsIn([hex(fragment), good, good]).frames).toHaveLength(2);
      }
      for (let lost = 0; lost < good.length; lost++) {
        const short = concat(good.slice(0, lost), good.slice(lost + 1));
        expect(payloadsIn([short, good, good]).frames.length).toBe(2);
      }
    },
  );

  it('are never accepted with a burst of up to eight wrong bits, wherever it falls', () => {
    const good = report({ timestamp: 777, left: 12_345, right: 54_321, charger: 6 });
    for (let first = 0; first < 8 * good.length; first++) {
      for (let pattern = 1; pattern < 256; pattern += 2) {
        expect(payloadsIn([burst(good, first, pattern)]).frames).toEqual([]);
      }
    }
  });

  it('that follow a damaged one are not lost with it', () => {
    fc.assert(
      fc.property(
        fc.nat(8 * report().length - 1),
        fc.nat(127).map((n) => 2 * n + 1),
        (first, pattern) => {
          const next = report({ timestamp: 40 });
          const { frames } = payloadsIn([burst(report(), first, pattern), next, report({ timestamp: 60 })]);
          expect(frames).toContainEqual(next.slice(3, -1));
        },
      ),
    );
  });

  it('come out the same however the bytes are cut, and every byte of garbage is counted', () => {
    const good = [0, 20, 40].map((timestamp) => report({ timestamp }));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), chunked(concat(...good)), (garbage, chunks) => {
        const { frames, discarded, parser } = payloadsIn([garbage, ...chunks, report()]);
        expect(frames.slice(-2)).toEqual([good[2], report()].map((frame) => frame?.slice(3, -1)));
        const used = frames.reduce((sum, payload) => sum + payload.length + 4, 0);
        expect(used + discarded + parser.pending).toBe(garbage.length + 4 * report().length);
      }),
    );
  });

  it('with a flag or a charger state that does not exist are no report', () => {
    for (const said of [
      { bump: 8 },
      { drop: 4 },
      { cliff: 9 },
      { button: 8 },
      { charger: 5 },
      { over: 4 },
      { inputs: 16 },
    ]) {
      const [payload] = payloadsIn([report(said)]).frames;
      expect(payload === undefined ? null : decodeReport(payload)).toBeNull();
    }
  });
});

describe('commands to a Kobuki', () => {
  it('are a speed and a radius that give back the wheel speeds they were made of', () => {
    const speed = fc.integer({ min: -700, max: 700 });
    fc.assert(
      fc.property(speed, speed, (left, right) => {
        const arc = arcOf(left / 1000, right / 1000, 0.23);
        const given = wheels(arc.speed, arc.radius);
        // What a radius in whole millimetres can say, and none at all where the robot all but turns on the spot.
        const tight = Math.abs(left + right) < 0.05 * Math.abs(right - left);
        const off = tight ? 30 : 8;
        expect(Math.abs(given.left - left)).toBeLessThanOrEqual(off);
        expect(Math.abs(given.right - right)).toBeLessThanOrEqual(off);
      }),
      { numRuns: 2000 },
    );
  });

  it('say straight on with radius 0 and a turn on the spot with radius 1', () => {
    expect(arcOf(0.2, 0.2, 0.23)).toEqual({ speed: 200, radius: 0 });
    expect(arcOf(-0.1, 0.1, 0.23)).toEqual({ speed: 100, radius: 1 });
    expect(toHex(STOP)).toBe('AA 55 06 01 04 00 00 00 00 03');
  });
});

describe('the Kobuki driver', () => {
  it('stops the wheels before anything else and asks for the versions', async () => {
    const { take, say, base } = await connect();
    expect(take()).toEqual([toHex(STOP), 'AA 55 04 09 02 03 00 0C']);
    expect(base.connected).toBe(false);
    await say();
    expect(base.connected).toBe(true);
  });

  it('reports bumps, drops and edges with the middle ones on both sides', async () => {
    const { say, frames } = await connect();
    await say({ bump: 2, cliff: 2, drop: 1 });
    expect(frames.at(-1)).toMatchObject({
      bumpLeft: true,
      bumpRight: true,
      cliffLeft: false,
      cliffFrontLeft: true,
      cliffFrontRight: true,
      wheelDropRight: true,
      wheelDropLeft: false,
    });
  });

  it('counts the wheels across the roll-over of their counters', async () => {
    const { say, frames } = await connect();
    await say({ left: 65_500, right: 100 });
    await say({ left: 200, right: 65_400 });
    expect(frames.at(-1)?.wheelLeft).toBeCloseTo(236 / 11_724.41, 4);
    expect(frames.at(-1)?.wheelRight).toBeCloseTo(-236 / 11_724.41, 4);
  });

  it('does not believe a single report that is out of time, and a restarted base with its second', async () => {
    const { device, clock, say, frames, base } = await connect();
    await say();
    await say();
    device.write(report({ timestamp: 40_000, bump: 0, left: 9000 }));
    expect(frames).toHaveLength(2);
    await clock.advanceAsync(20);
    device.write(report({ timestamp: 40_020, left: 9000 }));
    expect(frames).toHaveLength(3);
    expect(base.counters()).toMatchObject({ timestamp_jumps: 1 });
  });

  it('refuses to drive while the cable of the adapter is in, and while disabled', async () => {
    const { say, base, take, frames } = await connect();
    await say({ charger: 22 });
    take();
    expect(base.driveWheels(0.1, 0.1)).toBe(false);
    expect(frames.at(-1)).toMatchObject({ charging: true, docked: false, driveEnabled: false });
    await say({ charger: 0 });
    base.disable();
    expect(base.driveWheels(0.1, 0.1)).toBe(false);
    base.enable();
    expect(base.driveWheels(0.1, 0.1)).toBe(true);
    expect(take()).toEqual([toHex(STOP), 'AA 55 06 01 04 64 00 00 00 67']);
  });

  it('takes a speed back that is not renewed', async () => {
    const { say, base, take } = await connect();
    await say();
    take();
    base.driveWheels(0.2, 0.2);
    for (let t = 0; t < 560; t += 20) await say();
    expect(take().at(-1)).toBe(toHex(STOP));
    expect(base.counters()).toMatchObject({ deadman_stops: 1 });
  });

  it('takes a digital input that is pulled to ground for a button of its own', async () => {
    const { say, frames } = await connect();
    await say({ button: 1, inputs: 0b1101 });
    expect(frames.at(-1)?.buttons).toBe(0b0001_0001);
  });

  it('tells the charge by the voltage that lasts, and nothing from one that cannot be', async () => {
    const { say, frames } = await connect();
    await say({ battery: 165 });
    expect(frames.at(-1)?.batteryPercent).toBe(100);
    await say({ battery: 140 });
    expect(frames.at(-1)?.batteryPercent).toBeGreaterThan(95);
    expect([percentOf(20), percentOf(132), percentOf(140), percentOf(165)]).toEqual([null, 0, 20, 100]);
  });

  it('reads its versions, motor currents and gyro', async () => {
    const { device, base } = await connect();
    device.write(report());
    expect(base.details()).toMatchObject({
      motorCurrentLeftMa: 30,
      motorCurrentRightMa: 40,
      temperature: null,
      cliffSignals: [1900, 1800, 1700],
    });
    expect(base.details().gyroHeading).toBeCloseTo(Math.PI / 4);
    expect(base.about()).toMatchObject({ chip: 'kobuki', firmwareVersion: null, cutsDrive: false });
  });
});

describe('the signals of a Kobuki station', () => {
  it('are the beams of a home base: left and right, both in the middle, and near', () => {
    expect(beaconCharacter(0)).toBe(0);
    expect(beaconCharacter(IR.farCenter)).toBe(160 + 12);
    expect(beaconCharacter(IR.nearLeft)).toBe(160 + 8 + 1);
    expect(beaconCharacter(IR.farRight)).toBe(160 + 4);
  });
});
