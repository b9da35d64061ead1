/**
 * A whole simulated home for tests: world, byte-level devices on lines in memory, broker, cloud and the real daemon
 * with its motion process, in one process and in lock-step. Time passes only when a test lets it.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '../../config/contracts/clock.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { type Log, SILENT_LOG } from '../../config/contracts/log.js';
import { SimClock } from '../../config/contracts/sim-clock.js';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import { loadConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import { inMemory, rosbridgeOf } from '../../daemon/cli/simulation/in-memory.js';
import { simProfile } from '../../daemon/cli/simulation/sim-profile.js';
import type { HostTime } from '../../daemon/clock/host-time.js';
import { createDaemon, type Daemon } from '../../daemon/main.js';
import { isWorkflowEnd } from '../../simulator/cloud/consumer.js';
import type { PushedWorkflow, ReceivedEvent, SimCloud } from '../../simulator/cloud/types.js';
import type { BaseChip, LidarChip } from '../../simulator/devices/index.js';
import { wheels } from '../../simulator/devices/kobuki.js';
import { TICK_MS } from '../../simulator/session/pace.js';
import { SimSession } from '../../simulator/session/session.js';
import type { WorldView } from '../../simulator/types.js';
import type { LidarMounting } from '../../simulator/world/lidar.js';
import { Lifeline } from './lifeline.js';
import { NetworkClock, simulatedWall } from './network-clock.js';

export interface HomeOptions {
  seed?: number;
  /** A world file instead of the home that comes along. */
  worldFile?: string;
  /** A map (`map_server` YAML) that the world is made from instead. */
  mapFile?: string;
  baseWatchdog?: boolean;
  /** Another base or lidar than the reference robot's. */
  base?: BaseChip;
  lidar?: LidarChip;
  lidarMounting?: LidarMounting;
  /** A robot with Nav2 behind a rosbridge in memory, instead of base and lidar. */
  ros?: 'humble' | 'jazzy';
  log?: Log;
  /**
   * `simulated`: the network and the wall clock keep the pace of the simulation, so that a minute without network is
   * a minute for the robot; jumps of the robot's clock do not move them. Default `wall`: real time.
   */
  network?: 'wall' | 'simulated';
  /** Changes the `areas.yaml` that the world's map comes with, before the robot reads it. */
  editAreas?: (yaml: string) => string;
  /** How the host of the robot keeps its time; default: the simulation gives it. */
  hostTime?: HostTime;
  /** Changes the simulated home's profile. */
  editConfig?: (config: Config) => Config;
}

/** The base's account of what it was told, which nobody on the robot's side can fake. */
export interface WheelCommand {
  timeMs: number;
  right: number;
  left: number;
}

export class Home {
  readonly session: SimSession;
  readonly cloud: SimCloud;
  daemon: Daemon;
  /** Where the daemon that runs now keeps its state. */
  stateDir: string;
  readonly #options: HomeOptions;
  readonly #stateDirs: string[];
  readonly #events: ReceivedEvent[] = [];
  #joined: { rt: SimClock; robot: SimClock };
  #lifeline: Lifeline;

