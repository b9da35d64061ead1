/** The real thing as child processes: `deviceagent sim`, which starts the daemon, which starts the motion process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { entryPath } from '../../config/contracts/entry.js';
import { freePort } from '../../daemon/cli/simulation/free-port.js';
import { controlSocketPath } from '../../simulator/control/socket-path.js';
import { askSimulation } from './control-client.js';
import { FAULTS_ENV } from './fault-orders.js';
import type { DriveCommand } from './motion.js';
import { sleep } from './waiting.js';

export interface SimulationOptions {
  stateDir: string;
  seed: number;
  baseWatchdog: boolean;
  /** Where the simulation's own broker listens. */
  mqttPort: number;
  /** Where the daemon finds what it has to die of, and what it takes for its environment. */
  faultsDir: string;
}

/** Of the simulator's view of its world, what matters here. */
const worldTruth = z.object({
  pose: z.object({ x: z.number(), y: z.number(), theta: z.number() }),
  docked: z.boolean(),
  fan: z.object({ setPointPercent: z.number(), rpm: z.number() }),
  /** What the base was last told, m/s. */
  command: z.object({ left: z.number(), right: z.number() }),
});
export type WorldTruth = z.infer<typeof worldTruth>;

/** Among the arguments of a motion process. */
const RT_ENTRY = entryPath(import.meta.url, '../../drivers/rt/main.js');
const START_MS = 30_000;
const STOP_MS = 15_000;
const LOOK_MS = 20;

export class Simulation {
  readonly stateDir: string;
  readonly #apiPort: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;
  #ended: string | null = null;

  private constructor(options: SimulationOptions, apiPort: number) {
    this.stateDir = options.stateDir;
    this.#apiPort = apiPort;
    mkdirSync(this.stateDir, { recursive: true, mode: 0o700 });
    const log = openSync(join(this.stateDir, 'sim.log'), 'a', 0o600);
    this.#child = spawn(
      process.execPath,
      [
        entryPath(import.meta.url, '../../daemon/cli/main.js'),
        'sim',
        '--headless',
        ...['--cloud', 'off', '--seed', String(options.seed), '--state-dir', this.stateDir],
        ...['--mqtt-port', String(options.mqttPort), '--api-port', String(apiPort)],
        ...['--base-watchdog', options.baseWatchdog ? 'on' : 'off'],
      ],
      {
        stdio: ['ignore', log, log],
        env: {
          ...process.env,
          NODE_OPTIONS: `--import ${pathToFileURL(entryPath(import.meta.url, './fault-points.js'))}`,
          [FAULTS_ENV]: options.faultsDir,
        },
      },
    );
    closeSync(log);
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (code, signal) => {
        this.#ended = signal ?? `exit code ${code}`;
        resolve(this.#ended);
      }),
    );
  }

  static async start(options: SimulationOptions): Promise<Simulation> {
    return new Simulation(options, await freePort(0));
  }

  /** How the simulation ended, if it did. */
  get ended(): string | null {
    return this.#ended;
  }

  /** Null while there is none: a number that a dead process left behind may be somebody else's by now. */
  pid(of: 'daemon' | 'rt'): number | null {
    try {
      const pid = Number.parseInt(readFileSync(join(this.stateDir, `${of}.pid`), 'utf8'), 10);
      return Number.isInteger(pid) && pid > 0 && isAlive(pid, of === 'daemon' ? this.stateDir : RT_ENTRY)
        ? pid
        : null;
    } catch {
      return null;
    }
  }

  /** Makes the daemon read its orders. A pid file stands only once it listens to that signal. */
  tellDaemon(): void {
    const pid = this.pid('daemon');
    if (pid !== null) process.kill(pid, 'SIGUSR2');
  }

  /** A living process other than `before`; throws when none comes. */
  async newPid(of: 'daemon' | 'rt', before: number | null): Promise<number> {
    let found: number | null = null;
    await this.#until(`another ${of} process`, () => {
      found = this.pid(of);
      return found !== null && found !== before;
    });
    return found ?? 0;
  }

  /** Waits until a daemon other than `before` accepts commands. */
  async ready(before: number | null): Promise<void> {
    await this.newPid('daemon', before);
    await this.#until('the daemon to be ready', () => this.#saysReady());
  }

  /** Waits until a motion process talks to the base that was not there at wall time `since`. */
  async rtInCharge(since: number): Promise<void> {
    await this.#until('a motion process that talks to the base', async () => {
      const commands = await this.drives(since);
      return commands.some(({ wall, what }) => wall > since && what === 'start');
    });
  }

  async drives(since: number): Promise<DriveCommand[]> {
    const answer = await this.#ask({ get: 'drives', argument: since });
    return Array.isArray(answer) ? (answer as DriveCommand[]) : [];
  }

  async inject(...words: string[]): Promise<void> {
    await this.#ask({ inject: words });
  }

  /** The truth about the robot. */
  async world(): Promise<WorldTruth> {
    return worldTruth.parse(await this.#ask({ get: 'world' }));
  }

  /** Ends everything in order; resolves with how it ended. */
  async stop(): Promise<string> {
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    const how = await this.#exited;
    clearTimeout(late);
    return how;
  }

  #ask(question: object): Promise<unknown> {
    return askSimulation(controlSocketPath(this.stateDir), question);
  }

  async #saysReady(): Promise<boolean> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.#apiPort}/ready`, {
        signal: AbortSignal.timeout(1000),
      });
      return response.status === 200;
    } catch {
      return false;
    }
  }

  async #until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await done())) {
      if (this.#ended !== null) throw new Error(`the simulation is gone: ${this.#ended}`);
      if (Date.now() > deadline) throw new Error(`within ${START_MS} ms there was no sign of ${what}`);
      await sleep(LOOK_MS);
    }
  }
}

/** Whether a process lives that has `mark` among its arguments; where those cannot be seen, whether one lives. */
function isAlive(pid: number, mark: string): boolean {
  process.kill(pid, 0);
  return !existsSync('/proc/self/cmdline') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
}
