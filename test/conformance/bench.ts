/**
 * A motion process behind its `AmrDriver`, in the simulated home, on one simulated clock: the robot of either back end,
 * and the truth beside it. Nothing of the daemon but its client takes part.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionUpdate, AmrEvent, MotionAction, RobotState } from '../../config/contracts/amr.js';
import { compose, type Pose } from '../../config/contracts/geometry.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { SILENT_LOG } from '../../config/contracts/log.js';
import { SimClock, settle } from '../../config/contracts/sim-clock.js';
import { loadConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import { inMemory } from '../../daemon/cli/simulation/in-memory.js';
import { simProfile } from '../../daemon/cli/simulation/sim-profile.js';
import { RtClient } from '../../daemon/rt-client/rt-client.js';
import { rtConfigOf } from '../../drivers/rt/config.js';
import type { RtHost } from '../../drivers/rt/host.js';
import { hostInline } from '../../drivers/rt/inline.js';
import { openerOf } from '../../drivers/serial/ports/open-port.js';
import { createDevicesOf, type Devices } from '../../simulator/devices/index.js';
import { memoryPorts } from '../../simulator/ports/memory.js';
import { createSimRos, type SimRos } from '../../simulator/ros/index.js';
import { createWorld, type World, worldToMap } from '../../simulator/world/index.js';

export const BACK_ENDS = ['onboard', 'nav2 jazzy', 'nav2 humble'] as const;
export type BackEnd = (typeof BACK_ENDS)[number];

export interface BenchOptions {
  seed?: number;
  /** Of the simulated rosbridge; default: it can send goals. */
  actions?: boolean;
  editConfig?: (config: Config) => Config;
}

const TICK_MS = 15;
/** Turns of the event loop that a tick waits at most; a goal that nobody answers needs time to pass. */
const MOST_ROUNDS = 20_000;
const START_MS = 1_790_000_000_000;

export class Bench {
  readonly clock = new SimClock(START_MS);
  readonly world: World;
  readonly devices: Devices;
  readonly ros: SimRos | null;
  readonly client: RtClient;
  readonly events: AmrEvent[] = [];
  readonly backEnd: BackEnd;
  readonly dir = mkdtempSync(join(tmpdir(), 'da-conformance-'));
  host: RtHost;
  readonly #options: BenchOptions;
  readonly #ports = memoryPorts();
  #fence = 0;
  #actions = 0;

  private constructor(backEnd: BackEnd, options: BenchOptions) {
    this.backEnd = backEnd;
    this.#options = options;
    const { seed = 1, actions = true } = options;
    this.world = createWorld(undefined, { seed });
    this.#writeMap();
    this.devices = createDevicesOf(
      this.world,
      { base: 'create2', lidar: 'ld19' },
      { ports: this.#ports.ends },
    );
    const flavour = backEnd === 'nav2 humble' ? 'humble' : 'jazzy';
    this.ros =
      backEnd === 'onboard' ? null : createSimRos(this.world, { flavour, startMs: START_MS, actions });
    this.client = new RtClient({
      clock: this.clock,
      log: SILENT_LOG,
      heartbeat: 'on_clock',
      latchEstop: async () => {},
    });
    this.client.subscribe((event) => this.events.push(event));
    this.host = this.#makeHost();
  }

  /** On its station, with its map, localised. */
  static async start(backEnd: BackEnd, options: BenchOptions = {}): Promise<Bench> {
    const bench = new Bench(backEnd, options);
    bench.host.start();
    await bench.run(1500);
    await bench.during(bench.client.loadMap(join(bench.dir, 'map.yaml')), 10_000);
    await bench.during(bench.client.relocalize(bench.station), 5_000);
    await bench.run(500);
    await bench.until(() => bench.state().localized === true, 20_000, 'it is localised');
    return bench;
  }

  get station(): Pose {
    const dock = this.world.layout.dock;
    if (dock === null) throw new Error('the world has no dock');
    return dock.station;
  }

  /** The place in front of the station, facing it. */
  get staging(): Pose {
    return compose(this.station, { x: -0.7, y: 0, theta: 0 });
  }

  /** A room of the home by its number. */
  roomGoal(index: number): Pose {
    const room = this.world.layout.rooms[index];
    if (room === undefined) throw new Error(`there is no room ${index}`);
    return room.goal;
  }

  state(): RobotState {
    const state = this.client.state();
    if (state === null) throw new Error('the motion process has not reported');
    return state;
  }

  /** True while the wheels of the world turn, whatever anybody says. */
  get wheelsTurn(): boolean {
    const { left, right } = this.world.body.wheels;
    return Math.abs(left) > 0.002 || Math.abs(right) > 0.002;
  }

  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      this.world.step(TICK_MS);
      for (const end of Object.values(this.#ports.ends)) end.poll();
      await this.clock.advanceAsync(TICK_MS);
      await this.#settleFiles();
    }
  }

  /** What is outside of the event loop, such as writing the e-stop down, is done before time goes on. */
  async #settleFiles(): Promise<void> {
    for (let i = 0; i < MOST_ROUNDS && this.host.busy() > 0; i++) await settle(1);
  }

