/**
 * The whole motion process over real bytes: simulated base and lidar behind lines in memory, and in between the
 * drivers, localisation, planner, follower, docking and the safety layer that a robot runs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActionUpdate, MotionAction } from '../../../config/contracts/amr.js';
import { SystemClock } from '../../../config/contracts/clock.js';
import { distance, type Pose } from '../../../config/contracts/geometry.js';
import { seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { rtConfigSchema } from '../../../drivers/rt/config.js';
import { hostInline } from '../../../drivers/rt/inline.js';
import { createDevices } from '../../../simulator/devices/index.js';
import { memoryPorts } from '../../../simulator/ports/memory.js';
import { createWorld, worldToMap } from '../../../simulator/world/index.js';

const TICK_MS = 15;

class Home {
  readonly clock = new SimClock(1_790_000_000_000);
  readonly stateDir = mkdtempSync(join(tmpdir(), 'home-'));
  readonly mapYaml = join(this.stateDir, 'world', 'map.yaml');
  readonly world = createWorld(undefined, { seed: 5 });
  readonly #ports = memoryPorts();
  readonly devices = createDevices(this.world, { ports: this.#ports.ends });
  readonly updates: ActionUpdate[] = [];
  readonly client: RtClient;
  readonly #host;

  constructor() {
    this.#writeMap();
    const { host, channel } = hostInline({
      config: rtConfigSchema.parse({
        stateDir: this.stateDir,
        base: { driver: 'create2', port: { kind: 'memory', name: 'base' } },
        lidar: { driver: 'ld19', port: { kind: 'memory', name: 'lidar' } },
        motion: {},
        heartbeat: 'channel',
      }),
      clock: this.clock,
      machineClock: new SystemClock(),
      random: seededRandom(7),
      pid: 1,
      openPort: (name) => this.#ports.open[name],
    });
    this.#host = host;
    this.client = new RtClient({
      clock: this.clock,
      log: SILENT_LOG,
      heartbeat: 'on_clock',
      latchEstop: async () => {},
    });
    this.client.subscribe((event) => {
      if (event.type === 'action') this.updates.push(event.update);
    });
    this.client.attach(channel);
    host.start();
  }

  get bundle() {
    return loadMapBundle(this.mapYaml);
  }

  get pose(): Pose {
    return this.world.view().pose;
  }

  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) await this.#tick();
  }

  /** Runs until the action has ended, and returns its last update. */
  async act(id: string, action: MotionAction, limitMs = 120_000): Promise<ActionUpdate> {
    await this.client.start(id, action, 1);
    for (let passed = 0; passed < limitMs; passed += TICK_MS) {
      await this.#tick();
      const last = this.updates.findLast((u) => u.id === id);
      if (last !== undefined && last.status !== 'running') return last;
    }
    throw new Error(`${id} did not end within ${limitMs} ms: ${JSON.stringify(this.updates.at(-1))}`);
  }

  async planTo(goal: Pose): Promise<Pose[]> {
    const asked = this.client.plan({ from: null, goal });
    await settle();
    const plan = await asked;
    if (!plan.ok) throw new Error(plan.message);
    return plan.path;
  }

  async follow(id: string, goal: Pose): Promise<ActionUpdate> {
    const path = await this.planTo(goal);
    return this.act(id, {
      kind: 'followPath',
      path,
      goal,
      tolerance: { xy: 0.15, theta: 0.2 },
      maxSpeed: 0.35,
    });
  }

  async close(): Promise<void> {
    const ended = this.#host.shutdown('test over');
    await this.run(1500);
    await ended;
    this.devices.close();
    // The pose may just be being written down.
    rmSync(this.stateDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }

  async #tick(): Promise<void> {
    this.world.step(TICK_MS);
    await this.clock.advanceAsync(TICK_MS);
  }

  #writeMap(): void {
    const dir = join(this.stateDir, 'world');
    mkdirSync(dir, { recursive: true });
    const map = worldToMap(this.world);
    writeFileSync(join(dir, 'map.pgm'), map.pgm);
    writeFileSync(join(dir, 'map.yaml'), map.mapYaml);
    writeFileSync(join(dir, 'areas.yaml'), map.areasYaml);
  }
}

