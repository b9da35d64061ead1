/**
 * The line for the daemon's heartbeat: a Unix socket beside the IPC channel, written by a thread of the daemon
 * that does nothing else, so that a busy main loop does not look like a dead one. One JSON line per beat; now and
 * then one is answered with the same line.
 */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lineSplitter } from '../line-splitter.js';

/** The one line there is; anything else is not from the daemon. */
const BEAT_LINE = /^\{"t":"heartbeat","beat":(\d{1,15})\}$/;

/** A Unix socket's address holds 108 bytes, its end included. */
const MAX_SOCKET_PATH = 100;
/** The first beat of a connection is answered and then one in ten: the daemon counts answers, nobody waits for one. */
const ANSWER_EVERY = 10;
/** Longer than any beat, characters. */
const MAX_LINE = 200;

export function heartbeatSocketPath(stateDir: string): string {
  const path = join(stateDir, 'rt-heartbeat.sock');
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path;
  const hash = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return join(tmpdir(), `deviceagent-${hash}-heartbeat.sock`);
}

export function heartbeatLine(beat: number): string {
  return `${JSON.stringify({ t: 'heartbeat', beat })}\n`;
}

/** The beat in a line, or null when it is anything else. */
export function parseHeartbeat(line: string): number | null {
  const digits = BEAT_LINE.exec(line)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Splits what arrives into lines; `reject` is called for a line that is too long to be a beat. */
export function beatLines(onLine: (line: string) => void, reject: () => void): (text: string) => void {
  return lineSplitter(MAX_LINE, onLine, reject);
}

export interface HeartbeatListener {
  onBeat(): void;
  /** The daemon's end closed: no beat will come until it connects again. */
  onLost(): void;
}

export class HeartbeatServer {
  readonly #path: string;
  readonly #listener: HeartbeatListener;
  #server: Server | null = null;
  #current: Socket | null = null;

  constructor(path: string, listener: HeartbeatListener) {
    this.#path = path;
    this.#listener = listener;
  }

  start(): Promise<void> {
    // A socket left by a predecessor that was killed.
    rmSync(this.#path, { force: true });
    const server = createServer((socket) => this.#serve(socket));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#path, () => {
        chmodSync(this.#path, 0o600);
        resolve();
      });
    });
  }

  stop(): void {
    const current = this.#current;
    this.#current = null;
    current?.destroy();
    this.#server?.close();
  }

  /** The newest connection counts; an older one that closes means nothing any more. */
  #serve(socket: Socket): void {
    this.#current?.destroy();
    this.#current = socket;
    socket.setEncoding('utf8');
    let beats = 0;
    const take = beatLines(
      (line) => this.#onLine(socket, line, beats++ % ANSWER_EVERY === 0),
      () => socket.destroy(),
    );
    socket.on('data', (text: string) => take(text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#current !== socket) return;
      this.#current = null;
      this.#listener.onLost();
    });
  }

  #onLine(socket: Socket, line: string, toBeAnswered: boolean): void {
    const beat = parseHeartbeat(line);
    if (beat === null) {
      socket.destroy();
      return;
    }
    if (this.#current !== socket) return;
    this.#listener.onBeat();
    if (toBeAnswered) socket.write(heartbeatLine(beat));
  }
}
