import { Duplex } from 'node:stream';
import { PacketCounter, type PacketHeader } from './packet-counter.js';

const PUBLISH = 3;
const PUBACK = 4;
const PINGREQ = 12;
const PINGRESP = 13;
/** A client that leaves deliveries unanswered for so long, ms of wall time, is not waited for. */
const PATIENCE_MS = 2000;

/**
 * One client's connection as the broker reads and writes it, with the transport underneath. Counts deliveries
 * without PUBACK, and can stop carrying anything while staying open, as when a router forgets a connection.
 */
export class TappedConnection extends Duplex {
  halfOpen = false;
  readonly #inner: Duplex;
  readonly #wall: () => number;
  readonly #onActivity: () => void;
  readonly #fromClient: PacketCounter;
  readonly #toClient: PacketCounter;
  #undelivered = 0;
  #lastProgress = 0;

  constructor(inner: Duplex, wall: () => number, onActivity: () => void) {
    super({ allowHalfOpen: false });
    this.#inner = inner;
    this.#wall = wall;
    this.#onActivity = onActivity;
    this.#fromClient = new PacketCounter((header) => this.#received(header));
    this.#toClient = new PacketCounter((header) => this.#sent(header));
    inner.on('data', (chunk: Buffer) => {
      if (this.halfOpen) return;
      this.#fromClient.push(chunk);
      if (!this.push(chunk)) inner.pause();
    });
    inner.on('end', () => this.push(null));
    inner.on('error', () => this.destroy());
    inner.on('close', () => this.destroy());
  }

  /** Deliveries written and not acknowledged; 0 where waiting for them makes no sense. */
  undelivered(): number {
    if (this.halfOpen || this.destroyed) return 0;
    return this.#wall() - this.#lastProgress < PATIENCE_MS ? this.#undelivered : 0;
  }

  override _read(): void {
    this.#inner.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.halfOpen) {
      done();
      return;
    }
    this.#toClient.push(chunk);
    this.#inner.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#inner.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#inner.destroy();
    done(error);
  }

  #received({ type }: PacketHeader): void {
    if (type === PUBACK) {
      this.#undelivered = Math.max(0, this.#undelivered - 1);
      this.#lastProgress = this.#wall();
    }
    if (type !== PINGREQ) this.#onActivity();
  }

  #sent({ type, qos }: PacketHeader): void {
    if (type === PUBLISH && qos > 0) {
      if (this.#undelivered === 0) this.#lastProgress = this.#wall();
      this.#undelivered += 1;
    }
    if (type !== PINGRESP) this.#onActivity();
  }
}
