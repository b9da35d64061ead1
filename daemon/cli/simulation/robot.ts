/** The robot's software beside a simulated home: as a child process, or in this one. */
import { join } from 'node:path';
import type { Clock } from '../../../config/contracts/clock.js';
import { seededRandom } from '../../../config/contracts/ids.js';
import { LOCKSTEP_ENV } from '../../../config/contracts/lockstep.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { loadConfig } from '../../../config/load.js';
import type { SimSession } from '../../../simulator/session/session.js';
import { createDaemon, type Daemon } from '../../main.js';
import { createLog } from '../log.js';
import { SEED_ENV } from '../run.js';
import { version } from '../version.js';
import { DaemonChild } from './daemon-child.js';
import { inMemory, rosbridgeOf } from './in-memory.js';
import type { SimOptions } from './sim-options.js';
import { type SimChips, simProfile } from './sim-profile.js';

export interface Robot {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RobotDeps {
  session: SimSession;
  options: SimOptions;
  stateDir: string;
  mqttUrl: string | null;
  apiPort: number;
  wall: Clock;
  onReady(consoleAddress: string | null): void;
  /** `restartInMs` null: it does not come back. */
  onDeath(how: string, restartInMs: number | null): void;
}

export function createRobot(deps: RobotDeps): Robot {
  return deps.options.transport === 'memory' ? new RobotInProcess(deps) : childRobot(deps);
}

function childRobot(deps: RobotDeps): Robot {
  const { session, options, stateDir, mqttUrl, apiPort } = deps;
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DEVICEAGENT_API_PORT: String(apiPort),
    ...(mqttUrl === null ? {} : { DEVICEAGENT_MQTT_URL: mqttUrl }),
    ...(session.lockstepSocket === null
      ? {}
      : { [LOCKSTEP_ENV]: session.lockstepSocket, [SEED_ENV]: String(options.seed) }),
  };
  const child = new DaemonChild({
    stateDir,
    args: ['--config', simProfile(stateDir, chipsOf(deps)), '--state-dir', stateDir, '--rt', options.rt],
    env,
    wall: deps.wall,
    onReady: (address) => deps.onReady(address),
    onDeath: (how, ms) => deps.onDeath(how, ms),
  });
  return {
    start: async () => {
      child.start();
      await session.run();
    },
    stop: () => child.stop(),
  };
}

function chipsOf({ options, session }: RobotDeps): SimChips {
  const { base, lidar, backEnd } = options;
  if (backEnd === 'onboard') return { base, lidar };
  return { base, lidar, ros: { distro: backEnd === 'nav2' ? 'jazzy' : 'humble', url: session.rosUrl } };
}

/** Everything in this process, on clocks that advance in lock-step. */
class RobotInProcess implements Robot {
  readonly daemon: Daemon;
  readonly #deps: RobotDeps;

  constructor(deps: RobotDeps) {
    this.#deps = deps;
    const { session, options, stateDir, wall } = deps;
    const clockFor = () => new SimClock(session.clock.now(), () => wall.now());
    const robotClock = clockFor();
    const rtClock = clockFor();
    this.daemon = createDaemon({
      loaded: inMemory(
        loadConfig(
          simProfile(stateDir, chipsOf(deps)),
          { DEVICEAGENT_API_PORT: String(deps.apiPort) },
          stateDir,
        ),
      ),
      stateDir,
      version: version(),
      clock: robotClock,
      wall,
      random: seededRandom(options.seed),
      seed: options.seed,
      log: createLog({ level: 'info', file: join(stateDir, 'daemon.log') }),
      placement: { kind: 'inline', clock: rtClock },
      simulatedTime: true,
      memory: session.memoryPorts,
      openRosbridge: session.ros === null ? null : async () => rosbridgeOf(session),
      openBroker: () => session.connectBroker(),
    });
    session.join([
      { name: 'rt', clock: rtClock, busy: () => 0 },
      { name: 'daemon', clock: robotClock, busy: () => this.daemon.busy() },
    ]);
  }

  async start(): Promise<void> {
    const started = this.daemon.start();
    started.then(
      () => this.#deps.onReady(this.daemon.consoleAddress()),
      (error: unknown) => this.#deps.onDeath(String(error), null),
    );
    await this.#deps.session.run();
  }

  stop(): Promise<void> {
    return this.daemon.stop();
  }
}
