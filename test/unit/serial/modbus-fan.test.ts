import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import ModbusRTU from 'modbus-serial';
import { describe, expect, it } from 'vitest';
import { ModbusFan, type ModbusFanOptions } from '../../../drivers/serial/modbus-fan/modbus-fan.js';
import {
  crc16,
  readRequest,
  takeAnswer,
  writeMultipleRequest,
  writeSingleRequest,
} from '../../../drivers/serial/modbus-fan/rtu.js';
import type { FanReading } from '../../../drivers/serial/types.js';
import { bench, concat, hex, toHex } from './support.js';

/** Adds the CRC to an example of the specification, which gives function and data only. */
function adu(text: string, unit = 0x11): Uint8Array {
  const body = concat(Uint8Array.of(unit), hex(text));
  const crc = crc16(body);
  return concat(body, Uint8Array.of(crc & 0xff, crc >> 8));
}

const REGISTERS = { setPoint: 1, setPointFull: 1000, rpm: 16, rpmPerCount: 2, fault: 18 };

/** A fan that does as it is told, at byte level. */
function fanPeer() {
  const state = { setPoint: 0, rpm: 0, fault: 0, silent: false, exception: 0, corrupt: 0, late: 0 };
  const answerTo = (request: Uint8Array): Uint8Array | null => {
    const [unit = 0, code = 0] = request;
    const address = ((request[2] ?? 0) << 8) | (request[3] ?? 0);
    const value = ((request[4] ?? 0) << 8) | (request[5] ?? 0);
    if (state.silent || unit !== 7) return null;
    if (state.exception !== 0) return adu(`${two(code | 0x80)} ${two(state.exception)}`, unit);
    if (code === 6) {
      state.setPoint = value;
      state.rpm = 2 * value;
      return request;
    }
    if (code === 16) {
      state.setPoint = ((request[7] ?? 0) << 8) | (request[8] ?? 0);
      return adu(`10 ${word(address)} 00 01`, unit);
    }
    const register = { 1: state.setPoint, 16: state.rpm / 2, 18: state.fault }[address] ?? 0;
    return adu(`${two(code)} 02 ${word(register)}`, unit);
  };
  return { state, answerTo };
}

const two = (n: number) => n.toString(16).padStart(2, '0');
const word = (n: number) => `${two(n >> 8)} ${two(n & 0xff)}`;

async function connect(options: Partial<ModbusFanOptions> = {}) {
  const b = bench('fan');
  const peer = fanPeer();
  const fan = new ModbusFan({ ...b.options, registers: REGISTERS, unitId: 7, ...options });
  const readings: FanReading[] = [];
  fan.onReading((reading) => readings.push(reading));
  b.onHostBytes((request) => {
    const answer = peer.answerTo(request);
    if (answer === null) return;
    if (peer.state.corrupt-- > 0) answer[3] = (answer[3] ?? 0) ^ 0x10;
    b.clock.after(4, () => b.device.write(answer));
  });
  fan.start();
  await b.clock.advanceAsync(100);
  return { ...b, fan, readings, peer: peer.state, advance: (ms: number) => b.clock.advanceAsync(ms) };
}

async function outcome(promise: Promise<unknown>, advance: (ms: number) => Promise<void>, ms = 3000) {
  const settled = promise.then(
    () => 'ok',
    (error: unknown) => error,
  );
  await advance(ms);
  return settled;
}