  private constructor(options: HomeOptions, stateDir: string, session: SimSession, cloud: SimCloud) {
    this.#options = options;
    this.stateDir = stateDir;
    this.#stateDirs = [stateDir];
    this.session = session;
    this.cloud = cloud;
    cloud.onEvent((event) => this.#events.push(event));
    this.#joined = this.#clocks();
    this.#lifeline = new Lifeline();
    this.daemon = this.#makeDaemon();
  }

  /** The home with its robot on the station, online, and ready. */
  static async start(options: HomeOptions = {}): Promise<Home> {
    const stateDir = mkdtempSync(join(tmpdir(), 'da-home-'));
    let simulated: SimSession | null = null;
    const session: SimSession = new SimSession({
      stateDir,
      worldFile: options.worldFile ?? null,
      mapFile: options.mapFile ?? null,
      seed: options.seed ?? 1,
      speed: 'max',
      transport: 'memory',
      mqttPort: null,
      cloud: true,
      baseWatchdog: options.baseWatchdog ?? false,
      base: options.base ?? 'create2',
      lidar: options.lidar ?? 'ld19',
      ...(options.lidarMounting === undefined ? {} : { lidarMounting: options.lidarMounting }),
      ...(options.ros === undefined ? {} : { ros: { flavour: options.ros, port: null } }),
      deviceId: 'da-sim',
      wall:
        options.network === 'simulated'
          ? simulatedWall(() => simulated?.clock.mono() ?? 0)
          : new SystemClock(),
      onError: (error) => {
        throw error;
      },
    });
    simulated = session;
    if (options.editAreas !== undefined) {
      const file = join(stateDir, 'world', 'areas.yaml');
      writeFileSync(file, options.editAreas(readFileSync(file, 'utf8')));
    }
    await session.start();
    if (session.cloud === null) throw new Error('the session has no cloud');
    const home = new Home(options, stateDir, session, session.cloud);
    await home.#startDaemon();
    await home.until(
      () => home.cloud.report().status === 'online' && home.cloud.context() !== null,
      30_000,
      'the robot is online',
    );
    return home;
  }

  get world(): WorldView {
    return this.session.world.view();
  }

  /** Every event of the ordered lane that the cloud has received, by first arrival. */
  get events(): readonly ReceivedEvent[] {
    return this.#events;
  }

  /** Lets this much robot time pass. */
  async run(ms: number): Promise<void> {
    await this.session.step(Math.ceil(ms / TICK_MS));
  }

  /** Lets time pass until `done`; throws, naming `what`, when it does not come true within `ms` of robot time. */
  async until(done: () => boolean, ms: number, what: string): Promise<void> {
    for (let passed = 0; !done(); passed += TICK_MS) {
      if (passed > ms) throw new Error(`within ${ms} ms of robot time: ${what}; ${this.#lastWords()}`);
      await this.session.step();
    }
  }

  /** Lets time pass until the promise settles. */
  async settled<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
    let done = false;
    const mark = () => {
      done = true;
    };
    promise.then(mark, mark);
    await this.until(() => done, ms, what);
    return promise;
  }

  async inject(...words: string[]): Promise<string> {
    return this.session.inject(words);
  }

  /** Sends a command as the cloud; resolves with the robot's answer. */
  async command(command: Record<string, unknown>): Promise<CommandResponse> {
    return this.settled(this.cloud.sendCommand(command), 10_000, 'an answer to the command');
  }

  /** Submits one task as the cloud; throws when it is refused. */
  async task(method: string, params: Record<string, unknown> = {}, task: object = {}): Promise<string> {
    const response = await this.command({ kind: 'task', method, params, task });
    if (response.task_id === null)
      throw new Error(`${method} was refused: ${response.reason_code} ${response.message}`);
    return response.task_id;
  }

  async goal(text: string): Promise<PushedWorkflow> {
    return this.settled(this.cloud.pushWorkflow(text), 10_000, 'a planned workflow');
  }

  /** The terminal event of a task or of a workflow itself. */
  async end(id: string, ms = 300_000): Promise<ReceivedEvent> {
    await this.until(() => this.ended(id) !== null, ms, `the end of ${id}`);
    const event = this.ended(id);
    if (event === null) throw new Error('unreachable');
    return event;
  }

