/**
 * The composition root: puts the daemon together from a profile, starts its parts in order, and stops them.
 * Real robots, simulations and tests all come through here; they differ in clocks, ports and where rt runs.
 */
import { Ids } from '../config/contracts/ids.js';
import type { PortCounts } from '../config/contracts/port.js';
import { createApi } from './api/api.js';
import type { Api } from './api/types.js';
import type { DaemonOptions } from './compose/options.js';
import { assemble, type Parts } from './compose/parts.js';
import { startBody } from './compose/start.js';
import type { Runtime } from './runtime.js';

export interface Daemon {
  readonly runtime: Runtime;
  /** Resolves when commands are accepted. Rejects with a sentence that says what to change. */
  start(signal?: AbortSignal): Promise<void>;
  /** Stops motion, ends no task: the next start reconciles them. */
  stop(): Promise<void>;
  /** The console's address with a fresh one-time code; null without one. */
  consoleAddress(): string | null;
  /** For a lock-step simulation. */
  busy(): number;
  portCounts(): Record<string, PortCounts>;
  links(): Record<string, { sent: number; received: number }>;
}

export function createDaemon(options: DaemonOptions): Daemon {
  return new DaemonParts(options);
}

class DaemonParts implements Daemon {
  readonly runtime: Runtime;
  readonly #options: DaemonOptions;
  readonly #parts: Parts;
  readonly #api: Api | null;
  #ready = false;
  #wasReady = false;
  /** Before anything runs, time must not pass in a simulation. */
  #settingUp = true;

  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#parts = assemble(options, new Ids(() => options.clock.now(), options.random), () => this.#ready);
    this.runtime = this.#parts.runtime;
    const { api } = options.loaded.config;
    const tokens = options.loaded.secrets.apiTokens;
    this.#api =
      options.api === false
        ? null
        : createApi(this.runtime, {
            tcp: { host: api.host, port: api.port, tokens, allowedHosts: api.allowed_hosts },
            log: options.log,
            clock: options.wall,
          });
  }

  async start(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const { body, bodyWatch, peripherals, tasks, timers, machines, cloud, clockTrust } = this.#parts;
    const clockLooked = clockTrust.start();
    const serving = this.#api?.start();
    peripherals.start();
    this.#parts.recorder?.start();
    body.start();
    try {
      await serving;
    } catch (error) {
      await Promise.all([body.stop(), peripherals.stop()]);
      throw error;
    }
    signal.throwIfAborted();
    this.#settingUp = false;
    await startBody(this.#parts, this.#options, signal);
    await clockLooked;
    signal.throwIfAborted();
    machines.restore();
    const recovered = tasks.recover();
    timers.start();
    this.#options.log.info({ recovered, bodyKnown: bodyWatch.known }, 'ready: commands are accepted');
    cloud?.start();
    this.#ready = true;
    this.#wasReady = true;
  }

  async stop(): Promise<void> {
    const { body, peripherals, tasks, timers, cloud, settings, store, watchers } = this.#parts;
    this.#ready = false;
    await tasks.stop();
    await settings.close();
    timers.stop();
    await body.stop();
    await cloud?.stop();
    await this.#api?.stop();
    await peripherals.stop();
    for (const watcher of watchers) watcher.close();
    await this.#parts.recorder?.close();
    // A damaged database is one reason why a start fails.
    store.close({ suspect: !this.#wasReady });
  }

  consoleAddress(): string | null {
    return this.#api?.consoleAddress() ?? null;
  }

  busy(): number {
    const { body, peripherals, cloud } = this.#parts;
    return Number(this.#settingUp) + body.busy() + peripherals.busy() + (cloud?.busy() ?? 0);
  }

  portCounts(): Record<string, PortCounts> {
    return { ...this.#parts.body.portCounts(), ...this.#parts.peripherals.portCounts() };
  }

  links(): Record<string, { sent: number; received: number }> {
    return this.#parts.body.links();
  }
}
