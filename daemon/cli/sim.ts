/** `deviceagent sim`: a simulated home, and the real daemon in it. */
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { SystemClock } from '../../config/contracts/clock.js';
import { loadConfig } from '../../config/load.js';
import { profilePath } from '../../config/profiles.js';
import { controlSocketPath } from '../../simulator/control/socket-path.js';
import { SimSession } from '../../simulator/session/session.js';
import { socketPath } from '../api/socket-path.js';
import { isAnswered } from '../api/state-dir.js';
import { simStateDir } from './default-state-dir.js';
import { freePort } from './simulation/free-port.js';
import { createRobot } from './simulation/robot.js';
import { parseSimOptions, type SimOptions } from './simulation/sim-options.js';
import { MAIN_JOB, tellStory } from './simulation/story.js';
import { createTerminal } from './simulation/terminal.js';

const DEFAULT_MQTT_PORT = 1883;
const DEFAULT_API_PORT = 8080;

/** Registers the command and returns it, so that its sub-commands can be added. */
export function registerSim(program: Command): Command {
  return program
    .command('sim')
    .description('a simulated home with the real daemon in it')
    .option('--speed <speed>', 'times real speed, or "max"', '1')
    .option('--seed <n>', 'the same seed gives the same run', '1')
    .option('--world <file>', 'a world file instead of the home that comes along')
    .option('--map <file>', 'any ROS map (map.yaml) as the world')
    .option('--mqtt-port <port>', `port of the broker on loopback (${DEFAULT_MQTT_PORT}, or a free one)`)
    .option('--api-port <port>', `port of the console on loopback (${DEFAULT_API_PORT}, or a free one)`)
    .option('--state-dir <dir>', 'where the robot keeps what it knows; the default starts empty each time')
    .option('--cloud <on|off>', 'the built-in cloud and the workflow it sends', 'on')
    .option('--once', 'end after the workflow, with exit code 0 or 1', false)
    .option('--headless', 'no workflow unless --once, no live line', false)
    .option('--transport <pty|memory>', 'how devices are connected; memory: everything in one process', 'pty')
    .option('--rt <process|inline>', 'where the motion process runs')
    .option(
      '--base-watchdog <on|off>',
      'a base whose firmware stops by itself; real Create 2 have none',
      'off',
    )
    .action(async (raw: Record<string, unknown>) => {
      process.exitCode = await simulate(parseSimOptions(raw));
      process.exit();
    });
}

/** Runs until the workflow is over (`--once`) or a signal comes; returns the exit code. */
async function simulate(options: SimOptions): Promise<number> {
  const wall = new SystemClock();
  const terminal = createTerminal(process.stdout, options.headless);
  const stateDir = options.stateDir ?? (await freshStateDir());
  await refuseSecond(stateDir);
  const mqttPort = options.mqttPort ?? (await freePort(DEFAULT_MQTT_PORT));
  const apiPort = options.apiPort ?? (await freePort(DEFAULT_API_PORT));
  const { device_id: deviceId } = loadConfig(profilePath('sim'), process.env, stateDir).config;
  const session = new SimSession({
    ...options,
    stateDir,
    mqttPort,
    deviceId,
    wall,
    onError: (error) => {
      process.stderr.write(
        `the simulation failed: ${error instanceof Error ? error.stack : String(error)}\n`,
      );
      process.exit(1);
    },
  });
  await session.start();
  terminal.print(`simulated home   ${session.world.layout.rooms.map((room) => room.name).join(' · ')}`);
  terminal.print(`broker           ${session.brokerUrl ?? 'in memory'}   device ${deviceId}`);
  terminal.print(`state            ${stateDir}`);
  const robot = createRobot({
    session,
    options,
    stateDir,
    mqttUrl: session.brokerUrl,
    apiPort,
    wall,
    onReady: (address) => terminal.print(`console          ${address ?? 'none'}`),
    onDeath: (how, ms) =>
      terminal.print(`the daemon died (${how})${ms === null ? '' : `; it is started again in ${ms} ms`}`),
  });
  const interrupted = new Promise<'signal'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('signal'));
  });
  await robot.start();
  const code = await untilOver(session, options, wall, terminal, interrupted);
  terminal.live('');
  session.writeTrace();
  await robot.stop();
  await session.stop();
  return code;
}

async function untilOver(
  session: SimSession,
  options: SimOptions,
  wall: SystemClock,
  terminal: ReturnType<typeof createTerminal>,
  interrupted: Promise<'signal'>,
): Promise<number> {
  const { cloud } = session;
  if (cloud === null || (options.headless && !options.once)) {
    await interrupted;
    return 0;
  }
  const startedAt = wall.mono();
  const told = tellStory({
    cloud,
    world: () => session.world.view(),
    roomName: (id) => session.world.layout.rooms.find((room) => room.id === id)?.name ?? null,
    clock: session.clock,
    wall,
    goal: MAIN_JOB,
    columns: process.stdout.columns ?? 160,
    print: (line) => terminal.print(line),
    live: (line) => terminal.live(line),
  });
  const result = await Promise.race([told, interrupted]);
  if (result === 'signal') return options.once ? 1 : 0;
  terminal.print(`wall time        ${((wall.mono() - startedAt) / 1000).toFixed(1)} s`);
  if (session.unsettled.ticks > 0) {
    terminal.print(`unsettled ticks  ${session.unsettled.ticks} (${session.unsettled.last})`);
  }
  if (options.once) return result.ok ? 0 : 1;
  terminal.print(
    'the robot stays up; talk to it from a second terminal, e.g. `npx deviceagent task list`. Ctrl-C ends.',
  );
  await interrupted;
  return 0;
}

/** The default state directory, emptied: a new simulated home is a new robot. */
async function freshStateDir(): Promise<string> {
  const dir = simStateDir();
  await refuseSecond(dir);
  rmSync(dir, { recursive: true, force: true });
  return dir;
}

async function refuseSecond(stateDir: string): Promise<void> {
  for (const path of [controlSocketPath(stateDir), socketPath(stateDir)]) {
    if (await isAnswered(path)) {
      throw new Error(`a robot already runs on ${stateDir}; stop it, or use another --state-dir`);
    }
  }
}
