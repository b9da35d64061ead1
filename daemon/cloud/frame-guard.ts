import { Duplex } from 'node:stream';

/** Packets up to this size are passed on whole; the wire contract asks for at least 2 MiB. */
export const MAX_PACKET_BYTES = 2 * 1024 * 1024 + 64 * 1024;

const PUBLISH = 3;

/** MQTT 3.1.1 §2.2, the same in MQTT 5. `size`: bytes of this fixed header. */
interface FixedHeader {
  type: number;
  size: number;
  remaining: number;
}

/**
 * Bounds what one inbound MQTT packet can cost. An MQTT 3.1.1 broker may deliver 256 MB in one packet and the
 * parser would gather all of it; here a PUBLISH over the limit is cut to the limit, with its header corrected, so
 * that it is acknowledged and answered as too large instead of being redelivered for ever.
 */
export class FrameGuard extends Duplex {
  /** Packets that were cut. */
  cut = 0;
  readonly #inner: Duplex;
  readonly #limit: number;
  /** Bytes of the current packet still to pass on, and then to throw away. */
  #pass = 0;
  #skip = 0;
  /** The first bytes of a fixed header that a chunk ended in. */
  #carry: Buffer | null = null;

  constructor(inner: Duplex, limit = MAX_PACKET_BYTES) {
    super({ allowHalfOpen: false });
    this.#inner = inner;
    this.#limit = limit;
    inner.on('data', (chunk: Buffer) => this.#receive(chunk));
    inner.on('end', () => this.push(null));
    inner.on('error', (error) => this.destroy(error));
    inner.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#inner.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#inner.write(chunk, done);
  }

  override _writev(items: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#inner.write(Buffer.concat(items.map((item) => item.chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#inner.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner.destroy();
    done(error);
  }

  #receive(arrived: Buffer): void {
    const chunk = this.#carry === null ? arrived : Buffer.concat([this.#carry, arrived]);
    this.#carry = null;
    let position = 0;
    /** Start of the bytes that go on as they are. */
    let keep = 0;
    while (position < chunk.length) {
      if (this.#pass > 0) {
        const passed = Math.min(this.#pass, chunk.length - position);
        this.#pass -= passed;
        position += passed;
      } else if (this.#skip > 0) {
        this.#forward(chunk.subarray(keep, position));
        const skipped = Math.min(this.#skip, chunk.length - position);
        this.#skip -= skipped;
        position += skipped;
        keep = position;
      } else {
        const header = readHeader(chunk, position);
        if (header === 'malformed') {
          this.#malformed('a remaining length over four bytes');
          return;
        }
        if (header === 'incomplete') {
          this.#carry = chunk.subarray(position);
          break;
        }
        if (header.remaining > this.#limit) {
          if (header.type >> 4 !== PUBLISH) {
            this.#malformed(`a control packet of ${header.remaining} bytes`);
            return;
          }
          this.#forward(chunk.subarray(keep, position));
          this.#forward(Buffer.from([header.type, ...lengthBytes(this.#limit)]));
          keep = position + header.size;
          this.cut += 1;
        }
        position += header.size;
        this.#pass = Math.min(header.remaining, this.#limit);
        this.#skip = header.remaining - this.#pass;
      }
    }
    this.#forward(chunk.subarray(keep, position));
  }

  #forward(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.#inner.pause();
  }

  #malformed(what: string): void {
    this.destroy(new Error(`the broker sent ${what}`));
  }
}

function readHeader(chunk: Buffer, at: number): FixedHeader | 'incomplete' | 'malformed' {
  let remaining = 0;
  for (let i = 0; i < 4; i++) {
    const byte = chunk[at + 1 + i];
    if (byte === undefined) return 'incomplete';
    remaining += (byte & 0x7f) * 128 ** i;
    if ((byte & 0x80) === 0) return { type: chunk[at] ?? 0, size: 2 + i, remaining };
  }
  return 'malformed';
}

/** The remaining length of §2.2.3: seven bits a byte, least significant first. */
function lengthBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return bytes;
}
