/** What the planning context is made of, and where it comes from. */
import type { Capability } from '../../config/contracts/capability.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { RoomCatalogue } from '../../executors/services.js';
import type { CleaningStatus } from '../../state-machines/cleaning-types.js';
import type { MotionStatus } from '../../state-machines/motion-types.js';
import type { ConnectionFacts } from '../runtime.js';
import type { TaskManager } from '../task-manager/types.js';
import type { DeviceState } from './device-state.js';
import type { WifiState } from './wifi.js';

export { DEFAULT_FRESHNESS, type FreshnessSettings } from './freshness.js';

/** Everything `buildContext` reads; each function is called once per build. */
export interface ContextSources {
  deviceId: string;
  clock: Clock;
  state: DeviceState;
  rooms(): RoomCatalogue | null;
  motion(): MotionStatus;
  /** Null without a fan. */
  cleaning(): CleaningStatus | null;
  network(): ConnectionFacts;
  /** Null where the host does not report it. */
  wifi(): WifiState | null;
  tasks: Pick<TaskManager, 'summary' | 'leases'>;
  capabilities(): Capability[];
  /** What policy keeps the cloud from doing now; none without a policy. */
  policyBlockers?(): { capability: string; reasons: string[] }[];
  /** Semantic observations that are not stale, newest first, and how many there have been since the start. */
  observations(): { recent: readonly object[]; count: number };
}
