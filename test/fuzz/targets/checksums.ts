/**
 * What the checks of the serial frames hold back, by the million: a sound frame hit by a burst of at most eight wrong
 * bits must not be accepted, and of frames with everything right but a random checksum no more than one in 256 may be.
 * Only parsers, without ports and clocks: a million documents take seconds.
 */
import { STREAMED } from '../../../drivers/serial/create2/create2-base.js';
import { OiStreamParser } from '../../../drivers/serial/create2/stream-parser.js';
import { decodeReport } from '../../../drivers/serial/kobuki/feedback.js';
import { KobukiParser } from '../../../drivers/serial/kobuki/frame-parser.js';
import { Ld19Parser } from '../../../drivers/serial/ld19/frame-parser.js';
import { descriptorAt, NODE_BYTES } from '../../../drivers/serial/rplidar/protocol.js';
import { RplidarParser } from '../../../drivers/serial/rplidar/stream-parser.js';
import { AnswerParser } from '../../../drivers/serial/zphs01b/answer.js';
import { below } from '../pick.js';
import { create2Frame, kobukiFrame, ld19Frame, zphs01bAnswer } from '../seeds/frames.js';
import type { Finding, Random, Target, TargetSession } from '../types.js';

interface Checked {
  name: string;
  frame(random: Random): Uint8Array;
  /** A parser of its own; returns how many frames it accepts of what it is given. */
  parser(): (bytes: Uint8Array) => number;
  /** In which order the checksum sees the bits of a byte; a burst is contiguous in that order. */
  bits: 'high_first' | 'wire';
}

const CHECKED: readonly Checked[] = [
  {
    name: 'create2',
    frame: create2Frame,
    bits: 'wire',
    parser: () => {
      const parser = new OiStreamParser(STREAMED);
      return (bytes) => {
        parser.reset();
        return parser.push(bytes).filter((item) => item.kind === 'frame').length;
      };
    },
  },
  {
    name: 'kobuki',
    frame: kobukiFrame,
    bits: 'wire',
    parser: () => {
      const parser = new KobukiParser();
      return (bytes) => {
        parser.reset();
        return parser
          .push(bytes)
          .filter((item) => item.kind === 'frame' && decodeReport(item.payload) !== null).length;
      };
    },
  },
  {
    name: 'ld19',
    frame: ld19Frame,
    bits: 'high_first',
    parser: () => {
      let frames = 0;
      const parser = new Ld19Parser(() => {
        frames += 1;
      });
      return (bytes) => {
        parser.reset();
        frames = 0;
        parser.push(bytes);
        return frames;
      };
    },
  },
  {
    name: 'zphs01b',
    frame: zphs01bAnswer,
    bits: 'wire',
    parser: () => {
      const parser = new AnswerParser();
      return (bytes) => {
        parser.reset();
        return parser.push(bytes).filter((item) => item.kind === 'answer').length;
      };
    },
  },
];

/** Of frames with a random checksum more than this is worse than one in 256, whatever chance does. */
const WORST_SHARE = 1.15 / 256;
const ENOUGH = 20_000;
/** Near the end of a stream the run that would find the nodes again has not come yet. */
const LOST = 14;

export const checksumTargets: readonly Target[] = [
  ...CHECKED.map((kind) => ({
    name: `${kind.name}-bursts`,
    share: 1,
    open: async () => new BurstSession(kind),
  })),
  ...CHECKED.map((kind) => ({
    name: `${kind.name}-checksums`,
    share: 1,
    open: async () => new ChecksumSession(kind),
  })),
  { name: 'rplidar-bursts', share: 1, open: async () => new NodeSession() },
];

class BurstSession implements TargetSession {
  readonly #kind: Checked;
  readonly #accepted: (bytes: Uint8Array) => number;
  #sound = 0;

  constructor(kind: Checked) {
    this.#kind = kind;
    this.#accepted = kind.parser();
  }

