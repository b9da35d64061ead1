/** Runs the robot's daemon as a child of the simulation and starts it again when it dies, as systemd would. */
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { ALLOCATOR_ENV, NODE_FLAGS } from '../start-flags.js';

export interface DaemonChildOptions {
  stateDir: string;
  /** Arguments of `deviceagent run`. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Real time. */
  wall: Clock;
  /** The address of the console, with a fresh one-time code, each time the daemon is ready. */
  onReady: (consoleAddress: string | null) => void;
  onDeath: (how: string, restartInMs: number) => void;
}

const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 5_000;
/** A daemon that lived this long is started again without delay. */
const STABLE_MS = 2_000;
const STOP_MS = 5_000;
const LOG_LIMIT = 16 * 1024 * 1024;

export class DaemonChild {
  readonly #options: DaemonChildOptions;
  #child: ChildProcess | null = null;
  #stopping = false;
  #failures = 0;
  #cancelRestart: CancelTimer = () => {};

  constructor(options: DaemonChildOptions) {
    this.#options = options;
  }

  get logFile(): string {
    return join(this.#options.stateDir, 'daemon.log');
  }

  start(): void {
    const { args, env, wall } = this.#options;
    const startedAt = wall.mono();
    const log = this.#openLog();
    const child = fork(entryPath(import.meta.url, '../main.js'), ['run', ...args], {
      stdio: ['ignore', log, log, 'ipc'],
      execArgv: [...NODE_FLAGS],
      env: { ...env, ...ALLOCATOR_ENV },
    });
    closeSync(log);
    this.#child = child;
    child.on('message', (message) => {
      if (isReady(message)) this.#options.onReady(message.console);
    });
    child.once('exit', (code, signal) => this.#died(child, signal ?? `exit code ${code}`, startedAt));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelRestart();
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const cancel = this.#options.wall.after(STOP_MS, () => child.kill('SIGKILL'));
    await gone;
    cancel();
  }

  #died(child: ChildProcess, how: string, startedAt: number): void {
    if (this.#child !== child) return;
    this.#child = null;
    if (this.#stopping) return;
    const { wall } = this.#options;
    this.#failures = wall.mono() - startedAt >= STABLE_MS ? 0 : this.#failures + 1;
    const delayMs =
      this.#failures === 0 ? 0 : Math.min(FIRST_RESTART_MS * 2 ** this.#failures, LAST_RESTART_MS);
    this.#options.onDeath(how, delayMs);
    this.#cancelRestart = wall.after(delayMs, () => this.start());
  }

  #openLog(): number {
    mkdirSync(this.#options.stateDir, { recursive: true, mode: 0o700 });
    try {
      if (statSync(this.logFile).size > LOG_LIMIT) truncateSync(this.logFile);
    } catch {
      // No log yet.
    }
    return openSync(this.logFile, 'a', 0o600);
  }
}

function isReady(message: unknown): message is { t: 'ready'; console: string | null } {
  return message !== null && typeof message === 'object' && 't' in message && message.t === 'ready';
}
