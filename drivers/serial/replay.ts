/**
 * Recorded bytes through the parsers of the drivers, without ports, clocks or motion: `deviceagent replay FILE`.
 */
import { type Create2Sensors, decodeSensors, type EncoderOrder } from './create2/decode.js';
import { decodeQueryReply, PACKETS, type PacketValues } from './create2/packets.js';
import { OiStreamParser } from './create2/stream-parser.js';
import { decodeReport, type KobukiReport } from './kobuki/feedback.js';
import { KobukiParser } from './kobuki/frame-parser.js';
import { decodeFrame, type Ld19Frame } from './ld19/frame.js';
import { Ld19Parser } from './ld19/frame-parser.js';
import { LD19_DEFAULTS } from './ld19/ld19-lidar.js';
import { RevolutionAssembler } from './ld19/revolution.js';
import {
  ANSWER,
  type DeviceHealth,
  type DeviceInfo,
  decodeHealth,
  decodeInfo,
  decodeNode,
  type Node,
  REQUEST,
} from './rplidar/protocol.js';
import { RPLIDAR_DEFAULTS } from './rplidar/rplidar-lidar.js';
import { RplidarParser } from './rplidar/stream-parser.js';
import { TurnCollector } from './rplidar/turn.js';
import { AnswerParser, type Zphs01bAnswer } from './zphs01b/answer.js';

export const REPLAY_KINDS = ['create2', 'kobuki', 'ld19', 'rplidar_a1', 'zphs01b'] as const;
export type ReplayKind = (typeof REPLAY_KINDS)[number];

export type ReplayItem =
  /** A sensor report of the base; `packets` are the raw values by name. */
  | { type: 'base'; packets: Record<string, number>; sensors: Create2Sensors }
  | { type: 'kobuki'; report: KobukiReport }
  | { type: 'lidar_answer'; answer: DeviceInfo | DeviceHealth | null }
  | { type: 'lidar_node'; node: Node }
  | { type: 'lidar_frame'; frame: Ld19Frame }
  /** A full turn in `base_link`: metres from −π on, counter-clockwise; null where nothing came back. */
  | { type: 'scan'; ranges: (number | null)[]; coverage: number }
  | { type: 'scan_dropped'; coverage: number }
  | { type: 'air'; answer: Zphs01bAnswer }
  /** Bytes that belong to no frame. */
  | { type: 'discarded'; bytes: number }
  /** What looked like a frame and was not used. */
  | { type: 'rejected'; why: string; count: number }
  /** Bytes at the end that may be the start of a frame. */
  | { type: 'incomplete'; bytes: number };

const CHUNK = 4096;

/** Everything that the driver of `kind` makes of `bytes`, in order. */
export function* replayBytes(kind: ReplayKind, bytes: Uint8Array): Generator<ReplayItem> {
  const replay = {
    create2: replayBase,
    kobuki: replayKobuki,
    ld19: replayLidar,
    rplidar_a1: replayRplidar,
    zphs01b: replayAir,
  }[kind];
  yield* replay(bytes);
}

/**
 * The answer of a base to a Sensors command (opcode 142) for packet `id`; null when the number is unknown or the
 * length is not that packet's.
 */
export function replayQueryReply(
  id: number,
  bytes: Uint8Array,
  encoderOrder?: EncoderOrder,
): ReplayItem | null {
  const values = decodeQueryReply(id, bytes);
  return values === null ? null : baseItem(values, encoderOrder);
}

/** The kind whose frames make up most of `bytes`; null when there is not one frame. */
export function guessKind(bytes: Uint8Array): ReplayKind | null {
  let best: ReplayKind | null = null;
  let fewest = bytes.length;
  for (const kind of REPLAY_KINDS) {
    let unused = 0;
    for (const item of replayBytes(kind, bytes))
      if (item.type === 'discarded' || item.type === 'incomplete') unused += item.bytes;
    if (unused < fewest) {
      fewest = unused;
      best = kind;
    }
  }
  return best;
}

function* replayBase(bytes: Uint8Array): Generator<ReplayItem> {
  const parser = new OiStreamParser();
  for (const chunk of chunks(bytes)) {
    for (const item of parser.push(chunk)) {
      if (item.kind === 'frame') yield baseItem(item.values);
      else if (item.kind === 'discarded') yield { type: 'discarded', bytes: item.bytes };
      else yield { type: 'rejected', why: item.why, count: 1 };
    }
  }
  if (parser.pending > 0) yield { type: 'incomplete', bytes: parser.pending };
}

