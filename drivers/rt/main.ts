/**
 * Entry of the motion process, forked by the daemon with its configuration as the one argument. Before anything
 * else it takes the base and stops it; whatever ends it, it stops the base last.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, SystemClock } from '../../config/contracts/clock.js';
import { describeZodError } from '../../config/contracts/errors.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { LOCKSTEP_ENV } from '../../config/contracts/lockstep.js';
import type { OpenPort } from '../../config/contracts/port.js';
import type { DaemonToRt, RtToDaemon } from '../../config/contracts/rt-protocol.js';
import type { PortConfig } from '../../config/schema.js';
import { PlannerClient } from '../amr/planner/planner-client.js';
import { LockstepParticipant } from '../lockstep/participant.js';
import { serialPort } from '../serial/ports/serial-port.js';
import { tcpPort } from '../serial/ports/tcp-port.js';
import { assembleRt } from './assemble.js';
import { IpcChannel, isReplaceable, type LinkCounts } from './channel.js';
import { type RtConfig, rtConfigSchema } from './config.js';
import { HeartbeatServer, heartbeatSocketPath } from './heartbeat-line.js';
import type { RtHost } from './host.js';

/** However the clocks stand, the process is gone this long after it decided to end, ms. */
const LAST_MS = 1500;

const machineClock = new SystemClock();
let running: RtHost | null = null;
let ending = false;

/** Stops the base now, lets go of the ports, and exits. */
function end(reason: string, code: number): void {
  running?.stopWheels();
  if (ending) return;
  ending = true;
  machineClock.after(LAST_MS, () => process.exit(code));
  const ended = running?.shutdown(reason) ?? Promise.resolve();
  void ended.finally(() => process.exit(code));
}

function fail(message: string): void {
  process.stderr.write(`rt: ${message}\n`);
  end(message, 2);
}

process.on('uncaughtException', (error) => fail(error.stack ?? String(error)));
process.on('unhandledRejection', (reason) =>
  fail(reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)),
);
process.on('SIGTERM', () => end('SIGTERM', 0));
// A terminal sends these to the whole group; the daemon decides what becomes of its motion process.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});

await main();

async function main(): Promise<void> {
  const config = readConfig(process.argv[2]);
  if (config === null) return;
  if (process.send === undefined) return fail('needs a daemon: it is started by it, not by hand');
  writePidFile(config.stateDir);
  const participant = await joinLockstep();
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
    openPort: (_name, port) => openPort(port, clock),
    planner: (log) => new PlannerClient({ clock, log }),
    onChannelLost: (reason) => end(reason, 0),
  });
  running = host;
  participant?.watch({
    ports: () => host.portCounts(),
    links: () => ({ rt: links }),
    busy: () => host.busy(),
  });
  if (config.heartbeat === 'line') await listenForHeartbeat(config.stateDir, host);
  host.start();
}

function readConfig(argument: string | undefined): RtConfig | null {
  try {
    const value: unknown = JSON.parse(argument ?? '');
    const parsed = rtConfigSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    fail(`configuration: ${describeZodError(parsed.error, value).message}`);
  } catch (error) {
    fail(
      `configuration: the argument is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return null;
}

function openPort(port: PortConfig, clock: Clock): OpenPort {
  switch (port.kind) {
    case 'serial':
      return serialPort({ path: port.path, baudRate: port.baud_rate, clock });
    case 'tcp':
      return tcpPort({ host: port.host, port: port.port });
    case 'memory':
      return async () => {
        throw new Error(`${port.name}: a line in memory cannot be reached from another process`);
      };
  }
}

async function joinLockstep(): Promise<LockstepParticipant | null> {
  const socketPath = process.env[LOCKSTEP_ENV];
  if (socketPath === undefined || socketPath === '') return null;
  return LockstepParticipant.join({
    socketPath,
    name: 'rt',
    pid: process.pid,
    wall: () => machineClock.wall(),
    onLost: (reason) => end(reason, 0),
  });
}

async function listenForHeartbeat(stateDir: string, host: RtHost): Promise<void> {
  const server = new HeartbeatServer(heartbeatSocketPath(stateDir), {
    onBeat: () => host.heartbeat(),
    onLost: () => host.heartbeatLineLost(),
  });
  await server.start();
}

function writePidFile(stateDir: string): void {
  const path = join(stateDir, 'rt.pid');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${process.pid}\n`);
  renameSync(`${path}.new`, path);
  process.on('exit', () => {
    if (readPid(path) === process.pid) rmSync(path, { force: true });
  });
}

function readPid(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