  async until(done: () => boolean, ms: number, what: string): Promise<void> {
    for (let passed = 0; !done(); passed += TICK_MS) {
      if (passed > ms) throw new Error(`within ${ms} ms of robot time: ${what}; ${this.#lastWords()}`);
      await this.run(TICK_MS);
    }
  }

  /** Lets time pass until the promise settles. */
  async during<T>(promise: Promise<T>, ms: number): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    await this.until(() => settled, ms, 'an answer');
    return promise;
  }

  /** Starts an action with the newest fence; resolves with its id once it is accepted. */
  async begin(action: MotionAction, fence = ++this.#fence): Promise<string> {
    this.#actions += 1;
    const id = `a-${this.#actions}`;
    await this.during(this.client.start(id, action, fence), 3_000);
    return id;
  }

  async end(id: string, ms = 180_000): Promise<ActionUpdate> {
    const ended = () => this.updates(id).find((update) => update.status !== 'running');
    await this.until(() => ended() !== undefined, ms, `the end of ${id}`);
    const update = ended();
    if (update === undefined) throw new Error('unreachable');
    return update;
  }

  updates(id: string): ActionUpdate[] {
    return this.events.flatMap((e) => (e.type === 'action' && e.update.id === id ? [e.update] : []));
  }

  /** Plans and drives, as the navigation machine does; resolves once it is accepted. */
  async goTo(goal: Pose, tolerance = { xy: 0.15, theta: 0.35 }): Promise<string> {
    const plan = await this.during(this.client.plan({ from: null, goal }), 20_000);
    if (!plan.ok) throw new Error(`no plan: ${plan.reason} ${plan.message}`);
    return this.begin({ kind: 'followPath', path: plan.path, goal, tolerance, maxSpeed: 0.3 });
  }

  async undock(): Promise<void> {
    const end = await this.end(await this.begin({ kind: 'undock', clearance: 0.4 }));
    if (end.status !== 'succeeded') throw new Error(`undocking: ${JSON.stringify(end)}`);
  }

  /** The motion process dies and another one starts, as after a crash. */
  async restart(): Promise<void> {
    const before = this.state().rtBootId;
    await this.during(this.host.shutdown('killed'), 3_000);
    this.host = this.#makeHost();
    this.host.start();
    await this.until(() => this.state().rtBootId !== before, 5_000, 'the new motion process is there');
    await this.run(500);
  }

  /** The line to the base is cut, or the one to ROS; `restored` undoes it. */
  cutLink(): void {
    if (this.ros !== null) this.ros.bridge.setRefusing(true);
    else this.devices.byName.base.unplug();
  }

  restoreLink(): void {
    if (this.ros !== null) this.ros.bridge.setRefusing(false);
    else this.devices.byName.base.plug();
  }

  /** The lidar goes quiet, or speaks again. */
  muteLidar(on: boolean): void {
    if (this.ros !== null) this.ros.robot.faults.scan = on;
    else this.devices.lidar.faults.silent = on;
  }

  async close(): Promise<void> {
    const ended = this.host.shutdown('test over');
    await this.during(ended, 3_000);
    await this.#settleFiles();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #makeHost(): RtHost {
    const nav2 = {
      distro: this.backEnd === 'nav2 humble' ? ('humble' as const) : ('jazzy' as const),
      url: null,
    };
    const profile = simProfile(this.dir, {
      base: 'create2',
      lidar: 'ld19',
      ros: this.backEnd === 'onboard' ? null : nav2,
    });
    const loaded = inMemory(loadConfig(profile, {}, this.dir)).config;
    const config = this.#options.editConfig?.(loaded) ?? loaded;
    const { seed = 1 } = this.#options;
    const rt = rtConfigOf(config, { stateDir: this.dir, heartbeat: 'channel', seed });
    if (rt === null) throw new Error('the profile names no body');
    const { ros } = this;
    const { host, channel } = hostInline({
      config: rt,
      clock: this.clock,
      machineClock: this.clock,
      random: seededRandom(seed),
      pid: 1,
      openPort: (_name, port) => openerOf(port, this.clock, this.#ports.open),
      openRosbridge: ros === null ? null : async () => ros.bridge.connect(),
    });
    this.client.attach(channel);
    return host;
  }

  #writeMap(): void {
    const { pgm, mapYaml, areasYaml } = worldToMap(this.world);
    mkdirSync(this.dir, { recursive: true });
    writeFileSync(join(this.dir, 'map.pgm'), pgm);
    writeFileSync(join(this.dir, 'map.yaml'), mapYaml);
    writeFileSync(join(this.dir, 'areas.yaml'), areasYaml);
  }

  #lastWords(): string {
    const { x, y, theta } = this.world.body.pose;
    const last = this.events.filter((e) => e.type === 'action').at(-1);
    const state = this.client.state();
    const seen = JSON.stringify({
      pose: state?.pose,
      localized: state?.localized,
      safety: state?.safety,
      base: state?.base.connected,
    });
    return `at (${x.toFixed(2)}, ${y.toFixed(2)}, ${theta.toFixed(2)}); ${seen}; ${JSON.stringify(last)}`;
  }
}