function baseItem(values: PacketValues, encoderOrder?: EncoderOrder): ReplayItem {
  const packets: Record<string, number> = {};
  for (const { id, name } of PACKETS) {
    const value = values.get(id);
    if (value !== undefined) packets[name] = value;
  }
  return { type: 'base', packets, sensors: decodeSensors(values, encoderOrder) };
}

function* replayKobuki(bytes: Uint8Array): Generator<ReplayItem> {
  const parser = new KobukiParser();
  for (const chunk of chunks(bytes)) {
    for (const item of parser.push(chunk)) {
      if (item.kind === 'discarded') yield { type: 'discarded', bytes: item.bytes };
      else if (item.kind === 'rejected') yield { type: 'rejected', why: item.why, count: 1 };
      else {
        const report = decodeReport(item.payload);
        if (report === null) yield { type: 'rejected', why: 'value', count: 1 };
        else yield { type: 'kobuki', report };
      }
    }
  }
  if (parser.pending > 0) yield { type: 'incomplete', bytes: parser.pending };
}

/** A capture that begins in the middle of a scan holds nodes without the descriptor that announces them. */
function* replayRplidar(bytes: Uint8Array): Generator<ReplayItem> {
  const items: ReplayItem[] = [];
  const turns = new TurnCollector(RPLIDAR_DEFAULTS);
  const parser = new RplidarParser({
    onAnswer: (type, data) => {
      items.push({
        type: 'lidar_answer',
        answer: type === ANSWER.info ? decodeInfo(data) : decodeHealth(data),
      });
    },
    onScanStart: () => turns.reset(),
    onNode: (node, at) => {
      items.push({ type: 'lidar_node', node: decodeNode(node, at) });
      const turn = turns.add(node, at);
      if (turn?.kind === 'dropped') items.push({ type: 'scan_dropped', coverage: turn.coverage });
      if (turn?.kind === 'scan') {
        const ranges = turn.ranges.map((range) => (Number.isNaN(range) ? null : range));
        items.push({ type: 'scan', ranges, coverage: turn.coverage });
      }
    },
  });
  if (bytes[0] !== REQUEST.scan[0]) parser.expectNodes();
  for (const chunk of chunks(bytes)) {
    const before = parser.stats.discarded;
    parser.push(chunk);
    const discarded = parser.stats.discarded - before;
    if (discarded > 0) items.push({ type: 'discarded', bytes: discarded });
    yield* items.splice(0);
  }
  if (parser.pending > 0) yield { type: 'incomplete', bytes: parser.pending };
}

function* replayLidar(bytes: Uint8Array): Generator<ReplayItem> {
  const items: ReplayItem[] = [];
  const assembler = new RevolutionAssembler(LD19_DEFAULTS);
  const parser = new Ld19Parser((frame, at) => {
    items.push({ type: 'lidar_frame', frame: decodeFrame(frame, at) });
    const turn = assembler.add(frame, at);
    if (turn?.kind === 'dropped') items.push({ type: 'scan_dropped', coverage: turn.coverage });
    if (turn?.kind === 'scan') {
      const ranges = turn.ranges.map((range) => (Number.isNaN(range) ? null : range));
      items.push({ type: 'scan', ranges, coverage: turn.coverage });
    }
  });
  for (const chunk of chunks(bytes)) {
    const before = { ...parser.stats };
    parser.push(chunk);
    for (const why of ['crc', 'speed', 'angle'] as const) {
      const count = parser.stats[why] - before[why];
      if (count > 0) items.push({ type: 'rejected', why, count });
    }
    const discarded = parser.stats.discarded - before.discarded;
    if (discarded > 0) items.push({ type: 'discarded', bytes: discarded });
    yield* items.splice(0);
  }
  if (parser.pending > 0) yield { type: 'incomplete', bytes: parser.pending };
}

function* replayAir(bytes: Uint8Array): Generator<ReplayItem> {
  const parser = new AnswerParser();
  for (const chunk of chunks(bytes)) {
    for (const item of parser.push(chunk)) {
      if (item.kind === 'answer') yield { type: 'air', answer: item.answer };
      else if (item.kind === 'discarded') yield { type: 'discarded', bytes: item.bytes };
      else yield { type: 'rejected', why: 'checksum', count: 1 };
    }
  }
  if (parser.pending > 0) yield { type: 'incomplete', bytes: parser.pending };
}

function* chunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
}
