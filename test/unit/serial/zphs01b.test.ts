import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AirReading } from '../../../drivers/serial/types.js';
import {
  ANSWER_BYTES,
  AnswerParser,
  checksum,
  decodeAnswer,
  QUERY,
} from '../../../drivers/serial/zphs01b/answer.js';
import { type Zphs01bOptions, Zphs01bSensor } from '../../../drivers/serial/zphs01b/zphs01b-sensor.js';
import { bench, chunked, concat, hex, toHex } from './support.js';

interface AnswerSpec {
  pm1?: number;
  pm25?: number;
  pm10?: number;
  co2?: number;
  voc?: number;
  /** Raw, 0.1 °C with the module's offset. */
  temperature?: number;
  humidity?: number;
  ch2o?: number;
  no2?: number;
}

function answer(spec: AnswerSpec = {}): Uint8Array {
  const {
    pm1 = 8,
    pm25 = 12,
    pm10 = 15,
    co2 = 640,
    voc = 1,
    temperature = 670,
    humidity = 45,
    ch2o = 31,
    no2 = 2,
  } = spec;
  const bytes = new Uint8Array(ANSWER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set([0xff, 0x86]);
  [pm1, pm25, pm10, co2].forEach((value, i) => {
    view.setUint16(2 + 2 * i, value);
  });
  bytes[10] = voc;
  [temperature, humidity, ch2o, 5, 2, no2].forEach((value, i) => {
    view.setUint16(11 + 2 * i, value);
  });
  bytes[25] = checksum(bytes);
  return bytes;
}

async function connect(options: Partial<Zphs01bOptions> = {}) {
  const b = bench('air');
  const sensor = new Zphs01bSensor({ ...b.options, warmUpMs: 0, ...options });
  const readings: AirReading[] = [];
  sensor.onReading((reading) => readings.push(reading));
  let reply: () => Uint8Array | null = () => answer();
  b.onHostBytes(() => {
    const bytes = reply();
    if (bytes !== null) b.device.write(bytes);
  });
  sensor.start();
  await b.settle();
  return {
    ...b,
    sensor,
    readings,
    reply: (fn: () => Uint8Array | null) => {
      reply = fn;
    },
  };
}

describe('question and answer of the ZPHS01B', () => {
  it('ends the question with the checksum that the manual gives', () => {
    expect(toHex(QUERY)).toBe('FF 01 86 00 00 00 00 00 79');
    expect(checksum(QUERY)).toBe(0x79);
  });

  it("sums as in the example of the maker's dust sensors, which share the rule", () => {
    expect(checksum(hex('FF 86 00 85 00 96 00 65 FA'))).toBe(0xfa);
  });

  it('reads every value at its place and in its unit', () => {
    const bytes = hex('FF 86 00 85 00 96 00 65 01 F4 02 02 A3 00 3C 00 1F 00 0A 00 14 00 05 00 00 00');
    bytes[25] = checksum(bytes);
    expect(decodeAnswer(bytes)).toEqual({
      pm1_0: 133,
      pm2_5: 150,
      pm10: 101,
      co2: 500,
      voc: 2,
      temperature: 24,
      humidity: 60,
      ch2o: 0.031,
      co: 1,
      o3: 0.2,
      no2: 0.05,
    });
  });

  it('reads the temperature with the offset of either edition of the module', () => {
    expect(decodeAnswer(answer({ temperature: 735 }), 0, 500).temperature).toBeCloseTo(23.5);
    expect(decodeAnswer(answer({ temperature: 235 })).temperature).toBe(-20);
  });

  it('is found in a stream however it is cut, and after garbage', () => {
    const stream = concat(hex('00 FF 86 12 FF'), answer({ co2: 700 }), hex('FF'), answer({ co2: 800 }));
    fc.assert(
      fc.property(chunked(stream), (chunks) => {
        const parser = new AnswerParser();
        const items = chunks.flatMap((chunk) => parser.push(chunk));
        const co2 = items.flatMap((i) => (i.kind === 'answer' ? [i.answer.co2] : []));
        const discarded = items.reduce((n, i) => n + (i.kind === 'discarded' ? i.bytes : 0), 0);
        expect(co2).toEqual([700, 800]);
        expect(discarded).toBe(6);
        expect(parser.pending).toBe(0);
      }),
    );
  });

  it('with a wrong byte is never used', () => {
    fc.assert(
      fc.property(fc.nat(25), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = answer();
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        const items = new AnswerParser().push(bytes);
        expect(items.some((i) => i.kind === 'answer')).toBe(false);
      }),
    );
  });
});

