/** A motion process under a daemon, both real processes, on pseudo-terminals with a base and a lidar behind them. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AmrEvent, MotionAction, RobotState, SafetyCondition } from '../../../config/contracts/amr.js';
import { type CancelTimer, SystemClock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { ptyPort } from '../../../simulator/ports/pty.js';
import { Create2Peer } from './create2-peer.js';
import { Ld19Peer } from './ld19-peer.js';
import type { Order } from './mini-daemon.js';

export const TURN: MotionAction = { kind: 'spin', angle: 90, tolerance: 0.1 };

export class ProcessRig {
  readonly clock = new SystemClock();
  readonly stateDir = mkdtempSync(join(tmpdir(), 'rt-'));
  readonly #base = ptyPort('base', join(this.stateDir, 'dev'));
  readonly #lidar = ptyPort('lidar', join(this.stateDir, 'dev'));
  readonly peer = new Create2Peer(this.#base, this.clock);
  readonly lidar = new Ld19Peer(this.#lidar, this.clock);
  readonly messages: { t: string; message?: string; id?: string; event?: AmrEvent }[] = [];
  daemon: ChildProcess | null = null;
  readonly #cancelPoll: CancelTimer;

  constructor() {
    this.#cancelPoll = this.clock.every(1, () => {
      this.#base.poll();
      this.#lidar.poll();
    });
  }

  /** Forks a daemon and waits until its motion process reports that nothing keeps the robot from driving. */
  async start(): Promise<void> {
    this.launch();
    await this.until('a robot that may drive', () => this.state?.safety.level === 'OK');
  }

  launch(): void {
    const port = (name: string, baud_rate: number) => ({
      kind: 'serial',
      path: join(this.stateDir, 'dev', name),
      baud_rate,
    });
    const config = {
      stateDir: this.stateDir,
      base: { driver: 'create2', port: port('base', 115_200) },
      lidar: { driver: 'ld19', port: port('lidar', 230_400) },
      motion: {},
    };
    this.messages.length = 0;
    const daemon = fork(entryPath(import.meta.url, './mini-daemon.js'), [JSON.stringify(config)], {
      execArgv: [],
    });
    daemon.on('message', (message) => this.messages.push(message as { t: string }));
    this.daemon = daemon;
  }

  order(order: Order): void {
    this.daemon?.send(order);
  }

  get state(): RobotState | null {
    const last = this.messages.findLast((m) => m.event?.type === 'state')?.event;
    return last?.type === 'state' ? last.state : null;
  }

  /** What the safety layer said appeared, oldest first. */
  get causes(): SafetyCondition[] {
    const told = this.messages.flatMap((m) => (m.event?.type === 'safety' ? [m.event.cause] : []));
    return told.filter((cause) => cause !== null);
  }

  /** How often the daemon was missed. */
  get silences(): number {
    return this.causes.filter((cause) => cause === 'daemon_silent').length;
  }

  get rtPid(): number {
    return Number(readFileSync(join(this.stateDir, 'rt.pid'), 'utf8'));
  }

  /**
   * Starts turning and waits until the wheels do; asks again when an overloaded machine let the safety layer end
   * it before.
   */
  async turn(): Promise<void> {
    let asked = Number.NEGATIVE_INFINITY;
    await this.until('turning wheels', () => {
      if (this.clock.mono() - asked > 1000) {
        asked = this.clock.mono();
        this.order({ do: 'start', id: 'turn', action: TURN });
      }
      return this.peer.left < -50 && this.peer.right > 50;
    });
  }

  /** Milliseconds from now until the wheels are told to stand still. */
  async timeToStop(limitMs = 3000): Promise<number> {
    const began = this.clock.mono();
    await this.until('a stop on the line', () => this.peer.stopped, limitMs);
    return (this.peer.drives().at(-1)?.mono ?? began) - began;
  }

  async until(what: string, true_: () => boolean, limitMs = 10_000): Promise<void> {
    const deadline = this.clock.mono() + limitMs;
    while (!true_()) {
      if (this.clock.mono() > deadline) {
        const last = JSON.stringify(this.messages.slice(-2)).slice(0, 1500);
        throw new Error(`waited ${limitMs} ms for ${what}; the last it heard: ${last}`);
      }
      await this.wait(1);
    }
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  async close(): Promise<void> {
    const { daemon } = this;
    if (daemon !== null && daemon.exitCode === null && daemon.signalCode === null) {
      const gone = new Promise((resolve) => daemon.once('exit', resolve));
      daemon.kill('SIGKILL');
      await gone;
    }
    await this.until('the end of the motion process', () => !this.#base.hostConnected, 5000).catch(() => {});
    this.#cancelPoll();
    this.peer.close();
    this.lidar.close();
    this.#base.close();
    this.#lidar.close();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
