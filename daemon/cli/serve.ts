/** The daemon of one robot, in this process: from its profile to the end of its life. */
import { randomInt } from 'node:crypto';
import { SystemClock } from '../../config/contracts/clock.js';
import { errorText } from '../../config/contracts/errors.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { loadConfig } from '../../config/load.js';
import { LockstepParticipant } from '../../drivers/lockstep/participant.js';
import { writePidFile } from '../../drivers/pid-file.js';
import type { RtPlacement } from '../compose/body.js';
import type { DaemonOptions } from '../compose/options.js';
import { createDaemon, type Daemon } from '../main.js';
import type { HeldMotionProcess } from '../rt-client/rt-process.js';
import { isSqliteError } from '../store/store-error.js';
import { tuneForRunning } from './engine.js';
import { createLog } from './log.js';
import { makeStateDir } from './state-dir.js';
import { version } from './version.js';

export interface DaemonRun {
  configFile: string;
  stateDir: string;
  /** The motion process, started ahead; null: it is hosted inline. */
  ahead: HeldMotionProcess | null;
  /** Of everything random; null: random. */
  seed: number | null;
}

/** However a stop goes, the process is gone after this, ms. The motion process stops the wheels by itself. */
const LAST_MS = 8_000;

/** Rejects when the daemon cannot be put together; otherwise the process ends with it. */
export async function runDaemon({ configFile, stateDir, ahead, seed }: DaemonRun): Promise<void> {
  const loaded = loadConfig(configFile, process.env, stateDir);
  makeStateDir(stateDir);
  const log = createLog({ level: loaded.config.log, file: null });
  const wall = new SystemClock();
  const ending = new AbortController();
  const participant = await LockstepParticipant.joinFrom(process.env, {
    name: 'daemon',
    pid: process.pid,
    wall: () => wall.wall(),
    onLost: (reason) => ending.abort(new Error(reason)),
  });
  const clock = participant?.clock ?? wall;
  const placement: RtPlacement =
    ahead === null ? { kind: 'inline', clock } : { kind: 'process', env: process.env, ahead };
  const daemon = putTogether({
    loaded,
    stateDir,
    version: version(),
    clock,
    wall,
    random: seededRandom(seed ?? randomInt(2 ** 32)),
    seed,
    log,
    placement,
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
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => ending.abort(new Error(signal)));
  }
  // A simulation that dies takes the devices with it.
  const orphaned = () => ending.abort(new Error('the process that started this one is gone'));
  process.once('disconnect', orphaned);
  // It may have died while this process was still loading.
  if (process.send !== undefined && !process.connected) orphaned();
  const failure = await serve(daemon, ending.signal);
  log.info({ why: failure ?? errorText(ending.signal.reason) }, 'stopping');
  wall.after(LAST_MS, () => process.exit(1));
  await daemon.stop();
  participant?.leave();
  if (failure !== null) process.stderr.write(`deviceagent: ${failure}\n`);
  process.exit(failure === null ? 0 : 1);
}

function putTogether(options: DaemonOptions): Daemon {
  try {
    return createDaemon(options);
  } catch (error) {
    throw new Error(why(error), { cause: error });
  }
}

/** A damaged database names itself only where something reads what is damaged. */
function why(error: unknown): string {
  if (!isSqliteError(error)) return errorText(error);
  return `the database cannot be used (${error.message}): start again; it is checked then, and moved aside if damaged`;
}

/** Starts, tells whoever started this process (a simulation, a terminal), and waits for the end. Returns why not. */
async function serve(daemon: Daemon, ending: AbortSignal): Promise<string | null> {
  try {
    await daemon.start(ending);
    tuneForRunning();
  } catch (error) {
    return ending.aborted ? null : why(error);
  }
  const console = daemon.consoleAddress();
  if (process.send !== undefined) process.send({ t: 'ready', console });
  else if (console !== null) process.stdout.write(`console: ${console}\n`);
  if (ending.aborted) return null;
  await new Promise<void>((resolve) => ending.addEventListener('abort', () => resolve(), { once: true }));
  return null;
}
