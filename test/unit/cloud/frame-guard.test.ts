import { type Duplex, duplexPair } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../config/contracts/sim-clock.js';
import { FrameGuard } from '../../../daemon/cloud/frame-guard.js';

const LIMIT = 500;

const TOPIC = Buffer.from('deviceagent/da/command');

/** MQTT 3.1.1 §3.3: fixed header, topic, packet id, payload; QoS 1. */
const publish = (size: number, id: number) =>
  packet(0x32, Buffer.concat([u16(TOPIC.length), TOPIC, u16(id), Buffer.alloc(size, 'x')]));
const puback = (id: number) => packet(0x40, u16(id));

function packet(type: number, body: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = body.length; ; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([type, ...length]), body]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** Whole packets at the start of `bytes`. */
function readPackets(bytes: Buffer) {
  const packets: { cmd: string; messageId: number; size: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    let length = 0;
    let header = 1;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at + header++] ?? 0;
      length += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) break;
    }
    const body = bytes.subarray(at + header, at + header + length);
    at += header + length;
    if (bytes[at - header - length] === 0x40)
      packets.push({ cmd: 'puback', messageId: body.readUInt16BE(0), size: 0 });
    else {
      const topic = body.readUInt16BE(0);
      packets.push({
        cmd: 'publish',
        messageId: body.readUInt16BE(2 + topic),
        size: body.length - topic - 4,
      });
    }
  }
  return packets;
}

/** Sends bytes through the guard in chunks and parses what comes out. */
async function through(bytes: Buffer, chunkSizes: readonly number[]) {
  const [broker, inner] = duplexPair();
  const guard = new FrameGuard(inner, LIMIT);
  const out: Buffer[] = [];
  guard.on('data', (chunk: Buffer) => out.push(chunk));
  guard.on('error', () => {});
  let at = 0;
  for (const size of [...chunkSizes, bytes.length]) {
    const chunk = bytes.subarray(at, at + size);
    if (chunk.length > 0) broker.write(chunk);
    at += size;
  }
  await settle(6);
  return { packets: readPackets(Buffer.concat(out)), guard, broker };
}

describe('the guard against packets that are too large', () => {
  it('passes ordinary packets on unchanged, however the bytes are cut', async () => {
    const bytes = Buffer.concat([publish(10, 1), puback(7), publish(0, 2), publish(300, 3), puback(8)]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 40 }), async (sizes) => {
        const { packets, guard } = await through(bytes, sizes);
        expect(packets.map((packet) => [packet.cmd, packet.messageId, packet.size])).toEqual([
          ['publish', 1, 10],
          ['puback', 7, 0],
          ['publish', 2, 0],
          ['publish', 3, 300],
          ['puback', 8, 0],
        ]);
        expect(guard.cut).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('cuts a message over the limit to the limit, still with its id, and goes on behind it', async () => {
    const bytes = Buffer.concat([publish(10, 1), publish(200_000, 2), publish(20, 3)]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 30 }), async (sizes) => {
        const { packets, guard } = await through(bytes, sizes);
        expect(packets.map((packet) => packet.messageId)).toEqual([1, 2, 3]);
        expect(packets[1]?.size).toBeLessThan(LIMIT);
        expect(packets[1]?.size).toBeGreaterThan(LIMIT - 40);
        expect(packets[2]?.size).toBe(20);
        expect(guard.cut).toBe(1);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['a length over four bytes', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01])],
    ['an oversized packet that is no message', Buffer.from([0x90, 0xff, 0xff, 0x7f])],
  ])('ends the connection on %s', async (_name, bytes) => {
    const { guard } = await through(bytes, []);
    expect(guard.destroyed).toBe(true);
  });

  it('passes writes, ends and breaks on to the transport', async () => {
    const [broker, inner] = duplexPair();
    const guard = new FrameGuard(inner);
    const received: Buffer[] = [];
    broker.on('data', (chunk: Buffer) => received.push(chunk));
    guard.cork();
    guard.write('a');
    guard.write('b');
    guard.uncork();
    await settle();
    expect(Buffer.concat(received).toString()).toBe('ab');
    guard.destroy();
    await settle();
    expect((inner as Duplex).destroyed).toBe(true);
  });
});
