/**
 * A fan with a Modbus RTU interface as seen from its RS-485 line, after the Modbus application protocol V1.1b3
 * and "Modbus over serial line" V1.02: functions 03, 04, 06 and 16, exceptions 01…03, CRC-16. What it has in
 * its registers is configuration, as with the fans of different makers.
 */
import type { DeviceEnd } from '../types.js';
import type { World } from '../world/world.js';
import { LineDevice } from './line-device.js';

/** Addresses as on the wire, from 0. The names and defaults are those of the `fan.registers` of a profile. */
export interface FanRegisterMap {
  /** Holding register of the set-point, and its raw value at 100 %. */
  setPoint: number;
  setPointFull: number;
  /** Input register of the speed, and revolutions per minute for one count. */
  rpm: number;
  rpmPerCount: number;
  /** Input register that is not 0 while the fan reports a fault; null when there is none. */
  fault: number | null;
}

export interface ModbusFanOptions {
  /** 1…247 */
  unitId: number;
  baudRate: number;
  registers: FanRegisterMap;
}

export const DEFAULT_FAN_OPTIONS: ModbusFanOptions = {
  unitId: 1,
  baudRate: 19_200,
  registers: { setPoint: 1, setPointFull: 1000, rpm: 1, rpmPerCount: 1, fault: 2 },
};

const READ_HOLDING = 3;
const READ_INPUT = 4;
const WRITE_ONE = 6;
const WRITE_MANY = 16;
const ILLEGAL_FUNCTION = 1;
const ILLEGAL_ADDRESS = 2;
const ILLEGAL_VALUE = 3;
/** Most registers a request may name, by the specification. */
const MOST_READ = 125;
const MOST_WRITTEN = 123;
const MOST_BYTES = 256;
/** Time to answer, ms. */
const ANSWER_AFTER = 4;
const BROADCAST = 0;

/** CRC-16/MODBUS of the first `length` bytes; sent low byte first. */
export function modbusCrc(bytes: readonly number[] | Uint8Array, length = bytes.length): number {
  let crc = 0xffff;
  for (let i = 0; i < length; i++) {
    crc ^= bytes[i] ?? 0;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  }
  return crc;
}

/** A request or answer with its CRC behind it. */
export function modbusFrame(body: readonly number[]): Uint8Array {
  const crc = modbusCrc(body);
  return Uint8Array.from([...body, crc & 0xff, crc >> 8]);
}

class ModbusException extends Error {
  constructor(readonly code: number) {
    super(`Modbus exception ${code}`);
  }
}

export class ModbusFanDevice extends LineDevice {
  readonly name = 'fan';
  readonly #world: World;
  readonly #options: ModbusFanOptions;
  /** Frames end with a pause of 3.5 characters, ms; never less than 1.75, as the specification says. */
  readonly #pauseMs: number;
  #request: number[] = [];
  #quietMs = 0;

  constructor(world: World, end: DeviceEnd, options: ModbusFanOptions = DEFAULT_FAN_OPTIONS) {
    super(world, end, options.baudRate, 'fan-line');
    this.#world = world;
    this.#options = options;
    this.#pauseMs = Math.max(1.75, (3.5 * 11 * 1000) / options.baudRate);
  }

  /** Only the serial line is pulled: the fan has its own supply and goes on turning. */
  override unplug(): void {
    this.#request = [];
    super.unplug();
  }

