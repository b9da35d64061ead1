/** A WebSocket client that keeps what it receives, over TCP or the Unix socket. */
import { once } from 'node:events';
import WebSocket from 'ws';
import { until } from '../until.js';
import type { Served } from './serve.js';

export interface Message {
  type: string;
  [key: string]: unknown;
}

export class StreamClient {
  readonly messages: Message[] = [];
  closed: { code: number; reason: string } | null = null;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data)) as Message));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  static async overTcp(served: Served, path: string, headers: Record<string, string>): Promise<StreamClient> {
    return StreamClient.#open(`ws://127.0.0.1:${served.port}${path}`, headers);
  }

  static async overUnix(served: Served, path: string): Promise<StreamClient> {
    return StreamClient.#open(`ws+unix://${served.api.address().socketPath}:${path}`, {});
  }

  static async #open(url: string, headers: Record<string, string>): Promise<StreamClient> {
    const socket = new WebSocket(url, { headers });
    const client = new StreamClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += String(chunk);
        });
        response.on('end', () => reject(new Refused(response.statusCode ?? 0, text)));
      });
    });
    return client;
  }

  of(type: string): Message[] {
    return this.messages.filter((m) => m.type === type);
  }

  /** Waits until `test` holds. */
  async until(test: () => boolean): Promise<void> {
    await until(test);
  }

  /** Until it has answered the pings that were sent, and the server has read the answers; or the server hung up. */
  async answered(): Promise<void> {
    for (let i = 0; i < 2 && this.#socket.readyState === WebSocket.OPEN; i++) {
      const heard = Promise.race([once(this.#socket, 'pong'), once(this.#socket, 'close')]);
      this.#socket.ping();
      await heard;
    }
  }

  /** Stops taking bytes from the network, as a hung process does. */
  send(message: object | string): void {
    this.#socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  pause(): void {
    this.#socket.pause();
  }
  resume(): void {
    this.#socket.resume();
  }
  close(): void {
    this.#socket.terminate();
  }
}

/** The handshake was answered with an HTTP error. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(`${status} ${text}`);
    this.body = JSON.parse(text) as unknown;
  }
  readonly body: unknown;
}
