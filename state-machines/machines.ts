/** Builds the machines' runners from what the daemon injects, and routes timers that come back. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import type { Pose } from '../config/contracts/geometry.js';
import type { FanDriver } from '../drivers/serial/types.js';
import type { AirSource, CleaningOperations } from './cleaning-types.js';
import type { MotionOperations } from './motion-types.js';
import type { MachineNotice, MachineTimers, SnapshotStorage, TimerEvent } from './types.js';

export interface MachineDeps {
  clock: Clock;
  amr: AmrDriver;
  fan: FanDriver | null;
  air: AirSource;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  /** Pose of `base_link` when docked; null when the map has no station. */
  station(): Pose | null;
  /** Unique ids for motion actions. */
  newId(): string;
  /** `movement.arrived`, `movement.obstructed`, `cleaning.stopped`, … */
  notify(notice: MachineNotice): void;
}

export interface Machines {
  motion: MotionOperations;
  /** Null without a fan. */
  cleaning: CleaningOperations | null;
  /** Reads the stored snapshots; call once, before the first operation. */
  restore(): void;
  /** A timer set through `MachineTimers` is due. Unknown keys are ignored. */
  onTimer(key: string, event: TimerEvent): void;
  /** Unsubscribes from the drivers. */
  close(): void;
}
