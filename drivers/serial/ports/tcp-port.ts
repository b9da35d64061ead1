/** A serial device behind a network bridge such as ser2net (raw mode) or ESPHome's stream server, as a port. */
import { connect, type Socket } from 'node:net';
import { errorCode } from '../../../config/contracts/errors.js';
import type { OpenPort, PortConnection, PortCounts } from '../../../config/contracts/port.js';
import { type CountedOpenPort, newCounts } from './counts.js';
import { Ending, Inbox, Outbox } from './queues.js';

export interface TcpPortOptions {
  host: string;
  port: number;
}

const KEEP_ALIVE_MS = 5000;

export function tcpPort(options: TcpPortOptions): CountedOpenPort {
  const counts = newCounts();
  const open: OpenPort = (signal) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: options.host, port: options.port, noDelay: true, keepAlive: true });
      const onAbort = () => socket.destroy(new Error('gave up waiting'));
      const onError = (error: Error) => {
        signal?.removeEventListener('abort', onAbort);
        reject(new Error(connectFailure(options, error)));
      };
      socket.once('error', onError);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted === true) onAbort();
      socket.once('connect', () => {
        signal?.removeEventListener('abort', onAbort);
        socket.off('error', onError);
        socket.setKeepAlive(true, KEEP_ALIVE_MS);
        counts.opens += 1;
        resolve(new TcpConnection(socket, `${options.host}:${options.port}`, counts));
      });
    });
  return Object.assign(open, { counts });
}

function connectFailure({ host, port }: TcpPortOptions, error: Error): string {
  const code = errorCode(error);
  const at = `${host}:${port}`;
  if (code === 'ECONNREFUSED') return `${at}: nothing listens there; is the serial bridge running?`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${at}: unknown host; check the name`;
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return `${at}: not reachable; check the network`;
  return `${at}: cannot be opened: ${error.message}`;
}

class TcpConnection implements PortConnection {
  readonly #socket: Socket;
  readonly #counts: PortCounts;
  readonly #inbox = new Inbox();
  readonly #outbox = new Outbox();
  readonly #ending = new Ending();
  #writing = false;

  constructor(socket: Socket, name: string, counts: PortCounts) {
    this.#socket = socket;
    this.#counts = counts;
    socket.on('data', (bytes: Buffer) => {
      counts.rx += bytes.length;
      this.#inbox.deliver(new Uint8Array(bytes));
    });
    socket.on('error', (error) => this.#end(`${name}: ${error.message}`));
    socket.on('close', () => this.#end(`${name}: closed by the other side`));
  }

  onData(listener: (bytes: Uint8Array) => void): void {
    this.#inbox.onData(listener);
  }

  onClose(listener: (reason: string) => void): void {
    this.#ending.onEnd(listener);
  }

  write(bytes: Uint8Array, options?: { ahead?: boolean }): boolean {
    if (this.#ending.reached) return false;
    if (options?.ahead === true) this.#counts.tx -= this.#outbox.supersede(bytes);
    else if (!this.#outbox.push(bytes)) return false;
    this.#counts.tx += bytes.length;
    if (!this.#writing) this.#flush();
    return true;
  }

  /** Drops what has been received; what is still on its way cannot be told from fresh bytes. */
  async discardInput(): Promise<void> {
    this.#inbox.discard();
  }

  async close(): Promise<void> {
    if (!this.#ending.end('closed')) return;
    // Stop bytes are the last thing sent: let them out before the socket goes.
    for (const chunk of this.#outbox.takeRest()) this.#socket.write(chunk);
    this.#socket.destroySoon();
  }

  /** One chunk at a time is with the socket, so that the rest can still be superseded. */
  #flush(): void {
    const head = this.#outbox.head();
    if (head === null || this.#ending.reached) return;
    this.#writing = true;
    this.#outbox.begin();
    this.#socket.write(head, () => {
      this.#writing = false;
      this.#outbox.sent(head.length);
      this.#flush();
    });
  }

  #end(reason: string): void {
    if (this.#ending.end(reason)) this.#socket.destroy();
  }
}