describe('Modbus RTU frames', () => {
  it('carry the CRC of the specification, low byte first', () => {
    // MODBUS over Serial Line V1.02, appendix B: CRC of 02 07 is 1241 hex, sent as 41 12.
    expect(crc16(hex('02 07'))).toBe(0x1241);
    expect(toHex(readRequest(1, 'readHolding', 0, 10))).toBe('01 03 00 00 00 0A C5 CD');
  });

  it('ask as in the examples of the specification', () => {
    expect(readRequest(0x11, 'readHolding', 0x6b, 3)).toEqual(adu('03 00 6B 00 03'));
    expect(readRequest(0x11, 'readInput', 8, 1)).toEqual(adu('04 00 08 00 01'));
    expect(writeSingleRequest(0x11, 1, 3)).toEqual(adu('06 00 01 00 03'));
    expect(writeMultipleRequest(0x11, 1, [0x000a, 0x0102])).toEqual(adu('10 00 01 00 02 04 00 0A 01 02'));
  });

  it('are answered as in the examples of the specification', () => {
    const read = takeAnswer(adu('03 00 6B 00 03'), adu('03 06 02 2B 00 00 00 64'));
    expect(read).toEqual({ state: 'ok', registers: [555, 0, 100] });
    expect(takeAnswer(adu('04 00 08 00 01'), adu('04 02 00 0A'))).toEqual({ state: 'ok', registers: [10] });
    const echo = adu('06 00 01 00 03');
    expect(takeAnswer(echo, echo)).toEqual({ state: 'ok', registers: [] });
    const many = adu('10 00 01 00 02 04 00 0A 01 02');
    expect(takeAnswer(many, adu('10 00 01 00 02'))).toEqual({ state: 'ok', registers: [] });
    expect(takeAnswer(adu('03 04 A1 00 01'), adu('83 02'))).toEqual({ state: 'exception', code: 2 });
  });

  it('are the ones that another Modbus library sends, and it understands the same answers', async () => {
    const line = new LibraryPort();
    const library = new ModbusRTU.default(line as never);
    library.setID(0x11);
    library.setTimeout(1000);
    await new Promise<void>((resolve) => library.open(() => resolve()));
    line.answer = adu('03 06 02 2B 00 00 00 64');
    const { data } = await library.readHoldingRegisters(0x6b, 3);
    expect(line.sent.pop()).toEqual(readRequest(0x11, 'readHolding', 0x6b, 3));
    expect(takeAnswer(readRequest(0x11, 'readHolding', 0x6b, 3), line.answer)).toMatchObject({
      registers: data,
    });
    line.answer = writeSingleRequest(0x11, 1, 700);
    await library.writeRegister(1, 700);
    expect(line.sent.pop()).toEqual(line.answer);
    line.answer = adu('10 00 01 00 02');
    await library.writeRegisters(1, [10, 258]);
    expect(line.sent.pop()).toEqual(writeMultipleRequest(0x11, 1, [10, 258]));
  });

  it('need all their bytes, and are refused with one wrong bit', () => {
    const request = adu('03 00 6B 00 03');
    const answer = adu('03 06 02 2B 00 00 00 64');
    for (let n = 0; n < answer.length; n++) {
      expect(takeAnswer(request, answer.slice(0, n))).toEqual({ state: 'incomplete' });
    }
    fc.assert(
      fc.property(fc.nat(8 * answer.length - 1), (bit) => {
        const damaged = answer.slice();
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(takeAnswer(request, damaged).state).not.toBe('ok');
      }),
    );
  });

  it('from another device, or to another question, do not count as the answer', () => {
    const request = adu('04 00 08 00 01');
    expect(takeAnswer(request, adu('04 02 00 0A', 0x12))).toEqual({ state: 'bad', why: 'mismatch' });
    expect(takeAnswer(request, adu('03 02 00 0A'))).toEqual({ state: 'bad', why: 'mismatch' });
    expect(takeAnswer(request, adu('04 04 00 0A 00 0B'))).toEqual({ state: 'bad', why: 'mismatch' });
    expect(takeAnswer(adu('06 00 01 00 03'), adu('06 00 01 00 04'))).toEqual({
      state: 'bad',
      why: 'mismatch',
    });
  });

  it('are not made for numbers that no register can have', () => {
    expect(() => writeSingleRequest(1, 1, 70_000)).toThrow(/0…65535, got 70000/);
    expect(() => writeSingleRequest(1, -1, 0)).toThrow(RangeError);
    expect(() => readRequest(1, 'readInput', 0, 126)).toThrow(/1…125, got 126/);
  });
});

