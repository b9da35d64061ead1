/** Follows the daemon's events over its Unix socket, through restarts of the daemon. */
import { connect } from 'node:net';
import WebSocket from 'ws';
import type { EventMessage } from '../../api/streams/messages.js';
import { CliError, EXIT } from '../io.js';
import type { Translate } from '../language.js';
import type { ApiClient } from './api-client.js';

/** How long a daemon may be away before following gives up. */
const GIVE_UP_MS = 120_000;
/** How long a daemon that was reached may take to open the stream. */
const HANDSHAKE_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;

export type Followed =
  | EventMessage
  /** The connection is lost and is being made again. */
  | { type: 'lost' }
  /** It stands again; whatever happened meanwhile follows, but ask for the state that matters. */
  | { type: 'back' };

export interface FollowParts {
  client: ApiClient;
  t: Translate;
  signal: AbortSignal;
}

export interface FollowFrom {
  /** Events after this `seq`; null: from now on. */
  since: number | null;
}

export interface Following extends AsyncIterable<Followed> {
  /** Closes the connection, also one that nobody has read from: an open one keeps the process alive. */
  close(): void;
}

/**
 * Resolves once the stream stands, so that nothing that happens afterwards is missed. Rejects with a `CliError`
 * when no daemon answers.
 */
export async function follow(parts: FollowParts, { since }: FollowFrom): Promise<Following> {
  const first = await Connection.open(parts, since);
  return { [Symbol.asyncIterator]: () => messages(parts, first, since), close: () => first.close() };
}

async function* messages(
  parts: FollowParts,
  first: Connection,
  since: number | null,
): AsyncGenerator<Followed> {
  let connection: Connection | null = first;
  let cursor = since;
  try {
    for (;;) {
      for await (const message of connection.messages()) {
        if (message.type === 'hello') cursor = message.since;
        if (message.type === 'event') cursor = message.seq;
        yield message;
      }
      if (parts.signal.aborted) return;
      yield { type: 'lost' };
      connection = await reopened(parts, cursor);
      if (connection === null) return;
      yield { type: 'back' };
    }
  } finally {
    connection?.close();
  }
}

async function reopened(parts: FollowParts, since: number | null): Promise<Connection | null> {
  const deadline = performance.now() + GIVE_UP_MS;
  let wait = FIRST_RETRY_MS;
  while (performance.now() < deadline) {
    await pause(wait, parts.signal);
    if (parts.signal.aborted) return null;
    wait = Math.min(LAST_RETRY_MS, wait * 2);
    try {
      return await Connection.open(parts, since);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
    }
  }
  throw new CliError(parts.t('lost', { seconds: GIVE_UP_MS / 1000 }), EXIT.noDaemon);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

class Connection {
  readonly #socket: WebSocket;
  readonly #waiting: EventMessage[] = [];
  #wake: () => void = () => {};
  #ended = false;

  private constructor(socket: WebSocket, signal: AbortSignal) {
    this.#socket = socket;
    socket.on('message', (data) => {
      this.#waiting.push(JSON.parse(String(data)) as EventMessage);
      this.#wake();
    });
    socket.on('close', () => this.#end());
    socket.on('error', () => this.#end());
    signal.addEventListener('abort', () => this.close(), { once: true });
  }

  static open({ client, signal }: FollowParts, since: number | null): Promise<Connection> {
    const query = since === null ? '' : `?since=${since}`;
    const socket = new WebSocket(`ws://localhost/api/events/stream${query}`, {
      createConnection: () => connect({ path: client.socket }),
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    });
    return new Promise((resolve, reject) => {
      const connection = new Connection(socket, signal);
      socket.once('open', () => resolve(connection));
      socket.once('error', (error) => reject(client.connectionError(error)));
    });
  }

  async *messages(): AsyncGenerator<EventMessage> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  close(): void {
    this.#socket.terminate();
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }
}
