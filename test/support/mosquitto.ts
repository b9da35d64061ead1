/** A real mosquitto for one test: its own port, directory and process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const COMMAND = ['mosquitto', '/usr/sbin/mosquitto'].find(
  (path) => spawnSync(path, ['-h'], { stdio: 'ignore' }).error === undefined,
);

export const hasMosquitto = COMMAND !== undefined;

export interface MosquittoOptions {
  /** Lines added to its configuration. */
  config?: string[];
}

export class Mosquitto {
  readonly directory = mkdtempSync(join(tmpdir(), 'mosquitto-'));
  readonly #options: MosquittoOptions;
  #child: ChildProcess | null = null;
  #output = '';

  private constructor(
    readonly port: number,
    options: MosquittoOptions,
  ) {
    this.#options = options;
  }

  static async start(options: MosquittoOptions = {}): Promise<Mosquitto> {
    const broker = new Mosquitto(await freePort(), options);
    await broker.start();
    return broker;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const file = join(this.directory, 'mosquitto.conf');
    const lines = [
      `listener ${this.port} 127.0.0.1`,
      'allow_anonymous true',
      'persistence true',
      `persistence_location ${this.directory}/`,
      'log_dest stderr',
      ...(this.#options.config ?? []),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    // Debian's mosquitto drops root for the user `mosquitto`, who may not write to this directory.
    if (process.getuid?.() === 0) writeFileSync(file, `user root\n${lines.join('\n')}\n`);
    const child = spawn(COMMAND ?? 'mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr?.on('data', (chunk) => {
      this.#output = (this.#output + chunk).slice(-4000);
    });
    this.#child = child;
    await this.#listening(child);
  }

  /** SIGTERM: it saves its sessions first. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await exited;
  }

  async restart({ keepSessions }: { keepSessions: boolean }): Promise<void> {
    await this.stop();
    if (!keepSessions) rmSync(join(this.directory, 'mosquitto.db'), { force: true });
    await this.start();
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #listening(child: ChildProcess): Promise<void> {
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      if (child.exitCode !== null) throw new Error(`mosquitto ended: ${this.#output}`);
      if (await canConnect(this.port)) return;
    }
    throw new Error(`mosquitto does not listen on ${this.port}: ${this.#output}`);
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => setTimeout(() => resolve(false), 10));
  });
}
