/** Recordings in MCAP files: the robot's own (JSON) and those of ROS 2 (CDR), also compressed with zstd as a whole or in chunks. */
import { McapStreamReader, type McapTypes } from '@mcap/core';
import { decompress } from 'fzstd';
import { decodeLaserScan, decodeTwist } from './cdr.js';

const MCAP_MAGIC = [0x89, 0x4d, 0x43, 0x41, 0x50] as const;
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;
const MAX_BYTES = 1024 * 1024 * 1024;

export type RecordedItem =
  /** A scan; metres from `angle_min` on, null where nothing was seen. */
  | { type: 'scan'; topic: string; at_ms: number; angle_min: number; ranges: (number | null)[] }
  | { type: 'twist'; topic: string; at_ms: number; v: number; w: number }
  /** A message of the robot's own, or of another that is written as JSON. */
  | { type: 'message'; topic: string; at_ms: number; schema: string; value: unknown }
  /** At the end: how many of each topic there were, and of which kind. */
  | { type: 'topic'; topic: string; schema: string; encoding: string; messages: number }
  /** What could not be read; the rest was. */
  | { type: 'damaged'; message: string };

export function isMcap(bytes: Uint8Array): boolean {
  return startsWith(bytes, MCAP_MAGIC) || startsWith(bytes, ZSTD_MAGIC);
}

/** Everything in it, in the order in which it was written. */
export function* readMcap(file: Uint8Array): Generator<RecordedItem> {
  const topics = new Map<number, { channel: Channel; schema: string; messages: number }>();
  const schemas = new Map<number, string>();
  try {
    for (const record of records(file)) {
      if (record.type === 'Schema') schemas.set(record.id, record.name);
      if (record.type === 'Channel' && !topics.has(record.id)) {
        topics.set(record.id, { channel: record, schema: schemas.get(record.schemaId) ?? '', messages: 0 });
      }
      if (record.type !== 'Message') continue;
      const known = topics.get(record.channelId);
      if (known === undefined) continue;
      known.messages += 1;
      const item = decode(record, known.channel, known.schema);
      if (item !== null) yield item;
    }
  } catch (error) {
    yield { type: 'damaged', message: error instanceof Error ? error.message : String(error) };
  }
  for (const { channel, schema, messages } of topics.values()) {
    yield { type: 'topic', topic: channel.topic, schema, encoding: channel.messageEncoding, messages };
  }
}

type Channel = McapTypes.TypedMcapRecords['Channel'];
type Message = McapTypes.TypedMcapRecords['Message'];

function* records(file: Uint8Array): Generator<McapTypes.TypedMcapRecord> {
  const reader = new McapStreamReader({ decompressHandlers: { zstd: unzstd } });
  reader.append(startsWith(file, ZSTD_MAGIC) ? decompress(file) : file);
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) yield record;
}

function unzstd(bytes: Uint8Array, size: bigint): Uint8Array {
  if (size > BigInt(MAX_BYTES)) throw new RangeError(`a chunk of ${size} bytes`);
  return decompress(bytes, new Uint8Array(Number(size)));
}

function decode(
  { logTime, data }: Message,
  { topic, messageEncoding }: Channel,
  schema: string,
): RecordedItem | null {
  const at_ms = Number(logTime / 1_000_000n);
  if (messageEncoding === 'json') {
    const value: unknown = JSON.parse(new TextDecoder().decode(data));
    return { type: 'message', topic, at_ms, schema, value };
  }
  if (messageEncoding !== 'cdr') return null;
  if (schema === 'sensor_msgs/msg/LaserScan') {
    const { angleMin, rangeMin, rangeMax, ranges } = decodeLaserScan(data);
    const seen = (range: number) => (range >= rangeMin && range <= rangeMax ? range : null);
    return { type: 'scan', topic, at_ms, angle_min: angleMin, ranges: ranges.map(seen) };
  }
  if (schema === 'geometry_msgs/msg/Twist') return { type: 'twist', topic, at_ms, ...decodeTwist(data) };
  return null;
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}
