/** Everything the executors use. The composition root builds it; nothing here knows of tasks, stores or MQTT. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import type { Pose } from '../config/contracts/geometry.js';
import type { DomainEvent } from '../config/contracts/wire/events.js';
import type { KeepOutEdit, RoomEdit } from '../drivers/amr/map/area-edits.js';
import type { RoomResolver } from '../drivers/amr/types.js';
import type { Speaker } from '../drivers/audio/types.js';
import type { StopLimits } from '../state-machines/body.js';
import type { AirSource, CleaningOperations } from '../state-machines/cleaning-types.js';
import type { MappingOperations } from '../state-machines/mapping/types.js';
import type { MotionOperations } from '../state-machines/motion-types.js';
import type { Advice } from './maintenance/drive-advice.js';
import type { PressBoard } from './movement/press-board.js';

/** The rooms of the loaded map, and what may be driven to in it. */
export interface RoomCatalogue extends RoomResolver {
  /** True while a person edits the map: nothing drives then. */
  readonly editable: boolean;
  /** True while the home is being mapped anew; then it is `editable`, too. */
  readonly mapping?: boolean;
  /**
   * Throws `Refusal`: INVALID_PARAMS for a pose off the map; TARGET_UNREACHABLE in unknown space, in an obstacle or
   * too close to one, or in a keep-out. `field` names the parameter.
   */
  checkPose(pose: Pose, field: string): void;
}

/** What the motion process itself says of its map, after a change of it. */
export interface MapEvidence {
  /** Robot time of the report, and which motion process it came from. */
  observedAtMs: number;
  rtBootId: string;
  /** Null: it has none. */
  mapId: string | null;
  rooms: number;
  localized: boolean | null;
  /** Null while it does not know. */
  pose: Pose | null;
}

/** The map as a whole: taken out of use, and brought back. Maps that were in use are kept by their id. */
export interface MapOperations {
  current(): { id: string; rooms: number } | null;
  /** Why this robot cannot have another map; null: it can. */
  unavailable(): string | null;
  /** Newest first; `at`: robot time, epoch ms. */
  kept(): readonly { id: string; at: number; name?: string | undefined }[];
  /** The one that a reset took out of use, while none is in use since. */
  outOfUse(): string | null;
  /** The one that the last reset or import took out of use; it stays that when it is brought back. */
  previous(): string | null;
  /** Null while the motion process and the robot's record of its map do not agree. */
  observed(): MapEvidence | null;
  /** Rejects with a `TaskFailure`; then the map is still in use. */
  reset(): Promise<MapEvidence>;
  /** Keeps the map in use under a name, to be put in use again by it. */
  name(name: string): Promise<MapEvidence>;
  /** Puts a kept map in use. Rejects with a `Refusal` UNKNOWN_TARGET, or a `TaskFailure`. */
  use(id: string): Promise<MapEvidence>;
}

/** A change of what is drawn on the map. `undo`: of the newest change, if it was one of this kind. */
export type AreaChange =
  | { kind: 'areas'; edit: RoomEdit | 'undo' }
  | { kind: 'keepout'; edit: KeepOutEdit | 'undo' };

/** What the motion process reports of the map with the areas that are in force now. */
export interface AreaEvidence extends MapEvidence {
  previousMapId: string;
  /** It was so already: found after a restart, or asked for again. */
  already: boolean;
  walls: number;
  noGoAreas: number;
  speedAreas: number;
  /** The rooms that are there now. */
  areaIds: string[];
}

/** Rooms and closed ground of the map in use. One change at a time; each is whole or did not happen. */
export interface AreaOperations {
  /** Throws a `Refusal` when the change cannot be made on the map as it is. */
  check(change: AreaChange): void;
  /** Null unless the newest change is just this one, and the motion process has it. */
  done(change: AreaChange): AreaEvidence | null;
  /** `taskId`: of whom it is; the same task changes nothing twice. Rejects with a `Refusal` or a `TaskFailure`. */
  apply(change: AreaChange, taskId: string): Promise<AreaEvidence>;
}

/** Sends the planning context to the cloud. */
export interface ContextPublisher {
  /** Null while it can publish; otherwise why not, in one sentence. */
  unavailable(): string | null;
  /** Resolves on PUBACK; rejects with the signal's reason, or with a `TaskFailure`. */
  publish(signal: AbortSignal): Promise<{ ackedAtMs: number; bytes: number }>;
}

export interface ExecutorSettings {
  language: 'ko' | 'en';
  /** Percent; motion other than going home is refused below. */
  batteryReserve(): number;
  /** Arrival tolerance for rooms and for positions, metres and radians. */
  roomTolerance: { xy: number; theta: number };
  positionTolerance: { xy: number; theta: number };
  /** From the docked pose; nearer than this the robot has not left its station, m. */
  stationClearance: number;
  /** What counts as fresh, as standing still, and how long a stop may take to be shown. */
  stop: StopLimits;
}

export const DEFAULT_EXECUTOR_SETTINGS: ExecutorSettings = {
  language: 'ko',
  batteryReserve: () => 15,
  roomTolerance: { xy: 0.15, theta: 0.35 },
  positionTolerance: { xy: 0.1, theta: 0.15 },
  stationClearance: 0.4,
  stop: { freshMs: 1000, stillMs: 300, proofMs: 5000 },
};

/** Who holds which press of a button down; `PressBoard`. */
export type Presses = Pick<PressBoard, 'sourceOf' | 'silentMs' | 'wasReleased' | 'forget'>;

export interface Services {
  clock: Clock;
  amr: AmrDriver;
  motion: MotionOperations;
  /** Read anew each time: a map can be loaded later. Null without a map. */
  rooms(): RoomCatalogue | null;
  map: MapOperations;
  areas: AreaOperations;
  /** Null where maps are not made here. */
  mapping: MappingOperations | null;
  /** Null without a fan. */
  cleaning: CleaningOperations | null;
  air: AirSource;
  speaker: Speaker | null;
  context: ContextPublisher;
  presses: Presses;
  settings: ExecutorSettings;
  /** Keeps what a diagnosis of the wheels found wrong, for `doctor`; empty: nothing. */
  noteDiagnosis?(advice: readonly Advice[]): void;
  /** Puts a domain event on the internal bus. */
  emit(event: DomainEvent): void;
}
