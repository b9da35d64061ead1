/** Daemon and motion process as real processes on pseudo-terminals, on the simulator's time. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { entryPath } from '../../../config/contracts/entry.js';
import { LOCKSTEP_ENV } from '../../../config/contracts/lockstep.js';
import { createDevices, type Devices } from '../../../simulator/devices/index.js';
import { LockstepServer } from '../../../simulator/lockstep/server.js';
import { type PtyPorts, ptyPorts } from '../../../simulator/ports/pty.js';
import { createWorld, type World, worldToMap } from '../../../simulator/world/index.js';

const TICK_MS = 15;

interface Heard {
  at: number;
  status: string;
}

class Simulation {
  readonly stateDir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  readonly world: World = createWorld(undefined, { seed: 11 });
  readonly #ports: PtyPorts = ptyPorts(this.stateDir);
  readonly devices: Devices = createDevices(this.world, { ports: this.#ports.ends });
  readonly heard: Heard[] = [];
  readonly server: LockstepServer;
  readonly daemon: ChildProcess;
  #mono = 0;

  constructor() {
    this.#writeMap();
    const socketPath = join(this.stateDir, 'lockstep.sock');
    this.server = new LockstepServer({
      socketPath,
      lines: Object.values(this.#ports.ends),
      local: { advance: async () => {}, busy: () => 0, activity: () => 0 },
      time: () => ({ now: 1_790_000_000_000 + this.#mono, mono: this.#mono }),
      wall: new SystemClock(),
    });
    const port = (name: 'base' | 'lidar', baud_rate: number) => ({
      kind: 'serial',
      path: this.#ports.paths[name],
      baud_rate,
    });
    const config = {
      stateDir: this.stateDir,
      base: { driver: 'create2', port: port('base', 115_200) },
      lidar: { driver: 'ld19', port: port('lidar', 230_400) },
      motion: {},
      heartbeat: 'channel',
      seed: 3,
    };
    this.daemon = fork(
      entryPath(import.meta.url, '../../support/rt/lockstep-daemon.js'),
      [JSON.stringify(config)],
      {
        execArgv: [],
        env: { ...process.env, [LOCKSTEP_ENV]: socketPath },
      },
    );
    this.daemon.on('message', (message) => this.heard.push(message as Heard));
  }

  async start(): Promise<void> {
    await this.server.start();
    if (!(await this.server.waitFor(['daemon', 'rt'], 20_000))) throw new Error('nobody joined');
    await this.server.settleNow();
  }

  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      this.world.step(TICK_MS);
      for (const end of Object.values(this.#ports.ends)) end.poll();
      this.#mono += TICK_MS;
      await this.server.advance(this.#mono);
    }
  }

  async close(): Promise<void> {
    const rtPid = join(this.stateDir, 'rt.pid');
    await this.server.stop();
    for (let i = 0; i < 300 && (existsSync(rtPid) || this.daemon.exitCode === null); i++) await wait(10);
    this.devices.close();
    this.#ports.close();
    rmSync(this.stateDir, { recursive: true, force: true });
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

describe('daemon and motion process in lock-step', { timeout: 120_000 }, () => {
  const running: Simulation[] = [];
  const simulate = async () => {
    const simulation = new Simulation();
    running.push(simulation);
    await simulation.start();
    return simulation;
  };
  afterEach(async () => {
    for (const simulation of running.splice(0)) await simulation.close();
  });

  it('leave the station on simulated time', async () => {
    const simulation = await simulate();
    await simulation.run(15_000);
    expect(simulation.heard.at(-1)?.status).toBe('succeeded');
    expect(simulation.world.view().docked).toBe(false);
    expect(simulation.server.unsettled).toBe(0);
  });

  it('do the same to the world each time, tick for tick', async () => {
    const traces = [];
    for (let run = 0; run < 2; run++) {
      const simulation = await simulate();
      await simulation.run(9_000);
      const commands = simulation.devices.base.received.map((r) => [r.tick, r.what, ...r.values]);
      traces.push({ commands, world: simulation.world.trace(), pose: simulation.world.view().pose });
      await simulation.close();
      running.pop();
    }
    expect(traces[1]).toEqual(traces[0]);
  });

  it('leave the robot standing when the simulator closes its socket', async () => {
    const simulation = await simulate();
    await simulation.run(4_000);
    const { left } = simulation.world.view().command;
    expect(left).toBeLessThan(0);
    const gone = new Promise((resolve) => simulation.daemon.once('exit', resolve));
    await simulation.server.stop();
    await gone;
    for (let i = 0; i < 100 && simulation.world.view().command.left !== 0; i++) {
      await wait(10);
      simulation.world.step(TICK_MS);
    }
    expect(simulation.world.view().command).toEqual({ left: 0, right: 0 });
  });
});

/** Processes end in real time. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
