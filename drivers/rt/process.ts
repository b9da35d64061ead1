/** The life of a motion process: its configuration, signals, channels and clocks. Whatever ends it, it stops the base. */
import { randomInt } from 'node:crypto';
import type { Clock } from '../../config/contracts/clock.js';
import { describeZodError } from '../../config/contracts/errors.js';
import { seededRandom } from '../../config/contracts/ids.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { DaemonToRt, RtToDaemon } from '../../config/contracts/rt-protocol.js';
import { PlannerClient } from '../amr/planner/planner-client.js';
import { LockstepParticipant } from '../lockstep/participant.js';
import { writePidFile } from '../pid-file.js';
import { openerOf } from '../serial/ports/open-port.js';
import { assembleRt } from './assemble.js';
import { IpcChannel, isReplaceable, type LinkCounts } from './channel.js';
import { type RtConfig, rtConfigSchema } from './config.js';
import { HeartbeatServer, heartbeatSocketPath } from './heartbeat-line.js';
import type { RtHost } from './host.js';
import { goBeforeOthers } from './precedence.js';

/** However the clocks stand, the process is gone this long after it decided to end, ms. */
const LAST_MS = 1500;

let running: RtHost | null = null;
let ending = false;

/**
 * `configuration`: JSON. `base`: the opener of the base's port when it has been opened, and the base stopped, already.
 */
export async function runMotionProcess(
  machineClock: Clock,
  configuration: string | undefined,
  base: OpenPort | null,
): Promise<void> {
  /** Stops the base now, lets go of the ports, and exits. */
  const end = (reason: string, code: number): void => {
    running?.stopWheels();
    if (ending) return;
    ending = true;
    machineClock.after(LAST_MS, () => process.exit(code));
    const ended = running?.shutdown(reason) ?? Promise.resolve();
    void ended.finally(() => process.exit(code));
  };
  handleSignals(end);
  const config = readConfig(configuration);
  if (process.send === undefined) throw new Error('it is started by the daemon, not by hand');
  writePidFile(config.stateDir, 'rt.pid');
  const participant = await LockstepParticipant.joinFrom(process.env, {
    name: 'rt',
    pid: process.pid,
    wall: () => machineClock.wall(),
    onLost: (reason) => end(reason, 0),
  });
  const clock = participant?.clock ?? machineClock;
  const links: LinkCounts = { sent: 0, received: 0 };
  const channel = new IpcChannel<RtToDaemon, DaemonToRt>(process, {
    replaceable: isReplaceable,
    counts: links,
  });
  const host = assembleRt({
    config,
    clock,
    machineClock,
    random: seededRandom(config.seed ?? randomInt(2 ** 32)),
    channel,
    pid: process.pid,
    openPort: (name, port) => (name === 'base' ? base : null) ?? openerOf(port, clock, null),
    planner: (log) => new PlannerClient({ clock, log }),
    onChannelLost: (reason) => end(reason, 0),
  });
  running = host;
  participant?.watch({
    ports: () => host.portCounts(),
    links: () => ({ rt: links }),
    busy: () => host.busy(),
  });
  if (config.heartbeat === 'line') {
    goBeforeOthers();
    await listenForHeartbeat(config.stateDir, host);
  }
  host.start();
}

function handleSignals(end: (reason: string, code: number) => void): void {
  const fail = (error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`rt: ${message}\n`);
    end('a defect', 1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.on('SIGTERM', () => end('SIGTERM', 0));
  // A terminal sends these to the whole group; the daemon decides what becomes of its motion process.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
}

/** Throws an Error that names field, value and what is allowed. */
function readConfig(text: string | undefined): RtConfig {
  const value: unknown = JSON.parse(text ?? '');
  const parsed = rtConfigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`configuration: ${describeZodError(parsed.error, value).message}`);
}

async function listenForHeartbeat(stateDir: string, host: RtHost): Promise<void> {
  const server = new HeartbeatServer(heartbeatSocketPath(stateDir), {
    onBeat: () => host.heartbeat(),
    onLost: () => host.heartbeatLineLost(),
  });
  await server.start();
}