  ended(id: string): ReceivedEvent | null {
    const terminal = ['COMPLETED', 'FAILED', 'CANCELLED'];
    return (
      this.#events.find(
        (e) => terminal.includes(e.event) && (e.taskId === id || (isWorkflowEnd(e) && e.workflowId === id)),
      ) ?? null
    );
  }

  /** What the base was told since `timeMs` of world time, in mm/s; a Kobuki is told a speed and a radius. */
  wheelCommands(sinceMs = 0): WheelCommand[] {
    if (this.#options.base === 'kobuki') return this.#kobukiCommands(sinceMs);
    return this.session.devices.base.received
      .filter((r) => r.what === 'drive_direct' && r.timeMs >= sinceMs)
      .map((r) => ({ timeMs: r.timeMs, right: r.values[0] ?? Number.NaN, left: r.values[1] ?? Number.NaN }));
  }

  #kobukiCommands(sinceMs: number): WheelCommand[] {
    return this.session.devices.base.received
      .filter((r) => r.what === 'base_control' && r.timeMs >= sinceMs)
      .map((r) => ({ timeMs: r.timeMs, ...wheels(r.values[0] ?? Number.NaN, r.values[1] ?? Number.NaN) }));
  }

  /** True while the wheels of the world turn, whatever anybody says. */
  get wheelsTurn(): boolean {
    const { left, right } = this.session.world.body.wheels;
    return Math.abs(left) > 0.002 || Math.abs(right) > 0.002;
  }

  /** An orderly stop, as before an update, and a new start. */
  async restartDaemon(): Promise<void> {
    await this.settled(this.daemon.stop(), 30_000, 'the daemon has stopped');
    this.session.join([]);
    await this.startDaemon();
  }

  /**
   * The computer is gone from one moment to the next: no stop is sent, no time reaches what ran on it, its ports and
   * connections are closed as those of a dead process are, and of its files there is what was on the disk. The base
   * keeps doing what it was last told.
   */
  killDaemon(): void {
    this.#lifeline.cut();
    this.session.join([]);
    // What is left of the old one in this process keeps the old files; the new one gets what they hold now.
    const next = mkdtempSync(join(tmpdir(), 'da-home-'));
    cpSync(this.stateDir, next, { recursive: true, filter: (source) => !source.endsWith('.sock') });
    this.stateDir = next;
    this.#stateDirs.push(next);
  }

  /** A new daemon after `killDaemon`. */
  async startDaemon(): Promise<void> {
    this.#joined = this.#clocks();
    this.#lifeline = new Lifeline();
    this.daemon = this.#makeDaemon();
    await this.#startDaemon();
  }

  async stop(): Promise<void> {
    await this.settled(this.daemon.stop(), 30_000, 'the daemon has stopped');
    await this.session.stop();
    for (const dir of this.#stateDirs) rmSync(dir, { recursive: true, force: true });
  }

  #clocks(): { rt: SimClock; robot: SimClock } {
    const wall = this.#wall();
    const make = () => new SimClock(this.session.clock.now() - this.session.clock.mono(), () => wall.now());
    const clocks = { rt: make(), robot: make() };
    for (const clock of Object.values(clocks)) clock.advance(this.session.clock.mono());
    return clocks;
  }

  #wall(robot?: SimClock): Clock {
    if (this.#options.network !== 'simulated') return new SystemClock();
    return new NetworkClock(robot ?? this.session.clock);
  }

  #profile(): string {
    const { base = 'create2', lidar = 'ld19', ros } = this.#options;
    const nav2 = ros === undefined ? null : { distro: ros, url: null };
    return simProfile(this.stateDir, { base, lidar, ros: nav2 });
  }

  #makeDaemon(): Daemon {
    const { rt, robot } = this.#joined;
    const lifeline = this.#lifeline;
    const seed = this.#options.seed ?? 1;
    const loaded = inMemory(loadConfig(this.#profile(), {}, this.stateDir));
    const config = this.#options.editConfig?.(loaded.config) ?? loaded.config;
    const daemon = createDaemon({
      loaded: { ...loaded, config },
      stateDir: this.stateDir,
      version: 'test',
      clock: robot,
      wall: lifeline.clock(this.#wall(robot)),
      random: seededRandom(seed),
      seed,
      log: this.#options.log ?? SILENT_LOG,
      placement: { kind: 'inline', clock: rt },
      simulatedTime: true,
      ...(this.#options.hostTime === undefined ? {} : { hostTime: this.#options.hostTime }),
      memory: this.session.memoryPorts === null ? null : lifeline.ports(this.session.memoryPorts),
      openRosbridge: this.session.ros === null ? null : async () => rosbridgeOf(this.session),
      openBroker: () => lifeline.stream(this.session.connectBroker()),
      api: false,
    });
    this.session.join([
      { name: 'rt', clock: rt, busy: () => 0 },
      { name: 'daemon', clock: robot, busy: () => daemon.busy() },
    ]);
    return daemon;
  }

  async #startDaemon(): Promise<void> {
    await this.settled(this.daemon.start(), 30_000, 'the daemon is ready');
  }

  #lastWords(): string {
    const last = this.#events
      .slice(-3)
      .map((e) => `${e.event} ${e.method ?? e.topic} ${e.reasonCode ?? ''}`.trim());
    const { pose, docked } = this.world;
    return `last events: ${last.join(' · ') || 'none'}; at (${pose.x.toFixed(2)}, ${pose.y.toFixed(2)})${docked ? ', docked' : ''}`;
  }
}
