/** The open WebSockets of one stream: bounded in number, pinged, ended when their session ends. */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import type { ApiCounters } from '../counters.js';
import type { Caller } from '../types.js';
import { OPEN, type StreamSocket } from './socket.js';

const MAX_STREAM_CLIENTS = 32;
const PING_EVERY_MS = 20_000;

/** RFC 6455 close codes; 4401 is ours. */
const SESSION_ENDED = 4401;
const GOING_AWAY = 1001;

interface Entry {
  socket: StreamSocket;
  caller: Caller;
  answered: boolean;
}

/** `T` is what the stream keeps per client. The timer runs only while somebody listens. */
export class StreamClients<T> {
  readonly #entries = new Map<T, Entry>();
  readonly #clock: Clock;
  readonly #counters: ApiCounters;
  readonly #onFirst: () => void;
  readonly #onLast: () => void;
  #stopPinging: CancelTimer | null = null;

  constructor(clock: Clock, counters: ApiCounters, on: { first(): void; last(): void }) {
    this.#clock = clock;
    this.#counters = counters;
    this.#onFirst = on.first;
    this.#onLast = on.last;
  }

  get full(): boolean {
    return this.#entries.size >= MAX_STREAM_CLIENTS;
  }

  keys(): Iterable<T> {
    return this.#entries.keys();
  }

  add(client: T, socket: StreamSocket, caller: Caller): void {
    const entry: Entry = { socket, caller, answered: true };
    socket.on('pong', () => {
      entry.answered = true;
    });
    socket.on('close', () => this.#remove(client));
    this.#entries.set(client, entry);
    this.#counters.streamClients += 1;
    if (this.#entries.size > 1) return;
    this.#stopPinging = this.#clock.every(PING_EVERY_MS, () => this.#ping());
    this.#onFirst();
  }

  closeAll(): void {
    for (const { socket } of this.#entries.values()) socket.close(GOING_AWAY, 'the daemon stops');
  }

  #remove(client: T): void {
    if (!this.#entries.delete(client)) return;
    this.#counters.streamClients -= 1;
    if (this.#entries.size > 0) return;
    this.#stopPinging?.();
    this.#stopPinging = null;
    this.#onLast();
  }

  /** Whoever did not answer the last ping, also because it reads nothing, is gone. */
  #ping(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.answered) {
        this.#counters.streamTerminated += 1;
        entry.socket.terminate();
      } else if (!entry.caller.valid()) {
        entry.socket.close(SESSION_ENDED, 'the session has ended');
      } else if (entry.socket.readyState === OPEN) {
        entry.answered = false;
        entry.socket.ping();
      }
    }
  }
}
