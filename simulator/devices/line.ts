/**
 * The device's side of a UART: bytes leave and are taken in no faster than the baud rate allows, messages can
 * be late or damaged, and what was received is on record with the world's time. Bytes from the host are taken
 * in at the start of a step, never in between, so that the order in which the operating system delivers
 * bytes on different ports changes nothing.
 */
import type { DeviceEnd, DeviceFaults, Received } from '../types.js';
import type { Random } from '../world/random.js';

/** 8N1: ten bits on the wire for a byte. */
const BITS_PER_BYTE = 10;
const RX_LIMIT = 64 * 1024;
const TX_LIMIT = 16 * 1024;
const RECORD_LIMIT = 1000;
/** Longest burst of wrong bits, as `DeviceFaults.noise` promises. */
const BURST_BITS = 8;

/**
 * Changes what a device does; the newest is asked first. Each part may be left out; `undefined` from it means
 * "as usual".
 */
export interface Behaviour {
  /** Each byte from the host: another byte, or null to lose it. */
  byte?(value: number): number | null | undefined;
  /** Each command understood: 'ignore' to do nothing. */
  message?(command: Received): 'ignore' | undefined;
  /** Each frame or answer before it is sent: other bytes, or null to swallow it. */
  frame?(bytes: Uint8Array): Uint8Array | null | undefined;
}

interface Outgoing {
  bytes: Uint8Array;
  offset: number;
  notBefore: number;
}

export class Line {
  readonly faults: DeviceFaults = { noise: 0, silent: false, delayMs: 0 };
  readonly received: Received[] = [];
  readonly end: DeviceEnd;
  readonly #random: Random;
  readonly #bytesPerMs: number;
  readonly #time: () => { timeMs: number; tick: number };
  readonly #behaviours: Behaviour[] = [];
  #rx: number[] = [];
  #rxHead = 0;
  #rxAllowance = 0;
  #tx: Outgoing[] = [];
  #txBytes = 0;
  readonly #out: Uint8Array[] = [];
  #txAllowance = 0;

  constructor(end: DeviceEnd, baud: number, random: Random, time: () => { timeMs: number; tick: number }) {
    this.end = end;
    this.#random = random;
    this.#bytesPerMs = baud / BITS_PER_BYTE / 1000;
    this.#time = time;
    end.onData((bytes) => {
      for (const byte of bytes) if (this.#rx.length - this.#rxHead < RX_LIMIT) this.#rx.push(byte);
    });
  }

  /** Overrides behaviour until the returned function is called. */
  override(behaviour: Behaviour): () => void {
    this.#behaviours.unshift(behaviour);
    return () => {
      const i = this.#behaviours.indexOf(behaviour);
      if (i >= 0) this.#behaviours.splice(i, 1);
    };
  }

  /** Once a step: what the host has sent since the last one is on the line now. */
  begin(): void {
    this.end.poll();
  }

  /** Hands over the bytes that came in within `dtMs`, one by one. */
  takeIn(dtMs: number, each: (byte: number) => void): void {
    if (this.#rxHead === this.#rx.length) {
      this.#rxAllowance = 0;
      return;
    }
    this.#rxAllowance += dtMs * this.#bytesPerMs;
    while (this.#rxAllowance >= 1 && this.#rxHead < this.#rx.length) {
      this.#rxAllowance -= 1;
      const byte = this.#overriddenByte(this.#rx[this.#rxHead++] ?? 0);
      if (byte !== null) each(byte);
    }
    if (this.#rxHead === this.#rx.length) {
      this.#rx.length = 0;
      this.#rxHead = 0;
    }
  }

  /** Records a command; false when an override says to ignore it. */
  note(what: string, values: readonly number[]): boolean {
    const { timeMs, tick } = this.#time();
    const command: Received = { timeMs, tick, what, values };
    this.received.push(command);
    if (this.received.length > RECORD_LIMIT) this.received.splice(0, RECORD_LIMIT / 2);
    return !this.#behaviours.some((b) => b.message?.(command) === 'ignore');
  }

  last(what: string): Received | null {
    return this.received.findLast((r) => r.what === what) ?? null;
  }

  /** Bytes waiting to go out. */
  get backlog(): number {
    return this.#txBytes;
  }

  /** Queues a frame or answer; `afterMs` is how long the device takes before its first byte. */
  send(frame: Uint8Array, afterMs = 0): void {
    if (this.faults.silent) return;
    const bytes = this.#overriddenFrame(frame);
    if (bytes === null || this.#txBytes + bytes.length > TX_LIMIT) return;
    this.#damage(bytes);
    const notBefore = this.#time().timeMs + afterMs + this.faults.delayMs;
    this.#tx.push({ bytes, offset: 0, notBefore });
    this.#txBytes += bytes.length;
  }

  /** Lets go of what fits into `dtMs`; it reaches the host with the next `flush`. */
  giveOut(dtMs: number): void {
    const now = this.#time().timeMs;
    const first = this.#tx[0];
    if (first === undefined || first.notBefore > now) {
      this.#txAllowance = 0;
      return;
    }
    this.#txAllowance += dtMs * this.#bytesPerMs;
    for (;;) {
      const next = this.#tx[0];
      if (next === undefined || next.notBefore > now) return;
      const fits = Math.min(next.bytes.length - next.offset, Math.floor(this.#txAllowance));
      if (fits <= 0) return;
      this.#out.push(next.bytes.subarray(next.offset, next.offset + fits));
      next.offset += fits;
      this.#txAllowance -= fits;
      this.#txBytes -= fits;
      if (next.offset === next.bytes.length) this.#tx.shift();
    }
  }

  /** Once a step: what was let go goes to the host, in one piece. */
  flush(): void {
    if (this.#out.length === 0) return;
    this.end.write(Buffer.concat(this.#out));
    this.#out.length = 0;
  }

  /** Forgets what was half received and half sent: the plug was pulled. */
  clear(): void {
    this.#rx = [];
    this.#rxHead = 0;
    this.#tx = [];
    this.#txBytes = 0;
    this.#out.length = 0;
  }

  #overriddenByte(byte: number): number | null {
    for (const behaviour of this.#behaviours) {
      const other = behaviour.byte?.(byte);
      if (other !== undefined) return other;
    }
    return byte;
  }

  #overriddenFrame(frame: Uint8Array): Uint8Array | null {
    for (const behaviour of this.#behaviours) {
      const other = behaviour.frame?.(frame);
      if (other !== undefined) return other;
    }
    return frame;
  }

  /** With the chance `faults.noise`, flips a burst of bits. */
  #damage(bytes: Uint8Array): void {
    if (this.faults.noise <= 0 || bytes.length === 0) return;
    if (this.#random.next() >= this.faults.noise) return;
    const first = this.#random.below(bytes.length * 8);
    const pattern = 1 | (this.#random.below(2 ** (BURST_BITS - 1)) << 1);
    for (let bit = 0; bit < BURST_BITS; bit++) {
      const at = first + bit;
      const byte = bytes[at >> 3];
      if ((pattern >> bit) % 2 === 1 && byte !== undefined) bytes[at >> 3] = byte ^ (1 << (at & 7));
    }
  }
}