describe('the motion process in a simulated home', { timeout: 120_000 }, () => {
  let home: Home;
  beforeEach(async () => {
    home = new Home();
    await home.run(1500);
    await home.client.loadMap(home.mapYaml);
    const { station } = home.bundle.areas;
    if (station === null) throw new Error('the home has no station');
    await home.client.relocalize(station.pose);
    await home.run(500);
  });
  afterEach(() => home.close());

  const station = () => home.bundle.areas.station?.pose ?? { x: 0, y: 0, theta: 0 };
  const room = (name: string) => {
    const found = home.bundle.areas.rooms.find((r) => r.name === name);
    if (found === undefined) throw new Error(`no room ${name}`);
    return found;
  };

  it('leaves its station, drives to the living room, comes back and docks', async () => {
    expect(home.world.view().docked).toBe(true);
    expect(await home.act('out', { kind: 'undock', clearance: 0.5 })).toMatchObject({ status: 'succeeded' });
    expect(home.world.view().docked).toBe(false);
    const { goal } = room('거실');
    expect(await home.follow('go', goal)).toMatchObject({ status: 'succeeded' });
    expect(distance(home.pose, goal)).toBeLessThan(0.25);
    expect(home.client.state()?.stoppedSince).not.toBeNull();
    const front = station();
    const staging = {
      ...front,
      x: front.x - 0.7 * Math.cos(front.theta),
      y: front.y - 0.7 * Math.sin(front.theta),
    };
    expect(await home.follow('back', staging)).toMatchObject({ status: 'succeeded' });
    expect(await home.act('dock', { kind: 'dock', station: front })).toMatchObject({ status: 'succeeded' });
    expect(home.world.view().docked).toBe(true);
    expect(home.client.state()?.base.docked).toBe(true);
    expect(home.client.state()?.counters).toMatchObject({ control_missed: 0, stops_unconfirmed: 0 });
  });

  it('does not arrive when the wheels are blocked, whatever it commands', async () => {
    await home.act('out', { kind: 'undock', clearance: 0.5 });
    home.world.body.wheelsBlocked = true;
    const end = await home.follow('go', room('거실').goal);
    expect(end.status).toBe('failed');
    expect(distance(home.pose, room('거실').goal)).toBeGreaterThan(0.5);
  });

  it('stands still soon after the lidar is unplugged, and drives on once it is back', async () => {
    await home.act('out', { kind: 'undock', clearance: 0.5 });
    const { goal } = room('거실');
    const path = await home.planTo(goal);
    await home.client.start(
      'go',
      { kind: 'followPath', path, goal, tolerance: { xy: 0.15, theta: 0.2 }, maxSpeed: 0.35 },
      1,
    );
    await home.run(4000);
    home.devices.lidar.unplug();
    await home.run(1000);
    expect(home.world.view().command).toEqual({ left: 0, right: 0 });
    await home.run(1000);
    expect(home.updates.at(-1)).toMatchObject({ id: 'go', status: 'failed' });
    home.devices.lidar.plug();
    await home.run(8000);
    expect(home.client.state()?.safety.level).toBe('OK');
    expect(await home.follow('again', goal)).toMatchObject({ status: 'succeeded' });
  });

  it('ends its action when the base is unplugged, and stands when it is plugged in again', async () => {
    await home.act('out', { kind: 'undock', clearance: 0.5 });
    const { goal } = room('거실');
    const path = await home.planTo(goal);
    await home.client.start(
      'go',
      { kind: 'followPath', path, goal, tolerance: { xy: 0.15, theta: 0.2 }, maxSpeed: 0.35 },
      1,
    );
    await home.run(4000);
    home.devices.base.unplug();
    await home.run(4000);
    expect(home.updates.at(-1)).toMatchObject({ id: 'go', status: 'failed' });
    expect(home.client.state()).toMatchObject({
      stoppedSince: null,
      base: { connected: false, docked: null },
    });
    home.devices.base.plug();
    await home.run(8000);
    expect(home.client.state()?.safety.level).toBe('OK');
    expect(home.world.view().command).toEqual({ left: 0, right: 0 });
    expect(await home.follow('again', goal)).toMatchObject({ status: 'succeeded' });
  });

  it('backs off the thing that its bumper met, and gets to its goal another way or again', async () => {
    await home.act('out', { kind: 'undock', clearance: 0.5 });
    const { goal } = room('거실');
    const path = await home.planTo(goal);
    await home.client.start(
      'go',
      { kind: 'followPath', path, goal, tolerance: { xy: 0.15, theta: 0.2 }, maxSpeed: 0.35 },
      1,
    );
    await home.run(4000);
    home.world.body.stimulate('bumpLeft', 400);
    await home.run(100);
    expect(home.world.view().command).toEqual({ left: 0, right: 0 });
    await home.run(1000);
    expect(home.updates.findLast((u) => u.id === 'go')).toMatchObject({
      failure: 'safety_stop',
      message: 'the safety layer stopped the robot: bumper_left',
    });
    const back = await home.act('back', { kind: 'backUp', distance: 0.15, speed: 0.1 });
    expect(back).toMatchObject({ status: 'succeeded' });
    expect(await home.follow('again', goal)).toMatchObject({ status: 'succeeded' });
  });
});
