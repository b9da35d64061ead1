/** Builds the machines' runners from what the daemon injects, and routes timers that come back. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import type { Pose } from '../config/contracts/geometry.js';
import type { Log } from '../config/contracts/log.js';
import type { FanDriver } from '../drivers/serial/types.js';
import { CleaningRunner } from './cleaning/runner.js';
import type { AirSource, CleaningOperations } from './cleaning-types.js';
import { DockingRunner } from './docking/runner.js';
import { MappingRunner } from './mapping/runner.js';
import type { MapKeeper, MappingOperations } from './mapping/types.js';
import { Motion } from './motion.js';
import type { MotionOperations } from './motion-types.js';
import { NavigationRunner } from './navigation/runner.js';
import type { MachineSettings } from './settings.js';
import { tolerantSnapshots } from './tolerant-snapshots.js';
import type { MachineNotice, MachineTimers, SnapshotStorage, TimerEvent } from './types.js';

export interface MachineDeps {
  clock: Clock;
  log: Log;
  amr: AmrDriver;
  fan: FanDriver | null;
  air: AirSource;
  timers: MachineTimers;
  snapshots: SnapshotStorage;
  settings: MachineSettings;
  /** Pose of `base_link` when docked; null when the map has no station. */
  station(): Pose | null;
  /** Id of the room a point of the map lies in. */
  areaAt(x: number, y: number): string | null;
  /** Unique ids for motion actions. */
  newId(): string;
  /** Takes over maps that were made; absent: none are made here. */
  keeper?: MapKeeper;
  /** `movement.arrived`, `movement.obstructed`, `movement.localizationLost`, `cleaning.stopped`. */
  notify(notice: MachineNotice): void;
}

export interface Machines {
  motion: MotionOperations;
  /** Null without a keeper of maps. */
  mapping: MappingOperations | null;
  /** Null without a fan. */
  cleaning: CleaningOperations | null;
  /** Reads the stored snapshots; call once, before the first operation. */
  restore(): void;
  /** A timer set through `MachineTimers` is due. Unknown keys are ignored. */
  onTimer(key: string, event: TimerEvent): void;
  /** Unsubscribes from the drivers. */
  close(): void;
}

export function createMachines(given: MachineDeps): Machines {
  const deps = { ...given, snapshots: tolerantSnapshots(given.snapshots, given.log) };
  const navigation = new NavigationRunner(deps);
  const docking = new DockingRunner(deps, navigation);
  const { fan } = deps;
  const cleaning = fan === null ? null : new CleaningRunner({ ...deps, fan });
  const motion = new Motion(deps, navigation, docking);
  const { keeper } = deps;
  const mapping = keeper === undefined ? null : new MappingRunner({ ...deps, motion, keeper });
  const runners = {
    navigation,
    docking,
    ...(mapping === null ? {} : { mapping }),
    ...(cleaning === null ? {} : { cleaning }),
  };
  return {
    motion,
    mapping,
    cleaning,
    restore() {
      for (const runner of Object.values(runners)) runner.restore();
    },
    onTimer(key, event) {
      const [owner, name] = key.split(':');
      const runner = Object.entries(runners).find(([known]) => known === owner)?.[1];
      if (runner !== undefined && name !== undefined) runner.onTimer(name, event);
    },
    close() {
      for (const runner of Object.values(runners)) runner.close();
    },
  };
}
