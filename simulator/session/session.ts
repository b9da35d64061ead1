/**
 * One simulated home: the world, its devices on serial lines, the broker and the built-in cloud, and time for all
 * of them. The robot's software runs beside it, in processes of its own or in this one.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../config/contracts/ids.js';
import type { OpenPort } from '../../config/contracts/port.js';
import { SimClock } from '../../config/contracts/sim-clock.js';
import { createSimBroker } from '../broker/broker.js';
import type { SimBroker } from '../broker/types.js';
import { createSimCloud } from '../cloud/cloud.js';
import type { SimCloud } from '../cloud/types.js';
import { SimControl } from '../control/server.js';
import { controlSocketPath } from '../control/socket-path.js';
import { WATCHDOG_STOPS } from '../devices/base-device.js';
import {
  type BaseChip,
  createDevicesOf,
  type Devices,
  type LidarChip,
  wheelBaseOf,
} from '../devices/index.js';
import { createFaults, type Faults } from '../faults/faults.js';
import { LocalBarrier, type LocalParticipant } from '../lockstep/local.js';
import { LockstepServer } from '../lockstep/server.js';
import { memoryPorts } from '../ports/memory.js';
import { ptyPorts } from '../ports/pty.js';
import { injectRos } from '../ros/faults.js';
import { createSimRos, type Nav2Flavour, type SimRos } from '../ros/index.js';
import type { DeviceEnd, DeviceName } from '../types.js';
import { createWorld, createWorldFromMap, type World, worldToMap } from '../world/index.js';
import type { LidarMounting } from '../world/lidar.js';
import { DriveRecord } from './drive-record.js';
import { Pace, type Speed, TICK_MS } from './pace.js';

export interface SessionOptions {
  stateDir: string;
  /** A world file; null: the home that comes with the simulator. */
  worldFile: string | null;
  /** Any ROS map instead of a world file. */
  mapFile: string | null;
  seed: number;
  speed: Speed;
  /** `memory`: the robot's software runs in this process. */
  transport: 'pty' | 'memory';
  /** TCP port of the broker on loopback; 0 any free one; null: in memory only. */
  mqttPort: number | null;
  /** Whether the built-in cloud takes part. */
  cloud: boolean;
  /** A base firmware that stops by itself when it hears nothing; real Create 2 have none. */
  baseWatchdog: boolean;
  /** Which base and which lidar the robot has; default: the reference robot's. */
  base?: BaseChip;
  lidar?: LidarChip;
  /** How its lidar is mounted; default: in the middle, upright, facing ahead. */
  lidarMounting?: LidarMounting;
  /** The robot's software finds the base and the lidar behind ROS 2 and a simulated Nav2; default: on serial lines. */
  ros?: { flavour: Nav2Flavour; port: number | null; actions?: boolean };
  deviceId: string;
  /** Real time. */
  wall: Clock;
  /** What the cloud sees, one line each. */
  onCloudLog?: (line: string) => void;
  onError: (error: unknown) => void;
}

/** Wall milliseconds that the robot's processes may take to appear before time passes without them. */
const START_PATIENCE_MS = 30_000;

export class SimSession {
  readonly world: World;
  readonly devices: Devices;
  /** The robot's ROS 2, where it has one. */
  readonly ros: SimRos | null;
  /** Robot time as this process sees it. */
  readonly clock: Clock;
  /** Where the robot's processes take part in time; null at real speed and within one process. */
  readonly lockstepSocket: string | null;
  /** Openers of the lines in memory; null with PTYs. */
  readonly memoryPorts: Record<DeviceName, OpenPort> | null;
  readonly #options: SessionOptions;
  readonly #simClock: SimClock | null;
  readonly #ends: Record<DeviceName, DeviceEnd>;
  readonly #faults: Faults;
  readonly #control: SimControl;
  readonly #drives: DriveRecord;
  readonly #pace: Pace;
  #broker: SimBroker | null = null;
  #rosUrl: string | null = null;
  #cloud: SimCloud | null = null;
  #lockstep: LockstepServer | null = null;
  #local: LocalBarrier | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { stateDir, wall } = options;
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const { base = 'create2', lidar = 'ld19' } = options;
    const how = { seed: options.seed, wheelBase: wheelBaseOf(base) };
    this.world =
      options.mapFile === null
        ? createWorld(options.worldFile ?? undefined, how)
        : createWorldFromMap(options.mapFile, how);
    this.world.lidar.mounting = options.lidarMounting ?? null;
    this.#writeMap();