describe('the air sensor', () => {
  it('is asked once a period and gives what the module says', async () => {
    const { take, clock, readings, sensor } = await connect({ pollMs: 1000 });
    expect(take()).toEqual([toHex(QUERY)]);
    await clock.advanceAsync(2000);
    expect(take()).toHaveLength(2);
    expect(readings).toHaveLength(3);
    expect(readings.at(-1)).toEqual({
      at: clock.now(),
      warmingUp: false,
      pm1_0: 8,
      pm2_5: 12,
      pm10: 15,
      co2: 640,
      vocLevel: 1,
      hcho: 0.031,
      temperature: 23.5,
      humidity: 45,
      no2: 0.02,
    });
    expect(sensor.connected).toBe(true);
  });

  it('says nothing but that it warms up until the time is over', async () => {
    const { clock, readings } = await connect({ warmUpMs: 10_000 });
    await clock.advanceAsync(9000);
    for (const { warmingUp, at, ...values } of readings) {
      expect(warmingUp).toBe(true);
      expect(Object.values(values).every((v) => v === null)).toBe(true);
    }
    await clock.advanceAsync(1000);
    expect(readings.at(-1)).toMatchObject({ warmingUp: false, pm2_5: 12 });
  });

  it('warms up again after it was plugged out: its power comes with the plug', async () => {
    const { clock, readings, device } = await connect({ warmUpMs: 5000 });
    await clock.advanceAsync(6000);
    expect(readings.at(-1)?.warmingUp).toBe(false);
    device.unplug();
    await clock.advanceAsync(1000);
    device.plug();
    await clock.advanceAsync(2000);
    expect(readings.at(-1)).toMatchObject({ warmingUp: true, pm2_5: null });
    await clock.advanceAsync(6000);
    expect(readings.at(-1)?.warmingUp).toBe(false);
  });

  it('does not warm up again for one lost answer, but does after a long silence', async () => {
    const { clock, readings, reply } = await connect({ warmUpMs: 3000 });
    await clock.advanceAsync(4000);
    reply(() => null);
    await clock.advanceAsync(2000);
    reply(() => answer());
    await clock.advanceAsync(1000);
    expect(readings.at(-1)?.warmingUp).toBe(false);
    reply(() => null);
    await clock.advanceAsync(12_000);
    reply(() => answer());
    await clock.advanceAsync(1000);
    expect(readings.at(-1)?.warmingUp).toBe(true);
  });

  it('reports as unknown what no air can have', async () => {
    const { clock, readings, reply, sensor } = await connect();
    reply(() => answer({ pm25: 1200, co2: 0, voc: 9, temperature: 0, humidity: 0, ch2o: 7000 }));
    await clock.advanceAsync(1000);
    expect(readings.at(-1)).toMatchObject({
      pm1_0: 8,
      pm2_5: null,
      pm10: 15,
      co2: null,
      vocLevel: null,
      temperature: null,
      humidity: null,
      hcho: null,
    });
    expect(sensor.counters().implausible_values).toBe(6);
  });

  it('counts answers that do not come and answers that are damaged', async () => {
    const { clock, readings, reply, sensor } = await connect();
    reply(() => null);
    await clock.advanceAsync(2600);
    expect(sensor.counters()).toMatchObject({ queries: 3, answers: 1, timeouts: 2 });
    reply(() => {
      const bytes = answer();
      bytes[9] = 0x55;
      return bytes;
    });
    await clock.advanceAsync(400);
    expect(sensor.counters()).toMatchObject({ checksum_errors: 1 });
    expect(readings).toHaveLength(1);
  });

  it('is not connected while it does not answer', async () => {
    const { clock, reply, sensor } = await connect();
    reply(() => null);
    await clock.advanceAsync(6100);
    expect(sensor.connected).toBe(false);
    reply(() => answer());
    await clock.advanceAsync(1000);
    expect(sensor.connected).toBe(true);
  });
});
