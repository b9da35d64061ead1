/** A simulated home as the processes that users run, at full speed, and the robot's own API in it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { entryPath } from '../../config/contracts/entry.js';
import { socketPath } from '../../daemon/api/socket-path.js';
import { controlSocketPath } from '../../simulator/control/socket-path.js';
import { memoryOf } from '../bench/support/proc.js';
import { wait } from '../bench/support/stats.js';
import { askSimulation } from '../crash/control-client.js';

export interface Answer {
  status: number;
  body: unknown;
}

const simTime = z.object({ robot: z.number(), world_ms: z.number() });
const worldView = z.object({
  docked: z.boolean(),
  command: z.object({ left: z.number(), right: z.number() }),
  fan: z.object({ rpm: z.number() }),
});
export type SeenWorld = z.infer<typeof worldView>;

/** What the built-in cloud complains about. */
const cloudView = z.object({
  lastSeq: z.number().nullable(),
  missing: z.array(z.number()),
  problems: z.array(z.object({ kind: z.string(), text: z.string() })),
  deadLettered: z.number(),
});
export type SeenCloud = z.infer<typeof cloudView>;

const START_MS = 60_000;
const ANSWER_MS = 30_000;
const LOOK_MS = 20;

export class SoakRobot {
  readonly stateDir: string;
  readonly #child: ChildProcess;
  #ended: string | null = null;

  constructor(stateDir: string, seed: number) {
    this.stateDir = stateDir;
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const log = openSync(join(stateDir, 'sim.log'), 'a', 0o600);
    this.#child = spawn(
      process.execPath,
      [
        ...[entryPath(import.meta.url, '../../daemon/cli/main.js'), 'sim', '--headless', '--speed', 'max'],
        ...['--seed', String(seed), '--state-dir', stateDir],
      ],
      { stdio: ['ignore', log, log] },
    );
    closeSync(log);
    this.#child.once('exit', (code, signal) => {
      this.#ended = signal ?? `exit code ${code}`;
    });
  }

  get ended(): string | null {
    return this.#ended;
  }

  async ready(): Promise<void> {
    const deadline = performance.now() + START_MS;
    while (performance.now() < deadline) {
      if (this.#ended !== null) throw new Error(`the simulation is gone: ${this.#ended}`);
      try {
        if ((await this.api('GET', '/ready')).status === 200) return;
      } catch {
        // Nobody listens yet.
      }
      await wait(100);
    }
    throw new Error(`the robot was not ready within ${START_MS} ms`);
  }

  /** Lets robot time pass until `done`; false when it does not come true within `ms` of it. */
  async until(done: () => Promise<boolean>, ms: number): Promise<boolean> {
    const from = await this.worldMs();
    for (;;) {
      if (await done()) return true;
      if ((await this.worldMs()) - from > ms) return false;
      await wait(LOOK_MS);
    }
  }

  async pass(ms: number): Promise<void> {
    const until = (await this.worldMs()) + ms;
    while ((await this.worldMs()) < until) await wait(LOOK_MS);
  }

  /** Time of the world, ms from the start of the simulation. */
  async worldMs(): Promise<number> {
    return simTime.parse(await this.#ask({ get: 'time' })).world_ms;
  }

  async world(): Promise<SeenWorld> {
    return worldView.parse(await this.#ask({ get: 'world' }));
  }

  async cloud(): Promise<SeenCloud> {
    return cloudView.parse(await this.#ask({ get: 'cloud' }));
  }

  async inject(...words: string[]): Promise<void> {
    await this.#ask({ inject: words });
  }

  /** Resident memory of the robot's processes, MB. */
  memory(): { daemon: number; rt: number } {
    return { daemon: memoryOf(this.#pid('daemon')).rssMb, rt: memoryOf(this.#pid('rt')).rssMb };
  }

  api(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          socketPath: socketPath(this.stateDir),
          method,
          path,
          agent: false,
          timeout: ANSWER_MS,
          headers: payload === undefined ? {} : { 'content-type': 'application/json' },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parsed(text) }));
        },
      );
      call.on('timeout', () => call.destroy(new Error(`${path}: no answer within ${ANSWER_MS} ms`)));
      call.on('error', reject);
      call.end(payload);
    });
  }

  async stop(): Promise<void> {
    if (this.#ended !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 15_000);
    await gone;
    clearTimeout(late);
  }

  #pid(of: 'daemon' | 'rt'): number {
    return Number.parseInt(readFileSync(join(this.stateDir, `${of}.pid`), 'utf8'), 10);
  }

  #ask(question: object): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(new Error(`the simulation is gone: ${this.#ended}`));
    return askSimulation(controlSocketPath(this.stateDir), question);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
