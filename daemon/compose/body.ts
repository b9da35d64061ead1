/** The robot's body as the daemon has it: a motion process beside it, or hosted within it. */
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import { seededRandom } from '../../config/contracts/ids.js';
import type { Log } from '../../config/contracts/log.js';
import type { PortCounts } from '../../config/contracts/port.js';
import type { Config } from '../../config/schema.js';
import type { OpenRosbridge } from '../../drivers/ros2/rosbridge/line.js';
import type { LinkCounts } from '../../drivers/rt/channel.js';
import { type RtConfig, rtConfigOf } from '../../drivers/rt/config.js';
import { heartbeatSocketPath } from '../../drivers/rt/heartbeat-line.js';
import { hostInline } from '../../drivers/rt/inline.js';
import { updateSafetyFile } from '../../drivers/rt/safety/safety-file.js';
import { type MemoryPorts, openerOf } from '../../drivers/serial/ports/open-port.js';
import { BeatSender } from '../rt-client/beat-sender.js';
import type { CommitWatch } from '../rt-client/liveness.js';
import { RtClient } from '../rt-client/rt-client.js';
import type { HeldMotionProcess } from '../rt-client/rt-process.js';
import { RtSupervisor } from '../rt-client/rt-supervisor.js';

/** Where the motion process runs: forked (`ahead`: already, and waiting), or in this process on a clock of its own. */
export type RtPlacement =
  | { kind: 'process'; env: NodeJS.ProcessEnv; ahead?: HeldMotionProcess | null }
  | { kind: 'inline'; clock: Clock };

export interface BodyDeps {
  config: Config;
  stateDir: string;
  /** The robot's clock, and the machine's. */
  clock: Clock;
  wall: Clock;
  random: () => number;
  log: Log;
  placement: RtPlacement;
  /** A simulation gives the time: heartbeats then run on the robot's clock. */
  simulatedTime: boolean;
  /** Of everything random in the motion process; null: a random one. */
  seed: number | null;
  memory: MemoryPorts | null;
  openRosbridge?: OpenRosbridge | null;
}

export interface Body {
  amr: AmrDriver;
  /** To be told around each commit of the store; null where the heartbeat runs on the robot's clock. */
  commits: CommitWatch | null;
  start(): void;
  stop(): Promise<void>;
  /** Jobs of an inline motion process outside the event loop. */
  busy(): number;
  /** Messages of the channel to a forked motion process. */
  links(): Record<string, LinkCounts>;
  portCounts(): Record<string, PortCounts>;
  counters(): Record<string, number>;
  /** Null while it can move; otherwise what is missing. */
  unavailable(): string | null;
}

export function createBody(deps: BodyDeps): Body {
  const rt = rtConfigOf(deps.config, {
    stateDir: deps.stateDir,
    heartbeat: deps.simulatedTime || deps.placement.kind === 'inline' ? 'channel' : 'line',
    seed: deps.seed,
  });
  const client = new RtClient({
    clock: deps.clock,
    log: deps.log,
    heartbeat: rt?.heartbeat === 'line' ? 'thread' : 'on_clock',
    latchEstop: (by) =>
      updateSafetyFile(deps.stateDir, deps.wall, (content) => ({
        ...content,
        estop: { latched: true, by, at: deps.clock.now() },
      })),
  });
  const { placement } = deps;
  if (rt === null) {
    if (placement.kind === 'process') placement.ahead?.discard();
    return withoutBase(client);
  }
  return placement.kind === 'inline'
    ? inlineBody(client, rt, deps, placement.clock)
    : forkedBody(client, rt, deps, placement);
}

function forkedBody(
  client: RtClient,
  rt: RtConfig,
  deps: BodyDeps,
  { env, ahead = null }: Extract<RtPlacement, { kind: 'process' }>,
): Body {
  const { log, wall } = deps;
  const supervisor = new RtSupervisor({
    client,
    config: rt,
    clock: wall,
    log,
    env,
    ahead,
    // On a simulated clock a silent motion process may only be one that time does not reach.
    ...(deps.simulatedTime ? { silentLimitMs: null } : {}),
  });
  const beat =
    rt.heartbeat === 'line'
      ? new BeatSender({ clock: wall, socketPath: heartbeatSocketPath(deps.stateDir), log })
      : null;
  // The first motion process is waited for; one that dies later leaves a simulation's barrier.
  let started = false;
  return {
    amr: client,
    commits: beat?.commits ?? null,
    start: () => {
      supervisor.start();
      beat?.start();
    },
    stop: async () => {
      await supervisor.stop();
      await beat?.stop();
    },
    busy: () => {
      started ||= client.connected;
      return started ? 0 : 1;
    },
    links: () => ({ rt: supervisor.linkCounts }),
    portCounts: () => ({}),
    counters: () => ({ ...client.counters(), ...supervisor.counters(), ...beat?.counters() }),
    unavailable: () => null,
  };
}

function inlineBody(client: RtClient, rt: RtConfig, deps: BodyDeps, clock: Clock): Body {
  const { host, channel } = hostInline({
    config: rt,
    clock,
    machineClock: deps.wall,
    // A generator of its own, as a process of its own would have: the daemon's draws must not change the filter's.
    random: deps.seed === null ? deps.random : seededRandom(deps.seed),
    pid: process.pid,
    openPort: (_name, port) => openerOf(port, clock, deps.memory),
    openRosbridge: deps.openRosbridge ?? null,
  });
  return {
    amr: client,
    commits: null,
    start: () => {
      client.attach(channel);
      host.start();
    },
    stop: () => host.shutdown('the daemon stops'),
    busy: () => host.busy(),
    links: () => ({}),
    portCounts: () => host.portCounts(),
    counters: () => client.counters(),
    unavailable: () => null,
  };
}

/** A profile without a base: everything but motion works, and motion says what to plug in. */
function withoutBase(client: RtClient): Body {
  const why = 'no base is configured; plug in an iRobot Create 2 and set base.port, or set ros2';
  const refuse = async () => {
    throw new TaskFailure('CAPABILITY_UNAVAILABLE', why);
  };
  const amr: AmrDriver = {
    state: () => null,
    abilities: () => null,
    view: () => ({ scan: null, path: [] }),
    subscribe: (listener) => client.subscribe(listener),
    plan: async () => ({ ok: false, reason: 'no_pose', message: why }),
    start: refuse,
    stop: async () => {},
    estop: (by) => client.estop(by),
    releaseEstop: (by) => client.releaseEstop(by),
    loadMap: async () => {},
    clearMap: async () => {},
    relocalize: refuse,
  };
  return {
    amr,
    commits: null,
    start: () => {},
    stop: async () => {},
    busy: () => 0,
    links: () => ({}),
    portCounts: () => ({}),
    counters: () => ({}),
    unavailable: () => why,
  };
}