  before(dtMs: number): void {
    let heard = false;
    this.line.takeIn(dtMs, (byte) => {
      heard = true;
      if (this.#request.length < MOST_BYTES) this.#request.push(byte);
    });
    this.#quietMs = heard ? 0 : this.#quietMs + dtMs;
    if (!heard && this.#request.length > 0 && this.#quietMs >= this.#pauseMs) this.#frameEnded();
  }

  after(dtMs: number): void {
    this.line.giveOut(dtMs);
  }

  #frameEnded(): void {
    const request = this.#request;
    this.#request = [];
    const body = request.slice(0, -2);
    const crc = (request[request.length - 2] ?? 0) | ((request[request.length - 1] ?? 0) << 8);
    const [unit = 0, code = 0, ...data] = body;
    if (body.length < 2 || crc !== modbusCrc(body)) return;
    if (unit !== this.#options.unitId && unit !== BROADCAST) return;
    if (!this.#world.body.powered) return;
    const answer = this.#answer(code, data);
    if (answer !== null && unit !== BROADCAST) this.line.send(modbusFrame([unit, ...answer]), ANSWER_AFTER);
  }

  /** The answer without unit and CRC; null for none. */
  #answer(code: number, data: readonly number[]): number[] | null {
    try {
      switch (code) {
        case READ_HOLDING:
        case READ_INPUT:
          return this.#read(code, data);
        case WRITE_ONE:
          return this.#writeOne(data);
        case WRITE_MANY:
          return this.#writeMany(data);
        default:
          throw new ModbusException(ILLEGAL_FUNCTION);
      }
    } catch (error) {
      if (error instanceof ModbusException) return [code | 0x80, error.code];
      throw error;
    }
  }

  #read(code: number, data: readonly number[]): number[] | null {
    const first = word(data, 0);
    const count = word(data, 2);
    if (data.length !== 4 || count < 1 || count > MOST_READ) throw new ModbusException(ILLEGAL_VALUE);
    const what = code === READ_HOLDING ? 'read_holding' : 'read_input';
    if (!this.line.note(what, [first, count])) return null;
    const values = Array.from({ length: count }, (_, i) =>
      code === READ_HOLDING ? this.#holding(first + i) : this.#input(first + i),
    );
    return [code, 2 * count, ...values.flatMap((v) => [v >> 8, v & 0xff])];
  }

  #writeOne(data: readonly number[]): number[] | null {
    if (data.length !== 4) throw new ModbusException(ILLEGAL_VALUE);
    this.#checkWrite(word(data, 0), word(data, 2));
    if (!this.line.note('write_register', [word(data, 0), word(data, 2)])) return null;
    this.#write(word(data, 2));
    return [WRITE_ONE, ...data];
  }

  #writeMany(data: readonly number[]): number[] | null {
    const first = word(data, 0);
    const count = word(data, 2);
    if (count < 1 || count > MOST_WRITTEN || data[4] !== 2 * count || data.length !== 5 + 2 * count) {
      throw new ModbusException(ILLEGAL_VALUE);
    }
    const values = Array.from({ length: count }, (_, i) => word(data, 5 + 2 * i));
    values.forEach((value, i) => {
      this.#checkWrite(first + i, value);
    });
    if (!this.line.note('write_registers', [first, ...values])) return null;
    for (const value of values) this.#write(value);
    return [WRITE_MANY, ...data.slice(0, 4)];
  }

  #checkWrite(address: number, value: number): void {
    const { setPoint, setPointFull } = this.#options.registers;
    if (address !== setPoint) throw new ModbusException(ILLEGAL_ADDRESS);
    if (value > setPointFull) throw new ModbusException(ILLEGAL_VALUE);
  }

  #write(setPoint: number): void {
    this.#world.fan.setPointPercent = (setPoint / this.#options.registers.setPointFull) * 100;
  }

  #holding(address: number): number {
    const { setPoint, setPointFull } = this.#options.registers;
    if (address !== setPoint) throw new ModbusException(ILLEGAL_ADDRESS);
    return Math.round((this.#world.fan.setPointPercent / 100) * setPointFull);
  }

  #input(address: number): number {
    const { rpm, rpmPerCount, fault } = this.#options.registers;
    if (address === rpm) return Math.round(this.#world.fan.rpm / rpmPerCount);
    if (address === fault) return this.#world.fan.blocked ? 1 : 0;
    throw new ModbusException(ILLEGAL_ADDRESS);
  }
}

function word(data: readonly number[], offset: number): number {
  return ((data[offset] ?? 0) << 8) | (data[offset + 1] ?? 0);
}
