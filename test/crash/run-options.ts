/** What one run of the harness is asked for. */
import type { BrokerName, Protocol } from './brokers.js';

export interface CrashRunOptions {
  kills: number;
  seed: number;
  baseWatchdog: boolean;
  stateDir: string;
  broker: BrokerName;
  /** `mix`: another one at each start of the daemon, as far as the broker speaks both. */
  mqtt: Protocol | 'mix';
  /** The state lies on a small disk that is filled now and then, where one can be mounted. */
  smallDisk?: boolean;
  /** Begins with the database of the first version. */
  oldDatabase?: boolean;
  /** How long a step of the main job is waited for before a kill comes anyway, ms. */
  aimPatienceMs?: number;
  /** One line for people who wait. */
  say(line: string): void;
}
