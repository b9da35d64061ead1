/** The simulated robot's rosbridge: over a line in memory, or over a WebSocket on loopback. */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RosGraph } from './graph.js';
import { RosbridgeSession } from './rosbridge-session.js';

/** The client's end of a line in memory; delivery is synchronous. */
export interface MemoryRosbridge {
  send(text: string): boolean;
  onText(listener: (text: string) => void): void;
  onClose(listener: (reason: string) => void): void;
  close(): void;
}

interface Client {
  cut(reason: string): void;
}

export interface RosbridgeServerOptions {
  graph: RosGraph;
  /** Whether this bridge can send goals. */
  actions?: boolean;
}

const EARLY_LIMIT = 256;

export class RosbridgeServer {
  readonly #options: Required<RosbridgeServerOptions>;
  readonly #clients = new Set<Client>();
  #server: WebSocketServer | null = null;
  #refusing = false;
  /** Bytes to and from the one client that counts in a lock-step simulation, since it connected. */
  readonly bytes = { sent: 0, received: 0, session: 0 };

  constructor(options: RosbridgeServerOptions) {
    this.#options = { actions: true, ...options };
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Cuts every connection and refuses new ones, or takes them again. */
  setRefusing(refusing: boolean): void {
    this.#refusing = refusing;
    if (!refusing) return;
    for (const client of [...this.#clients]) client.cut('the connection was cut');
  }

  /** Throws an Error while connections are refused. */
  connect(): MemoryRosbridge {
    if (this.#refusing) throw new Error('simulated rosbridge: connection refused');
    let onText: ((text: string) => void) | null = null;
    let onClose: ((reason: string) => void) | null = null;
    let closed: string | null = null;
    const early: string[] = [];
    const session = this.#session((text) => {
      if (onText !== null) onText(text);
      else if (early.length < EARLY_LIMIT) early.push(text);
    });
    const end = (reason: string) => {
      if (closed !== null) return;
      closed = reason;
      session.close();
      this.#clients.delete(client);
      onClose?.(reason);
    };
    const client: Client = { cut: end };
    this.#clients.add(client);
    return {
      send: (text) => {
        if (closed !== null) return false;
        this.bytes.received += Buffer.byteLength(text);
        session.take(text);
        return true;
      },
      onText: (listener) => {
        onText = listener;
        for (const text of early.splice(0)) listener(text);
      },
      onClose: (listener) => {
        onClose = listener;
        if (closed !== null) listener(closed);
      },
      close: () => end('closed'),
    };
  }

  /** Listens on loopback; resolves with the address, e.g. `ws://127.0.0.1:9090`. `port` 0: any free one. */
  async listen(port: number): Promise<string> {
    const server = new WebSocketServer({ host: '127.0.0.1', port, perMessageDeflate: false });
    this.#server = server;
    server.on('connection', (socket) => this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
    const address = server.address();
    return `ws://127.0.0.1:${isAddress(address) ? address.port : port}`;
  }

  async close(): Promise<void> {
    this.setRefusing(true);
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #serve(socket: WebSocket): void {
    if (this.#refusing) {
      socket.terminate();
      return;
    }
    const session = this.#session((text) => socket.send(text));
    const client: Client = { cut: () => socket.terminate() };
    this.#clients.add(client);
    socket.on('message', (data, binary) => {
      const text = binary ? null : data.toString();
      if (text === null) return;
      this.bytes.received += Buffer.byteLength(text);
      session.take(text);
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      session.close();
      this.#clients.delete(client);
    });
  }

  #session(send: (text: string) => void): RosbridgeSession {
    const { graph, actions } = this.#options;
    this.bytes.sent = 0;
    this.bytes.received = 0;
    this.bytes.session += 1;
    return new RosbridgeSession({
      graph,
      actions,
      send: (text) => {
        this.bytes.sent += Buffer.byteLength(text);
        send(text);
      },
    });
  }
}

function isAddress(value: AddressInfo | string | null): value is AddressInfo {
  return value !== null && typeof value === 'object';
}
