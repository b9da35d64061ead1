/** What the planning context is made of, and where it comes from. */
import type { AirBands } from '../../config/contracts/air.js';
import type { AmrDriver } from '../../config/contracts/amr.js';
import type { Capability } from '../../config/contracts/capability.js';
import type { Clock } from '../../config/contracts/clock.js';
import type { AirSensorDriver, FanDriver } from '../../drivers/serial/types.js';
import type { RoomCatalogue } from '../../executors/services.js';
import type { CleaningStatus } from '../../state-machines/cleaning-types.js';
import type { MotionStatus } from '../../state-machines/motion-types.js';
import type { ConnectionFacts } from '../runtime.js';
import type { TaskManager } from '../task-manager/types.js';
import type { DeviceState } from './device-state.js';
import type { DomainBus } from './domain-bus.js';

export interface FreshnessSettings {
  /** How long an observation of a periodic source counts, ms. */
  batteryTtlMs: number;
  airTtlMs: number;
  locationTtlMs: number;
}

export const DEFAULT_FRESHNESS: FreshnessSettings = {
  batteryTtlMs: 10_000,
  airTtlMs: 10_000,
  locationTtlMs: 2_000,
};

export interface DeviceStateDeps {
  clock: Clock;
  amr: AmrDriver;
  airSensor: AirSensorDriver | null;
  fan: FanDriver | null;
  rooms(): RoomCatalogue | null;
  bus: DomainBus;
  bands: AirBands;
  freshness: FreshnessSettings;
  /** Percent; below it `battery.low` is raised, and cleared five points above. */
  batteryReserve: number;
}

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
  tasks: Pick<TaskManager, 'summary' | 'leases'>;
  capabilities(): Capability[];
  /** Semantic observations that are not stale, newest first, and how many there have been since the start. */
  observations(): { recent: readonly object[]; count: number };
}

export interface ContextOptions {
  version: 1 | 2;
  /** Upper limit of the JSON text in UTF-8 bytes. */
  maxBytes?: number;
}
