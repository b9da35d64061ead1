/** `deviceagent run`: the daemon of one robot, in this process. */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { pino } from 'pino';
import { SystemClock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { loadConfig } from '../../config/load.js';
import { PROFILES, profilePath } from '../../config/profiles.js';
import { LockstepParticipant } from '../../drivers/lockstep/participant.js';
import { writePidFile } from '../../drivers/pid-file.js';
import { createDaemon, type Daemon } from '../main.js';
import { defaultStateDir } from './default-state-dir.js';
import { version } from './version.js';

interface RunOptions {
  config: string;
  stateDir?: string;
  rt: string;
}

/** Set by a simulation, so that the same seed gives the same run. */
export const SEED_ENV = 'DEVICEAGENT_SEED';

/** However a stop goes, the process is gone after this, ms. The motion process stops the wheels by itself. */
const LAST_MS = 8_000;

export function registerRun(program: Command): void {
  program
    .command('run')
    .description('run the daemon of a robot')
    .requiredOption('--config <file>', `profile: a YAML file, or one of ${PROFILES.join(', ')}`)
    .option('--state-dir <dir>', 'where the robot keeps what it knows')
    .option('--rt <where>', 'the motion process: "process" or "inline"', 'process')
    .action((options: RunOptions) => run(options));
}

/** A bundled profile by its name, or a file. */
function configFile(nameOrFile: string): string {
  const bundled = PROFILES.find((name) => name === nameOrFile);
  return bundled === undefined || existsSync(nameOrFile) ? resolve(nameOrFile) : profilePath(bundled);
}

async function run(options: RunOptions): Promise<void> {
  const stateDir = resolve(options.stateDir ?? defaultStateDir());
  const loaded = loadConfig(configFile(options.config), process.env, stateDir);
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const log = pino({ level: loaded.config.log, base: null });
  const wall = new SystemClock();
  const ending = new AbortController();
  const participant = await LockstepParticipant.joinFrom(process.env, {
    name: 'daemon',
    pid: process.pid,
    wall: () => wall.wall(),
    onLost: (reason) => ending.abort(new Error(reason)),
  });
  const clock = participant?.clock ?? wall;
  const seed = seedOf(process.env);
  const daemon = createDaemon({
    loaded,
    stateDir,
    version: version(),
    clock,
    wall,
    random: seededRandom(seed ?? randomInt(2 ** 32)),
    seed,
    log,
    placement: options.rt === 'inline' ? { kind: 'inline', clock } : { kind: 'process', env: process.env },
    simulatedTime: participant !== null,
    memory: null,
    openBroker: null,
  });
  writePidFile(stateDir, 'daemon.pid');
  participant?.watch({
    ports: () => daemon.portCounts(),
    links: () => daemon.links(),
    busy: () => daemon.busy(),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => ending.abort(new Error(signal)));
  }
  // A simulation that dies takes the devices with it.
  process.once('disconnect', () => ending.abort(new Error('the process that started this one is gone')));
  await serve(daemon, ending.signal);
  log.info({ why: errorText(ending.signal.reason) }, 'stopping');
  wall.after(LAST_MS, () => process.exit(1));
  await daemon.stop();
  participant?.leave();
  process.exit(0);
}

/** Starts, tells whoever started this process (a simulation, a terminal), and waits for the end. */
async function serve(daemon: Daemon, ending: AbortSignal): Promise<void> {
  try {
    await daemon.start(ending);
  } catch (error) {
    if (ending.aborted) return;
    throw error;
  }
  const console = daemon.consoleAddress();
  if (process.send !== undefined) process.send({ t: 'ready', console });
  else if (console !== null) process.stdout.write(`console: ${console}\n`);
  if (ending.aborted) return;
  await new Promise<void>((resolve) => ending.addEventListener('abort', () => resolve(), { once: true }));
}

function seedOf(env: NodeJS.ProcessEnv): number | null {
  const text = env[SEED_ENV];
  if (text === undefined || text === '') return null;
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0)
    throw new Error(`${SEED_ENV} is "${text}": allowed is a whole number`);
  return seed;
}