describe('the fan', () => {
  it('is read once a period: speed, set-point, fault', async () => {
    const { readings, peer, advance, clock } = await connect();
    expect(readings.at(-1)).toEqual({ at: expect.any(Number), rpm: 0, setPointPercent: 0, fault: false });
    Object.assign(peer, { setPoint: 450, rpm: 1200, fault: 4 });
    await advance(1000);
    expect(readings.at(-1)).toMatchObject({ rpm: 1200, setPointPercent: 45, fault: true });
    expect(clock.now() - (readings.at(-1)?.at ?? 0)).toBeLessThan(200);
  });

  it('turns at the percentage asked for, once it has confirmed it', async () => {
    const { fan, peer, advance } = await connect();
    expect(await outcome(fan.setSpeed(60, 1), advance, 50)).toBe('ok');
    expect(peer.setPoint).toBe(600);
    const reading = fan.read();
    await advance(100);
    expect(await reading).toMatchObject({ rpm: 1200, setPointPercent: 60 });
  });

  it('can be one that takes only "write multiple registers"', async () => {
    const { fan, peer, advance, take } = await connect({ writeWith: 'multiple' });
    take();
    expect(await outcome(fan.setSpeed(25, 1), advance, 50)).toBe('ok');
    expect(take()[0]).toBe(toHex(adu('10 00 01 00 01 02 00 FA', 7)));
    expect(peer.setPoint).toBe(250);
  });

  it('refuses a speed outside 0…100 by name, and sends nothing', async () => {
    const { fan, take } = await connect();
    take();
    for (const percent of [-1, 101, Number.NaN]) {
      await expect(fan.setSpeed(percent, 1)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    }
    expect(take()).toEqual([]);
  });

  it('refuses a speed under a token older than the newest, and one without any; a stop needs none', async () => {
    const { fan, peer, advance, take } = await connect();
    expect(await outcome(fan.setSpeed(60, 7), advance, 50)).toBe('ok');
    take();
    await expect(fan.setSpeed(90, 6)).rejects.toMatchObject({ reason: 'RESOURCE_BUSY' });
    await expect(fan.setSpeed(90)).rejects.toMatchObject({ reason: 'RESOURCE_BUSY' });
    expect(take()).toEqual([]);
    expect(peer.setPoint).toBe(600);
    expect(fan.counters().stale_fences).toBe(2);
    expect(await outcome(fan.setSpeed(0), advance, 50)).toBe('ok');
    expect(peer.setPoint).toBe(0);
  });

  it('mends a damaged answer by asking again', async () => {
    const { fan, peer, advance } = await connect();
    peer.corrupt = 2;
    expect(await outcome(fan.setSpeed(30, 1), advance)).toBe('ok');
    expect(fan.counters().crc_errors).toBe(2);
  });

  it('fails with HARDWARE_FAULT when it does not answer, and is told to stop when it is back', async () => {
    const { fan, peer, advance } = await connect();
    await outcome(fan.setSpeed(80, 1), advance, 50);
    peer.silent = true;
    expect(await outcome(fan.setSpeed(40, 1), advance)).toMatchObject({
      reason: 'HARDWARE_FAULT',
      message: 'fan set-point: no answer in 300 ms',
    });
    expect(peer.setPoint).toBe(800);
    peer.silent = false;
    await advance(3000);
    expect(peer.setPoint).toBe(0);
  });

  it('fails with what the fan said when it refuses, without asking again', async () => {
    const { fan, peer, advance } = await connect();
    peer.exception = 3;
    const before = fan.counters().exception_errors ?? 0;
    expect(await outcome(fan.setSpeed(10, 1), advance, 100)).toMatchObject({
      reason: 'HARDWARE_FAULT',
      message: 'fan set-point: refused: value not allowed (exception 3)',
    });
    expect((fan.counters().exception_errors ?? 0) - before).toBe(1);
  });

  it('has its set-point written again while it runs, for fans that stop without', async () => {
    const { fan, advance } = await connect({ keepAliveMs: 3000 });
    await outcome(fan.setSpeed(50, 1), advance, 50);
    await advance(10_000);
    expect(fan.counters().keep_alives).toBe(3);
    await outcome(fan.setSpeed(0), advance, 50);
    await advance(10_000);
    expect(fan.counters()).toMatchObject({ keep_alives: 3, set_point_lost: 0 });
  });

  it('gets its set-point back after it lost it', async () => {
    const { fan, peer, advance } = await connect();
    await outcome(fan.setSpeed(50, 1), advance, 50);
    peer.setPoint = 0;
    await advance(1100);
    expect(peer.setPoint).toBe(500);
    expect(fan.counters().set_point_lost).toBe(1);
  });

  it('is left as it is until somebody asks for a speed', async () => {
    const { peer, advance } = await connect();
    peer.setPoint = 700;
    await advance(10_000);
    expect(peer.setPoint).toBe(700);
  });

  it('fails at once while unplugged, and gets the speed that stands when it is plugged in', async () => {
    const { fan, peer, advance, device } = await connect();
    await outcome(fan.setSpeed(50, 1), advance, 50);
    device.unplug();
    expect(fan.connected).toBe(false);
    peer.setPoint = 0;
    device.plug();
    await advance(2000);
    expect(peer.setPoint).toBe(500);
    device.unplug();
    await expect(fan.setSpeed(0)).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
    await expect(fan.read()).rejects.toMatchObject({ message: 'fan set-point: not connected' });
    device.plug();
    await advance(2000);
    expect(peer.setPoint).toBe(0);
  });

  it('answers many at once in order, and refuses more than it can queue', async () => {
    const { fan, peer, advance } = await connect();
    const results = Array.from({ length: 20 }, (_, i) =>
      fan.setSpeed(i, 1).then(
        () => 'ok',
        (error: { message: string }) => error.message,
      ),
    );
    await advance(3000);
    const settled = await Promise.all(results);
    expect(settled.slice(0, 17)).toEqual(Array.from({ length: 17 }, () => 'ok'));
    expect(settled[19]).toMatch(/waiting already/);
    expect(peer.setPoint).toBe(0);
  });

  it('does not take a late answer for the next one', async () => {
    const { fan, peer, advance, device, take } = await connect({ retries: 0 });
    await outcome(fan.setSpeed(50, 1), advance, 50);
    peer.silent = true;
    const first = outcome(fan.read(), advance, 310);
    await first;
    take();
    // The answer to the set-point question, too late.
    device.write(adu('03 02 01 F4', 7));
    peer.silent = false;
    await advance(1500);
    expect(fan.connected).toBe(true);
    expect(fan.counters().mismatch_errors).toBe(0);
  });
});

/** The port interface of `modbus-serial`, which its client is handed. */
class LibraryPort extends EventEmitter {
  readonly sent: Uint8Array[] = [];
  answer: Uint8Array = new Uint8Array(0);
  isOpen = false;

  open(done: (error: Error | null) => void): void {
    this.isOpen = true;
    done(null);
  }
  close(done: (error: Error | null) => void): void {
    done(null);
  }
  write(data: Buffer): void {
    this.sent.push(new Uint8Array(data));
    setImmediate(() => this.emit('data', Buffer.from(this.answer)));
  }
}
