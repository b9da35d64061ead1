/** What a daemon is made from: the profile, and what differs between a robot, a simulation and a test. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../config/contracts/clock.js';
import type { Log } from '../../config/contracts/log.js';
import type { LoadedConfig } from '../../config/load.js';
import type { OpenRosbridge } from '../../drivers/ros2/rosbridge/line.js';
import type { MemoryPorts } from '../../drivers/serial/ports/open-port.js';
import type { HostTime } from '../clock/host-time.js';
import type { RtPlacement } from './body.js';

export interface DaemonOptions {
  loaded: LoadedConfig;
  stateDir: string;
  version: string;
  /** The robot's clock, and the machine's. */
  clock: Clock;
  wall: Clock;
  random: () => number;
  /** Of everything random in the motion process; null: a random one. */
  seed: number | null;
  log: Log;
  placement: RtPlacement;
  /** How the host keeps its time; default: asked of the host, and in a simulation not at all. */
  hostTime?: HostTime;
  /** A simulation gives the time. */
  simulatedTime: boolean;
  /** Lines in memory, of a simulation in this process. */
  memory: MemoryPorts | null;
  /** A rosbridge in this process, of such a simulation. */
  openRosbridge?: OpenRosbridge | null;
  /** Opens the connection to the broker instead of `cloud.url`. */
  openBroker: (() => Duplex) | null;
  /** False: no local API; for tests that do not need one. */
  api?: boolean;
}
