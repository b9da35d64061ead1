/**
 * Following events. The ordered lane is read from the store by cursor, so a slow client costs a number, not a
 * queue; only progress and domain events, which have no place in the order, are dropped for it.
 */
import type { Clock } from '../../../config/contracts/clock.js';
import type { DomainEvent, TaskEvent } from '../../../config/contracts/wire/events.js';
import type { Runtime } from '../../runtime.js';
import type { ApiCounters } from '../counters.js';
import type { Caller } from '../types.js';
import { StreamClients } from './clients.js';
import type { EventMessage } from './messages.js';
import { OPEN, type StreamSocket } from './socket.js';

const BATCH = 100;

export interface EventStreamParts {
  runtime: Runtime;
  clock: Clock;
  counters: ApiCounters;
  /** Bytes a client may have waiting before it is held back. */
  bufferBytes: number;
}

export interface FollowOptions {
  /** Start after this `seq`; null: with what happens from now on. */
  since: number | null;
  domain: boolean;
}

interface Follower {
  socket: StreamSocket;
  cursor: number;
  domain: boolean;
  dropped: number;
  /** Nothing more is read for it until it has taken what it was given. */
  heldBack: boolean;
}

export class EventStream {
  readonly #parts: EventStreamParts;
  readonly #clients: StreamClients<Follower>;
  #unsubscribe: (() => void)[] = [];
  #reading = false;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#clients = new StreamClients(parts.clock, parts.counters, {
      first: () => this.#subscribe(),
      last: () => this.#release(),
    });
  }

  get full(): boolean {
    return this.#clients.full;
  }

  follow(socket: StreamSocket, caller: Caller, options: FollowOptions): void {
    const newest = this.#parts.runtime.outbox.stats().nextSeq - 1;
    // A client that knows more than there is followed another store: this one began anew.
    const since = Math.min(options.since ?? newest, newest);
    const follower = { socket, cursor: since, domain: options.domain, dropped: 0, heldBack: false };
    this.#clients.add(follower, socket, caller);
    this.#send(follower, { type: 'hello', seq: newest, since });
    this.#readSoon();
  }

  closeAll(): void {
    this.#clients.closeAll();
  }

  #subscribe(): void {
    const { runtime } = this.#parts;
    this.#unsubscribe = [
      runtime.outbox.onAppended(() => this.#readSoon()),
      runtime.tasks.onEvent((event) => this.#progress(event)),
      runtime.onDomainEvent((event) => this.#domain(event)),
    ];
  }

  #release(): void {
    for (const off of this.#unsubscribe.splice(0)) off();
  }

  /** Rows of a transaction that is still open must not be told: read after the commit that covers them. */
  #readSoon(): void {
    if (this.#reading) return;
    this.#reading = true;
    void this.#parts.runtime.committed().then(
      () => {
        this.#reading = false;
        for (const follower of this.#clients.keys()) this.#read(follower);
      },
      () => {
        this.#reading = false;
      },
    );
  }

  #read(follower: Follower): void {
    const { runtime, bufferBytes } = this.#parts;
    while (!follower.heldBack && follower.socket.readyState === OPEN) {
      const rows = runtime.recentEvents(follower.cursor, BATCH);
      if (rows.length === 0) return;
      for (const row of rows) {
        if (row.seq > follower.cursor + 1) {
          this.#send(follower, { type: 'gap', from: follower.cursor + 1, to: row.seq - 1 });
        }
        follower.cursor = row.seq;
        const { seq, topic, payload } = row;
        this.#send(follower, { type: 'event', seq, topic, payload: { ...payload } }, () =>
          this.#drained(follower),
        );
        if (follower.socket.bufferedAmount > bufferBytes) {
          follower.heldBack = true;
          break;
        }
      }
    }
  }

  /** A held-back client goes on once most of what it was given has left. */
  #drained(follower: Follower): void {
    if (!follower.heldBack || follower.socket.bufferedAmount > this.#parts.bufferBytes / 4) return;
    follower.heldBack = false;
    this.#readSoon();
  }

  #progress(event: TaskEvent): void {
    if (event.event !== 'PROGRESS') return;
    this.#offer({ type: 'progress', payload: { ...event } }, () => true);
  }

  #domain(event: DomainEvent): void {
    this.#offer({ type: 'domain', payload: { ...event } }, (follower) => follower.domain);
  }

  #offer(message: EventMessage, wanted: (follower: Follower) => boolean): void {
    for (const follower of this.#clients.keys()) {
      if (!wanted(follower)) continue;
      // Told after a commit: what was committed with it, or before it, goes first.
      this.#read(follower);
      if (follower.heldBack || follower.socket.bufferedAmount > this.#parts.bufferBytes / 2) {
        follower.dropped += 1;
        this.#parts.counters.streamDropped += 1;
        continue;
      }
      this.#reportDropped(follower);
      this.#send(follower, message);
    }
  }

  #reportDropped(follower: Follower): void {
    if (follower.dropped === 0) return;
    this.#send(follower, { type: 'dropped', count: follower.dropped });
    follower.dropped = 0;
  }

  #send(follower: Follower, message: EventMessage, sent: () => void = () => {}): void {
    if (follower.socket.readyState !== OPEN) return;
    follower.socket.send(JSON.stringify(message), (error) => {
      if (!(error instanceof Error)) sent();
    });
  }
}