    const memory = options.transport === 'memory' ? memoryPorts() : null;
    this.memoryPorts = memory?.open ?? null;
    this.#ends = memory?.ends ?? ptyPorts(stateDir).ends;
    const { baseWatchdog } = options;
    this.devices = createDevicesOf(this.world, { base, lidar }, { ports: this.#ends, baseWatchdog });

    this.ros =
      options.ros === undefined ? null : createSimRos(this.world, { ...options.ros, startMs: wall.now() });
    this.#drives = new DriveRecord(() => wall.wall());
    this.devices.base.line.override({
      message: (command) => {
        this.#drives.note(command);
        return undefined;
      },
    });
    this.world.onEvent(({ tick, timeMs, text }) => {
      if (text === WATCHDOG_STOPS) this.#drives.note({ tick, timeMs, what: 'watchdog', values: [] });
    });

    const realTime = options.speed === 1 && memory === null;
    this.#simClock = realTime ? null : new SimClock(wall.now(), () => wall.now());
    this.clock = this.#simClock ?? wall;
    this.lockstepSocket = realTime || memory !== null ? null : join(stateDir, 'lockstep.sock');

    this.#faults = createFaults(this.world, this.devices, {
      extra: {
        network: (words) => this.#network(words),
        broker: (words) => this.#brokerFault(words),
        clock: (words) => this.#jumpClock(words),
        ros: (words) => injectRos(this.world, this.ros, words),
      },
    });
    this.#control = new SimControl({
      socketPath: controlSocketPath(stateDir),
      inject: (words) => this.inject(words),
      views: {
        world: () => this.world.view(),
        trace: () => this.world.trace(),
        cloud: () => this.#cloud?.report() ?? null,
        cloud_log: () => this.#cloud?.log() ?? [],
        received: (name) => this.devices.byName[deviceName(name)].received,
        drives: (since) => this.#drives.since(typeof since === 'number' ? since : 0),
        time: () => ({
          robot: this.clock.now(),
          tick: this.world.tick,
          world_ms: this.world.timeMs,
          wall: wall.wall(),
        }),
      },
    });
    this.#pace = new Pace({
      speed: options.speed,
      wall,
      tick: () => this.#tick(),
      waiting: () => this.#lockstep !== null && this.#lockstep.present().length < 2,
      onError: options.onError,
    });
  }

  get cloud(): SimCloud | null {
    return this.#cloud;
  }
  /** Address of the broker for other clients; null in memory. */
  get brokerUrl(): string | null {
    return this.#broker?.url ?? null;
  }
  /** Opens a connection to the broker within this process. */
  connectBroker(): Duplex {
    if (this.#broker === null) throw new Error('the simulation has not been started');
    return this.#broker.connect();
  }
  /** Ticks that went on although something was still under way, and what it was. */
  get unsettled(): { ticks: number; last: string | null } {
    const server = this.#lockstep;
    return { ticks: server?.unsettled ?? this.#local?.unsettled ?? 0, last: server?.lastUnsettled ?? null };
  }

  /** Opens the lines, the broker, the cloud and the control socket; time does not pass yet. */
  async start(): Promise<void> {
    const options = this.#options;
    this.#broker = await createSimBroker({ port: options.mqttPort, wall: () => options.wall.mono() });
    await this.#broker.start();
    if (options.cloud) {
      const random = seededRandom(options.seed ^ 0x5eed);
      this.#cloud = createSimCloud({
        broker: { connect: () => this.connectBroker() },
        deviceId: options.deviceId,
        clock: this.clock,
        ids: new Ids(() => this.clock.now(), random),
        ...(options.onCloudLog === undefined ? {} : { onLog: options.onCloudLog }),
      });
      await this.#cloud.start();
    }
    if (this.lockstepSocket !== null && this.#simClock !== null) {
      const clock = this.#simClock;
      this.#lockstep = new LockstepServer({
        socketPath: this.lockstepSocket,
        lines: Object.values(this.#ends),
        local: {
          advance: (mono) => clock.advanceAsync(mono - clock.mono()),
          busy: () => this.#busy(),
          activity: () => this.#activity(),
        },
        time: () => ({ now: clock.now(), mono: clock.mono() }),
        wall: options.wall,
      });
      await this.#lockstep.start();
    }
    const { port = null } = options.ros ?? {};
    if (this.ros !== null && port !== null) this.#rosUrl = await this.ros.bridge.listen(port);
    await this.#control.start();
  }

  /** Address of the simulated robot's rosbridge; null where there is none, or only one in memory. */
  get rosUrl(): string | null {
    return this.#rosUrl;
  }

  /** Within one process: whose clocks advance, in order, before the broker's and the cloud's. */
  join(participants: readonly LocalParticipant[]): void {
    const clock = this.#simClock;
    if (clock === null) throw new Error('only a simulation in memory is joined');
    this.#local = new LocalBarrier({
      participants: [
        ...participants,
        {
          name: 'broker and cloud',
          clock,
          busy: () => this.#busy(),
          activity: () => this.#activity(),
        },
      ],
      wall: () => this.#options.wall.mono(),
    });
  }

  /** Lets time pass, once the robot's processes are there. */
  async run(): Promise<void> {
    if (this.#lockstep !== null) {
      await this.#lockstep.waitFor(['daemon', 'rt'], START_PATIENCE_MS);
      await this.#lockstep.settleNow();
    }
    await this.#local?.settleNow();
    this.#pace.start();
  }

  /** One tick by hand, for tests that step time themselves (in memory, without `run`). */
  async step(ticks = 1): Promise<void> {
    for (let i = 0; i < ticks; i++) await this.#tick();
  }

  async inject(words: readonly string[]): Promise<string> {
    return this.#faults.apply([...words]);
  }

  async stop(): Promise<void> {
    await this.#pace.stop();
    await this.#cloud?.stop();
    await this.#broker?.stop();
    await this.ros?.bridge.close();
    await this.#control.stop();
    await this.#lockstep?.stop();
    for (const end of Object.values(this.#ends)) end.close();
  }

  /** What happened in the world so far, one line each, without ids and wall times. */
  writeTrace(): void {
    writeFileSync(join(this.#options.stateDir, 'world-trace.txt'), `${this.world.trace().join('\n')}\n`);
  }

  async #tick(): Promise<void> {
    this.#drives.stepBegins();
    this.world.step(TICK_MS);
    for (const end of Object.values(this.#ends)) end.poll();
    const mono = (this.#simClock?.mono() ?? 0) + TICK_MS;
    if (this.#lockstep !== null) await this.#lockstep.advance(mono);
    else if (this.#local !== null) await this.#local.advance(mono);
  }

  #busy(): number {
    return (this.#broker?.inFlight() ?? 0) + (this.#cloud?.busy() ?? 0);
  }

  #activity(): number {
    return (this.#broker?.activity() ?? 0) + (this.#cloud?.activity() ?? 0);
  }

  #writeMap(): void {
    const dir = join(this.#options.stateDir, 'world');
    const map = worldToMap(this.world);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'map.pgm'), map.pgm);
    writeFileSync(join(dir, 'map.yaml'), map.mapYaml);
    writeFileSync(join(dir, 'areas.yaml'), map.areasYaml);
  }

  #network(words: readonly string[]): string {
    const state = one(words, ['up', 'down']);
    this.#need(this.#broker).setRefusing(state === 'down');
    return state === 'down' ? 'the network is down: connections are cut and refused' : 'the network is up';
  }

  async #brokerFault(words: readonly string[]): Promise<string> {
    const broker = this.#need(this.#broker);
    const what = one(words, ['start', 'stop', 'restart', 'half-open']);
    if (what === 'start') {
      broker.setHalfOpen(false);
      await broker.start();
      return 'the broker runs';
    }
    if (what === 'stop') {
      await broker.stop();
      return 'the broker is stopped';
    }
    if (what === 'restart') {
      await broker.restart({ keepSessions: false });
      return 'the broker was restarted and has forgotten every session';
    }
    broker.setHalfOpen(true);
    return 'connections to the broker stay open and carry nothing, until broker start';
  }

  #jumpClock(words: readonly string[]): string {
    const seconds = Number(words[0]);
    if (words.length !== 1 || !Number.isFinite(seconds)) {
      throw new Error(`clock: found "${words.join(' ')}"; expected a number of seconds such as +3600 or -60`);
    }
    if (this.#lockstep === null && this.#local === null) {
      throw new Error('clock: at real speed the robot reads the host clock; start with --speed 2 or more');
    }
    this.#lockstep?.jump(seconds * 1000);
    if (this.#local !== null) this.#local.jump(seconds * 1000);
    else this.#simClock?.jump(seconds * 1000);
    return `the robot's clock jumped by ${seconds} s`;
  }

  #need<T>(part: T | null): T {
    if (part === null) throw new Error('the simulation has not been started');
    return part;
  }
}

function one<T extends string>(words: readonly string[], allowed: readonly T[]): T {
  const found = allowed.find((a) => words.length === 1 && words[0] === a);
  if (found === undefined) {
    throw new Error(`found "${words.join(' ')}"; allowed is ${allowed.join(', ')}`);
  }
  return found;
}

function deviceName(value: unknown): DeviceName {
  if (value === 'base' || value === 'lidar' || value === 'air' || value === 'fan') return value;
  throw new Error(`found ${JSON.stringify(value)}; devices are base, lidar, air, fan`);
}
