/**
 * A Winsen ZPHS01B multi-sensor as seen from its UART, after Winsen's manual: 9600 baud; asked with
 * `FF 01 86 00 00 00 00 00 79` it answers with 26 bytes. Big-endian: PM1.0, PM2.5, PM10 (µg/m³), CO2 (ppm),
 * VOC level 0…3 (one byte), temperature (0.1 °C, plus 435), humidity (%RH), CH2O (0.001 mg/m³), CO (0.1 ppm),
 * O3 (0.01 ppm), NO2 (0.01 ppm), two bytes unused, and the two's complement of the sum of bytes 1…24.
 */
import type { Air, DeviceEnd } from '../types.js';
import type { Random } from '../world/random.js';
import type { World } from '../world/world.js';
import { LineDevice } from './line-device.js';

const BAUD = 9600;
const ZPHS01B_ANSWER_BYTES = 26;
const QUERY = [0xff, 0x01, 0x86, 0x00, 0x00, 0x00, 0x00, 0x00, 0x79] as const;
/** Time to answer, ms. */
const ANSWER_AFTER = 15;
/** Says nothing for this long after power-up, ms. */
const BOOT_MS = 1500;
/** Time constant with which the cells come up after power-up, and with which they follow the air, ms. */
const WARM_UP = 3000;
const LAG = 4000;
/** How often the module samples, ms. */
const SAMPLE_MS = 500;
/** What a cold module reads. */
const COLD: Air = { pm1_0: 0, pm2_5: 0, pm10: 0, co2: 400, voc: 0, hcho: 0, temperature: 25, humidity: 40 };

/** Standard deviation of a reading: a constant part and a share of the value. */
const NOISE: Record<keyof Air, readonly [number, number]> = {
  pm1_0: [0.3, 0.02],
  pm2_5: [0.4, 0.02],
  pm10: [0.6, 0.02],
  co2: [6, 0.005],
  voc: [0.03, 0],
  hcho: [0.001, 0.02],
  temperature: [0.05, 0],
  humidity: [0.4, 0],
};
const QUANTITIES = Object.keys(NOISE) as (keyof Air)[];

/** What one answer says; CO, O3 and NO2 in ppm. */
export interface Zphs01bAnswer extends Air {
  co: number;
  o3: number;
  no2: number;
}

export function encodeZphs01bAnswer(reading: Zphs01bAnswer): Uint8Array {
  const bytes = new Uint8Array(ZPHS01B_ANSWER_BYTES);
  const view = new DataView(bytes.buffer);
  const word = (offset: number, value: number) =>
    view.setUint16(offset, Math.max(0, Math.min(0xffff, Math.round(value))));
  bytes[0] = 0xff;
  bytes[1] = 0x86;
  word(2, reading.pm1_0);
  word(4, reading.pm2_5);
  word(6, reading.pm10);
  word(8, reading.co2);
  bytes[10] = Math.max(0, Math.min(3, Math.round(reading.voc)));
  word(11, reading.temperature * 10 + 435);
  word(13, reading.humidity);
  word(15, reading.hcho * 1000);
  word(17, reading.co * 10);
  word(19, reading.o3 * 100);
  word(21, reading.no2 * 100);
  bytes[25] = zphs01bChecksum(bytes);
  return bytes;
}

/** Two's complement of the sum of all bytes but the first and the last. */
export function zphs01bChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 1; i < bytes.length - 1; i++) sum += bytes[i] ?? 0;
  return -sum & 0xff;
}

export class Zphs01bDevice extends LineDevice {
  readonly name = 'air';
  readonly #world: World;
  readonly #random: Random;
  #window: number[] = [];
  /** What the cells feel, before noise. */
  #felt: Air = { ...COLD };
  #poweredMs = 0;
  #sampleDueMs = 0;

  constructor(world: World, end: DeviceEnd) {
    super(world, end, BAUD, 'zphs01b-line');
    this.#world = world;
    this.#random = world.random('zphs01b');
  }

  /** Its power comes with the plug: it starts cold. */
  override plug(): void {
    if (this.end.plugged) return;
    this.end.plug();
    this.#felt = { ...COLD };
    this.#window = [];
    this.#poweredMs = this.#world.timeMs;
  }

  before(dtMs: number): void {
    if (!this.end.plugged) return;
    if (this.#world.timeMs >= this.#sampleDueMs) this.#sample();
    this.line.takeIn(dtMs, (byte) => this.#take(byte));
  }

  after(dtMs: number): void {
    this.line.giveOut(dtMs);
  }

  #take(byte: number): void {
    this.#window.push(byte);
    if (this.#window.length > QUERY.length) this.#window.shift();
    if (this.#window.length < QUERY.length || !QUERY.every((b, i) => this.#window[i] === b)) return;
    this.#window = [];
    if (!this.line.note('query', [])) return;
    const awake = this.#world.body.powered && this.#world.timeMs - this.#poweredMs >= BOOT_MS;
    if (awake) this.line.send(encodeZphs01bAnswer(this.#reading()), ANSWER_AFTER);
  }

  #sample(): void {
    this.#sampleDueMs = this.#world.timeMs + SAMPLE_MS;
    const air = this.#world.air.rooms[this.#world.room];
    if (air === undefined) return;
    const warm = 1 - Math.exp(-(this.#world.timeMs - this.#poweredMs) / WARM_UP);
    const follow = 1 - Math.exp(-SAMPLE_MS / LAG);
    for (const q of QUANTITIES) {
      const settled = COLD[q] + warm * (air[q] - COLD[q]);
      this.#felt[q] += (warm < 0.95 ? 1 : follow) * (settled - this.#felt[q]);
    }
  }

  #reading(): Zphs01bAnswer {
    const reading = { ...this.#felt, co: 0.1, o3: 0.02, no2: 0.01 };
    for (const q of QUANTITIES) {
      const [constant, share] = NOISE[q];
      reading[q] += this.#random.gauss() * (constant + share * Math.abs(reading[q]));
    }
    return reading;
  }
}