  run(random: Random): Finding[] {
    const frame = this.#kind.frame(random);
    this.#sound += this.#accepted(frame);
    const damaged = burst(random, frame, this.#kind.bits);
    const accepted = this.#accepted(damaged);
    if (accepted === 0) return [];
    return [{ kind: 'wrong', text: `accepted ${Buffer.from(damaged).toString('hex')}` }];
  }

  accepted(): number {
    return this.#sound;
  }

  async close(): Promise<Finding[]> {
    return [];
  }
}

class ChecksumSession implements TargetSession {
  readonly #kind: Checked;
  readonly #accepted: (bytes: Uint8Array) => number;
  #tried = 0;
  #passed = 0;

  constructor(kind: Checked) {
    this.#kind = kind;
    this.#accepted = kind.parser();
  }

  run(random: Random): Finding[] {
    const frame = this.#kind.frame(random);
    frame[frame.length - 1] = below(random, 256);
    this.#tried += 1;
    this.#passed += this.#accepted(frame);
    return [];
  }

  accepted(): number {
    return this.#passed;
  }

  async close(): Promise<Finding[]> {
    const share = this.#passed / Math.max(1, this.#tried);
    if (this.#tried < ENOUGH || share <= WORST_SHARE) return [];
    return [{ kind: 'wrong', text: `${this.#passed} of ${this.#tried} random checksums were accepted` }];
  }
}

/** Nodes have no checksum: what must hold is that a burst changes two neighbouring points at most, and loses no more than a few. */
class NodeSession implements TargetSession {
  #nodes: string[] = [];
  readonly #parser = new RplidarParser({
    onAnswer: () => {},
    onScanStart: () => {},
    onNode: (bytes, at) => this.#nodes.push(Buffer.from(bytes.subarray(at, at + NODE_BYTES)).toString('hex')),
  });
  #passed = 0;

  run(random: Random): Finding[] {
    const stream = turn(random);
    const sound = this.#parse(stream);
    const damaged = this.#parse(burst(random, stream, 'wire', descriptorAt(stream, 0) === null ? 0 : 7));
    const known = new Set(sound);
    const wrong = damaged.filter((node) => !known.has(node)).length;
    this.#passed += wrong;
    if (wrong > 2 || damaged.length < sound.length - LOST) {
      return [{ kind: 'wrong', text: `${wrong} nodes changed, ${sound.length - damaged.length} were lost` }];
    }
    return [];
  }

  accepted(): number {
    return this.#passed;
  }

  async close(): Promise<Finding[]> {
    return [];
  }

  #parse(bytes: Uint8Array): string[] {
    this.#nodes = [];
    this.#parser.reset();
    this.#parser.push(bytes);
    return this.#nodes;
  }
}

/** A descriptor and an eighth of a turn, one node a degree. */
function turn(random: Random): Uint8Array {
  const out = [0xa5, 0x5a, 5, 0, 0, 0x40, 0x81];
  const from = below(random, 300);
  for (let i = 0; i < 48; i++) {
    const angle = (from + i) * 64 + below(random, 32);
    out.push(
      (15 << 2) | 2,
      ((angle << 1) & 0xff) | 1,
      (angle >> 7) & 0xff,
      below(random, 256),
      8 + below(random, 32),
    );
  }
  return Uint8Array.from(out);
}

/** Flips at least one of eight neighbouring bits, behind the first `from` bytes. */
function burst(random: Random, frame: Uint8Array, bits: Checked['bits'], from = 0): Uint8Array {
  const damaged = Uint8Array.from(frame);
  const first = 8 * from + below(random, 8 * (frame.length - from));
  const pattern = 1 | (below(random, 128) << 1);
  for (let bit = 0; bit < 8; bit++) {
    if (((pattern >> bit) & 1) === 0) continue;
    const at = first + bit;
    const byte = damaged[at >> 3];
    if (byte === undefined) continue;
    damaged[at >> 3] = byte ^ (bits === 'wire' ? 1 << (at & 7) : 0x80 >> (at & 7));
  }
  return damaged;
}
