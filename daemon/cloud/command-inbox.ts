/** Commands of one connection between their arrival and their PUBACK. */
import type { Clock } from '../../config/contracts/clock.js';
import type { CommandHandler, CommandMeta } from './types.js';

/** Taken in one turn of the event loop, and so with one commit. */
const BATCH = 128;
/** A turn takes no longer than this for commands, ms: heartbeats and PUBACKs wait meanwhile. */
const BATCH_MS = 15;
/** Above either, the connection is not read until some are done: the broker keeps the rest. */
const MAX_WAITING = 16_384;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export interface ArrivedCommand {
  payload: Buffer;
  meta: CommandMeta;
  /** Null where the sender wants no PUBACK (QoS 0). */
  packetId: number | null;
}

interface Deps {
  clock: Pick<Clock, 'mono'>;
  take: CommandHandler;
  /** What these commands led to is durable; in the order of arrival. */
  done(commands: readonly ArrivedCommand[]): void;
  /** It is not, and the connection has to end so that the broker delivers them again. */
  failed(error: unknown): void;
}

/**
 * Messages are read as fast as they arrive, so that a stop among them is seen at once, and are taken in batches: one
 * commit for many. None is acknowledged before the commit that covers it.
 */
export class CommandInbox {
  readonly #deps: Deps;
  #waiting: ArrivedCommand[] = [];
  /** Messages before this one in `#waiting` were taken. */
  #first = 0;
  #bytes = 0;
  #taking = 0;
  #scheduled = false;
  #closed = false;
  /** Lets the connection be read on. */
  #resume: (() => void) | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Commands without PUBACK. */
  get size(): number {
    return this.#waiting.length - this.#first + this.#taking;
  }

  /** `next` asks for the next message; it is called now, or once there is room again. */
  add(command: ArrivedCommand, next: () => void): void {
    this.#waiting.push(command);
    this.#bytes += command.payload.length;
    this.#schedule();
    if (this.size < MAX_WAITING && this.#bytes < MAX_WAITING_BYTES) next();
    else this.#resume = next;
  }

  /** The connection ended: what waits is delivered again. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#first = 0;
    this.#resume = null;
  }

  #schedule(): void {
    if (this.#scheduled || this.#taking > 0 || this.#first === this.#waiting.length) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#closed) void this.#takeBatch();
    });
  }

  async #takeBatch(): Promise<void> {
    const batch: ArrivedCommand[] = [];
    const stored: Promise<void>[] = [];
    const until = this.#deps.clock.mono() + BATCH_MS;
    do {
      const command = this.#waiting[this.#first];
      if (command === undefined) break;
      this.#first += 1;
      this.#bytes -= command.payload.length;
      batch.push(command);
      stored.push(this.#deps.take(command.payload, command.meta));
    } while (batch.length < BATCH && this.#deps.clock.mono() < until);
    this.#forgetTaken();
    this.#taking = batch.length;
    const results = await Promise.allSettled(stored);
    this.#taking = 0;
    if (this.#closed) return;
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) {
      this.#deps.failed(failure.reason);
      return;
    }
    this.#deps.done(batch);
    const resume = this.#resume;
    this.#resume = null;
    this.#schedule();
    resume?.();
  }

  #forgetTaken(): void {
    if (this.#first < this.#waiting.length && this.#first < BATCH * 8) return;
    this.#waiting.splice(0, this.#first);
    this.#first = 0;
  }
}

/** PUBACKs of MQTT 3.1.1 §3.4, which are those of MQTT 5 with reason 0x00 as well, one after the other. */
export function pubacks(commands: readonly ArrivedCommand[]): Buffer {
  const ids = commands.flatMap(({ packetId }) => (packetId === null ? [] : [packetId]));
  return Buffer.from(ids.flatMap((id) => [0x40, 2, id >> 8, id & 0xff]));
}
