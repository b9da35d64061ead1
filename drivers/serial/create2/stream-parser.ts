/**
 * Finds sensor stream frames (opcode 148) in a byte stream: 19, number of bytes that follow, `[packet, data…]…`,
 * checksum; the sum of all of them is 0 modulo 256. The stream can start anywhere, and 19 occurs in data.
 */
import { type PacketValues, packetMembers, readPacket } from './packets.js';

export type StreamItem =
  | { kind: 'frame'; values: PacketValues }
  /** Bytes that belong to no frame, in one run. */
  | { kind: 'discarded'; bytes: number }
  /** Something looked like a frame but its sum was wrong, or its contents made no sense. */
  | { kind: 'rejected'; why: 'checksum' | 'layout' };

const HEADER = 19;
/** Header, length and checksum. */
const OVERHEAD = 3;

type Candidate =
  | { state: 'incomplete' }
  | { state: 'bad'; why: 'checksum' | 'layout' | null }
  | { state: 'good'; end: number; values: PacketValues };

export class OiStreamParser {
  #buffer = new Uint8Array(0);
  readonly #expected: Uint8Array | null;

  /**
   * With `packets`, only frames that hold exactly these packets in this order are accepted: another program's
   * stream, or noise with a matching sum, then cannot pass for sensor data.
   */
  constructor(packets?: readonly number[]) {
    this.#expected = packets === undefined ? null : Uint8Array.from(packets);
  }

  /** Forgets a frame that was begun, after the connection broke. */
  reset(): void {
    this.#buffer = new Uint8Array(0);
  }

  /** Bytes kept because they may be the start of a frame; never more than one frame's. */
  get pending(): number {
    return this.#buffer.length;
  }

  push(chunk: Uint8Array): StreamItem[] {
    const bytes = this.#buffer.length === 0 ? chunk : concat(this.#buffer, chunk);
    const items: StreamItem[] = [];
    let at = 0;
    let discarded = 0;
    while (at < bytes.length) {
      const candidate = this.#at(bytes, at);
      if (candidate.state === 'incomplete') break;
      if (candidate.state === 'bad') {
        if (candidate.why !== null) items.push({ kind: 'rejected', why: candidate.why });
        // Only the header byte is given up: a real frame may start inside what a false one covered.
        discarded += 1;
        at += 1;
        continue;
      }
      if (discarded > 0) items.push({ kind: 'discarded', bytes: discarded });
      discarded = 0;
      items.push({ kind: 'frame', values: candidate.values });
      at = candidate.end;
    }
    if (discarded > 0) items.push({ kind: 'discarded', bytes: discarded });
    this.#buffer = bytes.slice(at);
    return items;
  }

  #at(bytes: Uint8Array, start: number): Candidate {
    if (bytes[start] !== HEADER) return { state: 'bad', why: null };
    const length = bytes[start + 1];
    if (length === undefined) return { state: 'incomplete' };
    const layout = this.#layout(bytes, start + 2, length);
    if (layout === 'bad') return { state: 'bad', why: 'layout' };
    const end = start + length + OVERHEAD;
    if (end > bytes.length) return { state: 'incomplete' };
    let sum = 0;
    for (let i = start; i < end; i++) sum += bytes[i] ?? 0;
    if ((sum & 0xff) !== 0) return { state: 'bad', why: 'checksum' };
    return { state: 'good', end, values: layout };
  }

  /** Reads the packets as far as they have arrived; `bad` as soon as they cannot be a frame. */
  #layout(bytes: Uint8Array, start: number, length: number): PacketValues | 'bad' {
    const values = new Map<number, number>();
    const end = start + length;
    let at = start;
    let index = 0;
    while (at < end && at < bytes.length) {
      const id = bytes[at] ?? 0;
      if (this.#expected !== null && this.#expected[index] !== id) return 'bad';
      const members = packetMembers(id);
      if (members === null) return 'bad';
      at = readPacket(members, bytes, at + 1, values);
      index += 1;
    }
    if (at > end || length === 0) return 'bad';
    const whole = at === end;
    if (whole && this.#expected !== null && index !== this.#expected.length) return 'bad';
    return values;
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}
