/** Sound frames of the serial devices with random contents, so that damage is what is wrong with them. */
import { crc8 } from '../../../drivers/serial/ld19/frame.js';
import { crc16 } from '../../../drivers/serial/modbus-fan/rtu.js';
import { joined } from '../mutate-bytes.js';
import { below, bytes, chance, pick } from '../pick.js';
import type { Random } from '../types.js';

/** Packets that the driver asks the base to stream, with their lengths (Create 2 Open Interface). */
const STREAM: readonly (readonly [id: number, length: number])[] = [
  [7, 1],
  [9, 1],
  [10, 1],
  [11, 1],
  [12, 1],
  [14, 1],
  [17, 1],
  [18, 1],
  [21, 1],
  [22, 2],
  [23, 2],
  [25, 2],
  [26, 2],
  [34, 1],
  [35, 1],
  [43, 2],
  [44, 2],
  [52, 1],
  [53, 1],
  [58, 1],
  [24, 1],
  [28, 2],
  [29, 2],
  [30, 2],
  [31, 2],
  [54, 2],
  [55, 2],
];

export function create2Frame(random: Random): Uint8Array {
  const others = chance(random, 0.1) ? [...STREAM].reverse() : STREAM;
  const body = joined(...others.map(([id, length]) => joined(Uint8Array.of(id), bytes(random, length))));
  const frame = joined(Uint8Array.of(19, body.length), body);
  const sum = frame.reduce((total, byte) => total + byte, 0);
  return joined(frame, Uint8Array.of(-sum & 0xff));
}

export function ld19Frame(random: Random): Uint8Array {
  const start = below(random, 36_000);
  const frame = bytes(random, 47);
  const view = new DataView(frame.buffer);
  view.setUint8(0, 0x54);
  view.setUint8(1, 0x2c);
  view.setUint16(2, chance(random, 0.9) ? 3600 : below(random, 65_536), true);
  view.setUint16(4, start, true);
  view.setUint16(42, (start + 880) % (chance(random, 0.9) ? 36_000 : 65_536), true);
  view.setUint8(46, crc8(frame, 0, 46));
  return frame;
}

/** A whole turn in order, as the lidar sends it. */
export function ld19Turn(random: Random): Uint8Array {
  const from = below(random, 36_000);
  const began = below(random, 30_000);
  const frames = Array.from({ length: 38 }, (_, i) => {
    const frame = ld19Frame(random);
    const view = new DataView(frame.buffer);
    view.setUint16(2, 3600, true);
    view.setUint16(4, (from + i * 960) % 36_000, true);
    view.setUint16(42, (from + i * 960 + 880) % 36_000, true);
    view.setUint16(44, (began + Math.round((i * 960) / 360)) % 30_000, true);
    view.setUint8(46, crc8(frame, 0, 46));
    return frame;
  });
  return joined(...frames);
}

export function zphs01bAnswer(random: Random): Uint8Array {
  const answer = bytes(random, 26);
  answer[0] = 0xff;
  answer[1] = 0x86;
  const sum = answer.subarray(1, 25).reduce((total, byte) => total + byte, 0);
  answer[25] = -sum & 0xff;
  return answer;
}

/** What a slave may say to a request: what was asked for, an exception, or an answer to something else. */
export function modbusAnswer(random: Random, request: Uint8Array): Uint8Array {
  const [unit = 1, code = 4] = chance(random, 0.9) ? request : bytes(random, 2);
  const asked = code <= 4 ? (request[5] ?? 1) : 1;
  const count = chance(random, 0.9) ? asked : pick(random, [0, 1, 2, 3, 125]);
  const body = pick(random, [
    () => joined(Uint8Array.of(unit, code, 2 * count), bytes(random, 2 * count)),
    () => joined(Uint8Array.of(unit, code, 2 * count), bytes(random, 2 * count)),
    () => Uint8Array.of(unit, code | 0x80, below(random, 12)),
    () => joined(Uint8Array.of(unit, code), chance(random, 0.5) ? request.slice(2, 6) : bytes(random, 4)),
  ])();
  const crc = crc16(body);
  return joined(body, Uint8Array.of(crc & 0xff, crc >> 8));
}

/** A report of a Kobuki whose clock goes on, with plausible flags now and then and random ones otherwise. */
export function kobukiFrame(random: Random): Uint8Array {
  const core = bytes(random, 15);
  if (chance(random, 0.8)) {
    core[2] = below(random, 8);
    core[3] = below(random, 4);
    core[4] = below(random, 8);
    core[11] = below(random, 8);
    core[12] = pick(random, [0, 2, 6, 18, 22]);
    core[14] = below(random, 4);
  }
  const inputs = bytes(random, 16);
  inputs[0] = below(random, 16);
  inputs[1] = 0;
  const part = (id: number, data: Uint8Array) => joined(Uint8Array.of(id, data.length), data);
  const payload = joined(
    part(0x01, core),
    part(0x03, bytes(random, 3)),
    part(0x04, bytes(random, 7)),
    part(0x05, bytes(random, 6)),
    part(0x06, bytes(random, 2)),
    part(0x0d, bytes(random, 2 + 6 * below(random, 4))),
    part(0x10, inputs),
    ...(chance(random, 0.1) ? [part(0x0a, bytes(random, 4)), part(0x0b, bytes(random, 4))] : []),
  );
  const body = joined(Uint8Array.of(payload.length), payload);
  const sum = body.reduce((xor, byte) => xor ^ byte, 0);
  return joined(Uint8Array.of(0xaa, 0x55), body, Uint8Array.of(sum));
}

/** What an RPLIDAR may say: answers to what it was asked, and runs of nodes. */
export function rplidarAnswer(random: Random, request: Uint8Array): Uint8Array {
  const descriptor = (length: number, mode: number, type: number) =>
    Uint8Array.of(0xa5, 0x5a, length, 0, 0, mode, type);
  const asked = chance(random, 0.8) ? request[1] : pick(random, [0x20, 0x50, 0x52]);
  if (asked === 0x50) return joined(descriptor(20, 0, 0x04), bytes(random, 20));
  if (asked === 0x52)
    return joined(descriptor(3, 0, 0x06), Uint8Array.of(below(random, 4)), bytes(random, 2));
  const from = below(random, 360);
  const nodes = Array.from({ length: 20 + below(random, 400) }, (_, i) => {
    const angle = ((from + i) % 360) * 64 + below(random, 64);
    const first = angle < 64 ? 1 : 2;
    return Uint8Array.of(
      (below(random, 64) << 2) | first,
      ((angle << 1) & 0xff) | 1,
      (angle >> 7) & 0xff,
      ...bytes(random, 2),
    );
  });
  return joined(...(chance(random, 0.5) ? [descriptor(5, 0x40, 0x81)] : []), ...nodes);
}
