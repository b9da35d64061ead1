/**
 * A Unix socket through which a running simulation is told to misbehave and asked what really happened. One JSON
 * object a line: `{"inject":["person","거실"]}` or `{"get":"world"}`; the answer is one line,
 * `{"ok":true,"message":…}`, `{"ok":true,"result":…}` or `{"ok":false,"error":…}`.
 */
import { chmodSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { z } from 'zod';
import { errorText } from '../../config/contracts/errors.js';
import { closeServer, listenOn, onLines } from '../unix-socket.js';

export interface SimControlOptions {
  socketPath: string;
  /** Carries out one fault command; throws an Error whose message says what is allowed. */
  inject(words: string[]): Promise<string> | string;
  /** Answers to `get`, by name. */
  views: Readonly<Record<string, (argument: unknown) => unknown>>;
}

const requestSchema = z.union([
  z.strictObject({ inject: z.array(z.string().max(200)).min(1).max(8) }),
  z.strictObject({ get: z.string().max(64), argument: z.unknown().optional() }),
]);

const MAX_LINE = 64 * 1024;

export class SimControl {
  readonly #options: SimControlOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  constructor(options: SimControlOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#server = await listenOn(this.#options.socketPath, (socket) => this.#serve(socket));
    chmodSync(this.#options.socketPath, 0o700);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await closeServer(this.#server);
    this.#server = null;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let unread = 0;
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      const newline = chunk.lastIndexOf(0x0a);
      unread = newline < 0 ? unread + chunk.length : chunk.length - newline - 1;
      if (unread > MAX_LINE) socket.destroy();
    });
    onLines(socket, async (line) => {
      const answer = await this.#answer(line);
      if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
    });
  }

  async #answer(line: string): Promise<object> {
    try {
      const parsed = requestSchema.safeParse(JSON.parse(line));
      if (!parsed.success) throw new Error('expected {"inject":[words]} or {"get":name}');
      if ('inject' in parsed.data)
        return { ok: true, message: await this.#options.inject(parsed.data.inject) };
      const view = this.#options.views[parsed.data.get];
      if (view === undefined) {
        throw new Error(
          `no view "${parsed.data.get}"; there is ${Object.keys(this.#options.views).join(', ')}`,
        );
      }
      return { ok: true, result: view(parsed.data.argument) };
    } catch (error) {
      return { ok: false, error: errorText(error) };
    }
  }
}
