/**
 * Finds the frames of a Kobuki in a byte stream: AA 55, number of payload bytes, payload, XOR of everything behind
 * the two header bytes. The payload is a chain of sub-payloads: identifier, length, data. Source: Kobuki
 * documentation, appendix "Protocol Specification"; see docs/protocols/kobuki.md.
 */
import { isLayout } from './feedback.js';

export type KobukiItem =
  /** `payload` is a copy of its own. */
  | { kind: 'frame'; payload: Uint8Array }
  /** Bytes that belong to no frame, in one run. */
  | { kind: 'discarded'; bytes: number }
  /** Something looked like a frame but its checksum was wrong, or its sub-payloads made no sense. */
  | { kind: 'rejected'; why: 'checksum' | 'layout' };

export const HEADER = [0xaa, 0x55] as const;
/** Headers, length and checksum. */
const OVERHEAD = 4;
/** A sub-payload with one byte of data; the longest frame seen is 77 bytes, and 128 leaves room for all there is. */
const MIN_PAYLOAD = 3;
const MAX_PAYLOAD = 128;

type Candidate =
  | { state: 'incomplete' }
  | { state: 'none' }
  | { state: 'bad'; why: 'checksum' | 'layout' }
  | 'good';

export class KobukiParser {
  #buffer = new Uint8Array(0);

  /** Forgets a frame that was begun, after the connection broke. */
  reset(): void {
    this.#buffer = new Uint8Array(0);
  }

  /** Bytes kept because they may be the start of a frame; never more than one frame's. */
  get pending(): number {
    return this.#buffer.length;
  }

  push(chunk: Uint8Array): KobukiItem[] {
    const bytes = this.#buffer.length === 0 ? chunk : joined(this.#buffer, chunk);
    const items: KobukiItem[] = [];
    let at = 0;
    let discarded = 0;
    const tellDiscarded = () => {
      if (discarded > 0) items.push({ kind: 'discarded', bytes: discarded });
      discarded = 0;
    };
    while (at < bytes.length) {
      const candidate = candidateAt(bytes, at);
      if (candidate === 'good') {
        tellDiscarded();
        const length = bytes[at + 2] ?? 0;
        items.push({ kind: 'frame', payload: bytes.slice(at + 3, at + 3 + length) });
        at += length + OVERHEAD;
        continue;
      }
      if (candidate.state === 'incomplete') break;
      if (candidate.state === 'bad') items.push({ kind: 'rejected', why: candidate.why });
      // Only one byte is given up: a real frame may start inside what a damaged one covered.
      discarded += 1;
      at += 1;
    }
    tellDiscarded();
    this.#buffer = bytes.slice(at);
    return items;
  }
}

/** XOR of `bytes[start…end)`. */
export function xorOf(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0;
  for (let i = start; i < end; i++) sum ^= bytes[i] ?? 0;
  return sum;
}

function candidateAt(bytes: Uint8Array, at: number): Candidate {
  if (bytes[at] !== HEADER[0]) return { state: 'none' };
  const second = bytes[at + 1];
  if (second === undefined) return { state: 'incomplete' };
  if (second !== HEADER[1]) return { state: 'none' };
  const length = bytes[at + 2];
  if (length === undefined) return { state: 'incomplete' };
  if (length < MIN_PAYLOAD || length > MAX_PAYLOAD) return { state: 'bad', why: 'layout' };
  const end = at + 3 + length;
  const layout = isLayout(bytes, at + 3, length);
  if (!layout) return { state: 'bad', why: 'layout' };
  if (end >= bytes.length) return { state: 'incomplete' };
  if (xorOf(bytes, at + 2, end) !== bytes[end]) return { state: 'bad', why: 'checksum' };
  return 'good';
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
