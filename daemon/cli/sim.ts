/** `deviceagent sim`: a simulated home, and the real daemon in it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { SystemClock } from '../../config/contracts/clock.js';
import { loadConfig } from '../../config/load.js';
import { profilePath } from '../../config/profiles.js';
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import { controlSocketPath } from '../../simulator/control/socket-path.js';
import { BASE_CHIPS, LIDAR_CHIPS } from '../../simulator/devices/index.js';
import { type SessionOptions, SimSession } from '../../simulator/session/session.js';
import { socketPath } from '../api/socket-path.js';
import { isAnswered } from '../api/state-dir.js';
import { simStateDir } from './default-state-dir.js';
import type { Translate } from './language.js';
import { freePort, isFree } from './simulation/free-port.js';
import { createRobot } from './simulation/robot.js';
import { BACK_ENDS, parseSimOptions, type SimOptions } from './simulation/sim-options.js';
import { labelled, MAIN_JOB, tellStory } from './simulation/story.js';
import { createTerminal } from './simulation/terminal.js';
import { makeStateDir, namingStateDir } from './state-dir.js';

const DEFAULT_MQTT_PORT = 1883;
const DEFAULT_API_PORT = 8080;

/** Registers the command and returns it, so that its sub-commands can be added. */
export function registerSim(program: Command, t: Translate): Command {
  return program
    .command('sim')
    .description(t('cmdSim'))
    .option('--speed <speed>', t('simSpeed'), '1')
    .option('--seed <n>', t('simSeed'), '1')
    .option('--world <file>', t('simWorld'))
    .option('--map <file>', t('simMap'))
    .option('--mqtt-port <port>', t('simMqttPort', { port: DEFAULT_MQTT_PORT }))
    .option('--api-port <port>', t('simApiPort', { port: DEFAULT_API_PORT }))
    .option('--state-dir <dir>', t('simStateDir'))
    .option('--cloud <on|off>', t('simCloud'), 'on')
    .option('--once', t('simOnce'), false)
    .option('--headless', t('simHeadless'), false)
    .option('--transport <pty|memory>', t('simTransport'), 'pty')
    .option('--rt <process|inline>', t('simRt'))
    .option('--base-watchdog <on|off>', t('simWatchdog'), 'off')
    .option(`--base <${BASE_CHIPS.join('|')}>`, t('simBase'), 'create2')
    .option(`--back-end <${BACK_ENDS.join('|')}>`, t('simBackEnd'), 'onboard')
    .option(`--lidar <${LIDAR_CHIPS.join('|')}>`, t('simLidar'), 'ld19')
    .action(async (raw: Record<string, unknown>) => {
      process.exitCode = await simulate(parseSimOptions(raw), t);
      process.exit();
    });
}

/** Runs until the workflow is over (`--once`) or a signal comes; returns the exit code. */
async function simulate(options: SimOptions, t: Translate): Promise<number> {
  const wall = new SystemClock();
  const terminal = createTerminal(process.stdout, options.headless);
  const mqttPort = await portFor(options.mqttPort, '--mqtt-port', DEFAULT_MQTT_PORT, t);
  const apiPort = await portFor(options.apiPort, '--api-port', DEFAULT_API_PORT, t);
  const stateDir = options.stateDir ?? (await freshStateDir(t));
  await refuseSecond(stateDir, t);
  makeStateDir(stateDir);
  const { device_id: deviceId } = loadConfig(profilePath('sim'), process.env, stateDir).config;
  const session = await startSession(stateDir, {
    ...options,
    stateDir,
    mqttPort,
    deviceId,
    ...rosOf(options),
    wall,
    onError: (error) => {
      process.stderr.write(
        `the simulation failed: ${error instanceof Error ? error.stack : String(error)}\n`,
      );
      process.exit(1);
    },
  });
  // What the simulator takes for a home, the robot has to take for a map.
  loadMapBundle(join(stateDir, 'world', 'map.yaml'));
  const url = session.brokerUrl ?? t('simInMemory');
  const rooms = session.world.layout.rooms.map((room) => room.name);
  terminal.print(labelled(t('simHome'), rooms.join(' · ')));
  terminal.print(labelled(t('simBroker'), t('simBrokerAt', { url, device: deviceId })));
  terminal.print(labelled(t('simState'), stateDir));
  const robot = createRobot({
    session,
    options,
    stateDir,
    mqttUrl: session.brokerUrl,
    apiPort,
    wall,
    onReady: (address) => terminal.print(labelled(t('simConsole'), address ?? t('simNone'))),
    onDeath: (how, ms) =>
      terminal.print(ms === null ? t('simDied', { how }) : t('simDiedAgain', { how, ms })),
  });
  const interrupted = new Promise<'signal'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve('signal'));
  });
  await robot.start();
  const code = await untilOver(session, options, wall, terminal, interrupted, t);
  terminal.live('');
  session.writeTrace();
  await robot.stop();
  await session.stop();
  return code;
}

/** A robot with Nav2 in this process has its rosbridge in memory, too. */
function rosOf({ backEnd, transport }: SimOptions): Pick<SessionOptions, 'ros'> {
  if (backEnd === 'onboard') return {};
  const flavour = backEnd === 'nav2-humble' ? 'humble' : 'jazzy';
  return { ros: { flavour, port: transport === 'memory' ? null : 0 } };
}

/** The port that was asked for, which has to be free, or one that is. */
async function portFor(
  given: number | undefined,
  option: string,
  preferred: number,
  t: Translate,
): Promise<number> {
  if (given === undefined) return await freePort(preferred);
  if (!(await isFree(given))) throw new Error(t('simPortTaken', { option, port: given }));
  return given;
}

async function untilOver(
  session: SimSession,
  options: SimOptions,
  wall: SystemClock,
  terminal: ReturnType<typeof createTerminal>,
  interrupted: Promise<'signal'>,
  t: Translate,
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
    t,
    columns: process.stdout.columns || 160,
    print: (line) => terminal.print(line),
    live: (line) => terminal.live(line),
  });
  const result = await Promise.race([told, interrupted]);
  if (result === 'signal') return options.once ? 1 : 0;
  terminal.print(labelled(t('simWall'), `${((wall.mono() - startedAt) / 1000).toFixed(1)} s`));
  if (session.unsettled.ticks > 0) {
    terminal.print(labelled(t('simUnsettled'), `${session.unsettled.ticks} (${session.unsettled.last})`));
  }
  if (options.once) return result.ok ? 0 : 1;
  terminal.print(t('simStays'));
  await interrupted;
  return 0;
}

async function startSession(stateDir: string, options: SessionOptions): Promise<SimSession> {
  try {
    const session = new SimSession(options);
    await session.start();
    return session;
  } catch (error) {
    throw namingStateDir(error, stateDir);
  }
}

/** The default state directory, emptied: a new simulated home is a new robot. */
async function freshStateDir(t: Translate): Promise<string> {
  const dir = simStateDir();
  await refuseSecond(dir, t);
  rmSync(dir, { recursive: true, force: true });
  return dir;
}

async function refuseSecond(stateDir: string, t: Translate): Promise<void> {
  for (const path of [controlSocketPath(stateDir), socketPath(stateDir)]) {
    if (await isAnswered(path)) {
      throw new Error(t('simTaken', { dir: stateDir }));
    }
  }
}
