/**
 * Keeps a motion process running: forks it, gives its channel to the client, starts it again when it dies or
 * falls silent. What the wheels do in between is said in `docs/safety.md`.
 */
import type { ChildProcess } from 'node:child_process';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { DaemonToRt, RtToDaemon } from '../../config/contracts/rt-protocol.js';
import { IpcChannel, type LinkCounts } from '../../drivers/rt/channel.js';
import type { RtConfig } from '../../drivers/rt/config.js';
import { RestartPolicy } from './restart-policy.js';
import type { RtClient } from './rt-client.js';
import { type HeldMotionProcess, startMotionProcess } from './rt-process.js';

export interface RtSupervisorOptions {
  client: RtClient;
  config: RtConfig;
  /** The machine's clock: processes die and start in real time, whatever the robot's clock does. */
  clock: Clock;
  log: Log;
  env: NodeJS.ProcessEnv;
  /** The first one, when it was started ahead. */
  ahead?: HeldMotionProcess | null;
  /**
   * A motion process that says nothing for this long is killed and started again, ms. Null: never, for simulated
   * time, which may stand still. By default less while it drives than while it stands.
   */
  silentLimitMs?: number | null;
}

/** It reports twice a second at least once it is ready, and is ready within a second, ms. */
const SILENT_DRIVING_MS = 750;
const SILENT_STANDING_MS = 3_000;
const SILENT_STARTING_MS = 10_000;
const CHECK_EVERY_MS = 150;
/** Longer than this between two checks: it was this process that did not run. */
const STARVED_MS = 400;
/** How long a motion process may take to stop the base and close its ports, ms. */
const STOP_MS = 2_000;

export class RtSupervisor {
  /** Messages of the present channel; a lock-step simulation compares them with the other side's. */
  readonly linkCounts: LinkCounts = { sent: 0, received: 0 };
  readonly #options: RtSupervisorOptions;
  readonly #policy = new RestartPolicy();
  readonly #counters = { rt_starts: 0, rt_deaths: 0, rt_killed_silent: 0 };
  #child: ChildProcess | null = null;
  #ahead: HeldMotionProcess | null;
  #stopping = false;
  #checkedMono = 0;
  #cancelCheck: CancelTimer = () => {};
  #cancelRestart: CancelTimer = () => {};

  constructor(options: RtSupervisorOptions) {
    this.#options = options;
    this.#ahead = options.ahead ?? null;
  }

  start(): void {
    this.#checkedMono = this.#options.clock.mono();
    this.#cancelCheck = this.#options.clock.every(CHECK_EVERY_MS, () => this.#checkSilence());
    this.#fork();
  }

  /** Ends the motion process, which stops the base first, and waits for it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelCheck();
    this.#cancelRestart();
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const cancel = this.#options.clock.after(STOP_MS, () => child.kill('SIGKILL'));
    await gone;
    cancel();
  }

  /** Process id of the motion process; null while there is none. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  #fork(): void {
    const { client, config, env } = this.#options;
    const child = this.#ahead?.take(config) ?? startMotionProcess(config, env);
    this.#ahead = null;
    this.#child = child;
    this.#counters.rt_starts += 1;
    child.once('exit', (code, signal) => this.#died(child, signal ?? `exit code ${code}`));
    child.once('error', (error) => this.#died(child, error.message));
    // Both ends of a channel begin to count with it.
    this.linkCounts.sent = 0;
    this.linkCounts.received = 0;
    client.attach(
      new IpcChannel<DaemonToRt, RtToDaemon>(child, {
        replaceable: (message) => message.t === 'heartbeat',
        counts: this.linkCounts,
      }),
    );
  }

  #died(child: ChildProcess, how: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#options.client.detach(how);
    if (this.#stopping) return;
    this.#counters.rt_deaths += 1;
    const delayMs = this.#policy.delayAfterDeath(this.#options.clock.mono());
    this.#options.log.error({ how, delayMs }, 'the motion process died; it is started again');
    if (delayMs === 0) this.#fork();
    else this.#cancelRestart = this.#options.clock.after(delayMs, () => this.#fork());
  }

  #checkSilence(): void {
    const mono = this.#options.clock.mono();
    const starved = mono - this.#checkedMono > STARVED_MS;
    this.#checkedMono = mono;
    const silentFor = this.#options.client.silentFor;
    const limit = this.#silentLimit();
    if (starved || silentFor === null || limit === null || silentFor < limit) return;
    this.#counters.rt_killed_silent += 1;
    const silentMs = Math.round(silentFor);
    this.#options.log.error(
      { silentMs },
      'the motion process does not answer; it is killed and started again',
    );
    this.#child?.kill('SIGKILL');
  }

  /** A base without a watchdog goes on driving while its motion process hangs, so that one is given little time. */
  #silentLimit(): number | null {
    const { client, silentLimitMs } = this.#options;
    if (silentLimitMs === null || !client.connected)
      return silentLimitMs === null ? null : SILENT_STARTING_MS;
    const state = client.state();
    const standing = state !== null && state.action === null && state.stoppedSince !== null;
    return silentLimitMs ?? (standing ? SILENT_STANDING_MS : SILENT_DRIVING_MS);
  }
}
