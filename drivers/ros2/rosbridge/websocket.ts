/** Rosbridge over a WebSocket, as `rosbridge_server` offers it. */
import { type RawData, WebSocket } from 'ws';
import type { OpenRosbridge, RosbridgeConnection } from './line.js';
import { RECEIVE_LIMIT, SEND_LIMIT } from './line.js';

const HANDSHAKE_MS = 5_000;
/** Messages kept until somebody listens. */
const EARLY_LIMIT = 64;

/** `url`: `ws://host:9090` or `wss://…`. */
export function openWebSocket(url: string): OpenRosbridge {
  return (signal) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: HANDSHAKE_MS,
        maxPayload: RECEIVE_LIMIT,
        perMessageDeflate: false,
      });
      const giveUp = () => socket.terminate();
      signal.addEventListener('abort', giveUp, { once: true });
      const connection = new WebSocketConnection(socket);
      socket.once('open', () => {
        signal.removeEventListener('abort', giveUp);
        resolve(connection);
      });
      connection.onClose((reason) => {
        signal.removeEventListener('abort', giveUp);
        reject(new Error(`${url}: ${reason}; does rosbridge_server run there?`));
      });
    });
}

class WebSocketConnection implements RosbridgeConnection {
  readonly #socket: WebSocket;
  #listener: ((text: string) => void) | null = null;
  #early: string[] = [];
  #closed: string | null = null;
  #error = 'closed';
  readonly #onClose: ((reason: string) => void)[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data, binary) => {
      // Compressed and CBOR messages are never asked for.
      if (binary) return;
      this.#take(textOf(data));
    });
    socket.on('error', (error) => {
      this.#error = error.message;
      socket.terminate();
    });
    socket.on('close', (code) => this.#ended(this.#error === 'closed' ? `closed (${code})` : this.#error));
  }

  send(text: string): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.bufferedAmount > SEND_LIMIT) return false;
    this.#socket.send(text);
    return true;
  }

  onText(listener: (text: string) => void): void {
    this.#listener = listener;
    for (const text of this.#early.splice(0)) listener(text);
  }

  onClose(listener: (reason: string) => void): void {
    this.#onClose.push(listener);
    if (this.#closed !== null) listener(this.#closed);
  }

  close(): void {
    this.#socket.close();
    // A peer that does not answer the closing handshake must not keep it open.
    this.#socket.terminate();
  }

  #take(text: string): void {
    if (this.#listener !== null) this.#listener(text);
    else if (this.#early.length < EARLY_LIMIT) this.#early.push(text);
  }

  #ended(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    for (const listener of this.#onClose) listener(reason);
  }
}

function textOf(data: RawData): string {
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString('utf8');
  return (Array.isArray(data) ? Buffer.concat(data) : data).toString('utf8');
}
