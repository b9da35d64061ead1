/** Everything the executors use. The composition root builds it; nothing here knows of tasks, stores or MQTT. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import type { Point, Pose } from '../config/contracts/geometry.js';
import type { DomainEvent } from '../config/contracts/wire/events.js';
import type { Speaker } from '../drivers/audio/types.js';
import type { AirSource, CleaningOperations } from '../state-machines/cleaning-types.js';
import type { MotionOperations } from '../state-machines/motion-types.js';

export interface Room {
  id: string;
  name: string;
  aliases: readonly string[];
  /** Where the robot stands when it is "in" the room; `base_link` in the map frame. */
  goal: Pose;
}

/** The rooms, as the loaded map knows them. */
export interface RoomCatalogue {
  /** True while a person edits the map: nothing drives then. */
  readonly editable: boolean;
  /** Empty when no map, or a map without rooms, is loaded. */
  rooms(): readonly Room[];
  /** Pose when docked, and the room it is in; null when the map has no station. */
  station(): { roomId: string | null; pose: Pose } | null;
  /**
   * The one room with this id, name or alias, after Unicode normalisation. Throws `Refusal`: UNKNOWN_TARGET,
   * AMBIGUOUS_TARGET (two rooms match, or only parts of names do: those are suggestions in the message).
   */
  resolve(query: string): Room;
  roomAt(point: Point): Room | null;
  /** Throws `Refusal`: INVALID_PARAMS off the map; TARGET_UNREACHABLE in an obstacle, too close to one, or in a keep-out. */
  checkPose(pose: Pose): void;
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
  batteryReserve: number;
  /** Arrival tolerance for rooms and for positions, metres and radians. */
  roomTolerance: { xy: number; theta: number };
  positionTolerance: { xy: number; theta: number };
  /** Observations of the body older than this do not count as fresh, ms. */
  freshMs: number;
}

export const DEFAULT_EXECUTOR_SETTINGS: ExecutorSettings = {
  language: 'ko',
  batteryReserve: 15,
  roomTolerance: { xy: 0.15, theta: 0.35 },
  positionTolerance: { xy: 0.1, theta: 0.15 },
  freshMs: 1000,
};

export interface Services {
  clock: Clock;
  amr: AmrDriver;
  motion: MotionOperations;
  /** Read anew each time: a map can be loaded later. Null without a map. */
  rooms(): RoomCatalogue | null;
  /** Null without a fan. */
  cleaning: CleaningOperations | null;
  air: AirSource;
  speaker: Speaker | null;
  context: ContextPublisher;
  settings: ExecutorSettings;
  /** Puts a domain event on the internal bus. */
  emit(event: DomainEvent): void;
}
