/** Vocabulary of the mapping machine: a new map is begun, grows by hand or by exploring, and is saved or given up. */
import type { Point, Pose } from '../../config/contracts/geometry.js';
import type { FrontierResult, MappedGround, MappingState } from '../../config/contracts/mapping.js';
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { ClockSet } from '../clock-jumps.js';
import type { CommonEffect } from '../tools.js';
import type { StageReporter, StopProof, TimerEvent } from '../types.js';

export type MappingMode = 'manual' | 'explore';

export interface MappingProblem {
  reason: TaskReason;
  message: string;
  at: number;
}

/** How an exploration came to its end by itself. */
export interface Explored {
  observedAtMs: number;
  /** Frontiers driven to, and places that could not be reached. */
  visited: number;
  unreachable: number;
  /** Frontiers that were left when the time was over; 0: everything that can be reached is known. */
  left: number;
  /** Where the robot went afterwards; `nowhere`: it stayed, `why` says why. */
  returned: 'station' | 'start' | 'nowhere';
  why: string | null;
  freeArea: number;
}

export type MappingOutcome =
  | { kind: 'begun'; observedAtMs: number }
  | ({ kind: 'explored' } & Omit<Explored, 'freeArea'>)
  | ({ kind: 'stopped' } & Omit<StopProof, 'stopped'>)
  | ({ kind: 'failed' } & MappingProblem);

export interface MappingContext {
  mode: MappingMode | null;
  /** Robot time when the motion process first reported the growing map, epoch ms. */
  begunAt: number | null;
  /** Where the robot stood when the exploration began, on the new map. */
  start: Pose | null;
  station: Pose | null;
  target: Pose | null;
  /** Frontiers that are not driven to any more: reached, or out of reach. */
  avoid: Point[];
  visited: number;
  unreachable: number;
  left: number;
  overdue: boolean;
  ending: MappingOutcome | null;
}

/** `at`: robot time when the runner handed the event over, epoch ms. */
export type MappingEvent = { at: number } & (
  | { type: 'BEGIN'; mode: MappingMode }
  | { type: 'EXPLORE' }
  /** What the motion process reports; null: no map grows (any more). */
  | { type: 'MAPPING'; mapping: MappingState | null; pose: Pose | null; docked: boolean | null }
  | { type: 'FRONTIER'; result: FrontierResult }
  /** A leg of the way ended: off the station, at a frontier, home. `problem` null: it did what it should. */
  | { type: 'LEG_ENDED'; problem: MappingProblem | null }
  | { type: 'REFUSED'; problem: MappingProblem }
  | { type: 'STOP' }
  | { type: 'STOP_PROVEN'; observedAtMs: number; stoppedForMs: number }
  | { type: 'SAVE' }
  | { type: 'DISCARD' }
  /** It was saved, or given up. */
  | { type: 'DONE' }
  | ClockSet
  | TimerEvent
);

export type MappingEffect =
  | CommonEffect
  | { kind: 'begin' }
  | { kind: 'ask'; current: Point | null; avoid: Point[] }
  | { kind: 'leave' }
  | { kind: 'travel'; to: Pose }
  | { kind: 'dock'; station: Pose }
  | { kind: 'endLeg' }
  | { kind: 'proveStop' }
  | { kind: 'save' }
  | { kind: 'discard' }
  /** Too long ago: kept aside, and the map from before is in use again. */
  | { kind: 'shelve' }
  | { kind: 'finish'; outcome: MappingOutcome };

/** What the daemon does with a map that was written down. */
export interface MapKeeper {
  /** An empty folder for the motion process to write to. Throws when there is no room. */
  makeFolder(): string;
  /** Segments the rooms and puts the map in use; resolves with the word of the motion process. */
  takeOver(
    folder: string,
    ground: MappedGround,
  ): Promise<{ mapId: string; rooms: number; observedAtMs: number }>;
  /** Keeps it without using it. */
  keep(folder: string, ground: MappedGround, name: string | null): Promise<{ mapId: string; rooms: number }>;
  /** Removes what lies there. Never fails. */
  discard(folder: string): void;
}

export interface MappingStatus {
  /** Machine state, e.g. `exploring.driving`; `idle`: no map is being made. */
  stage: string;
  mode: MappingMode | null;
  begunAtMs: number | null;
  freeArea: number | null;
  visited: number;
  unreachable: number;
}

export interface MappingStarted {
  observedAtMs: number;
  rtBootId: string;
  pose: Pose | null;
  docked: boolean | null;
}

export interface MappingSaved {
  mapId: string | null;
  rooms: number;
  observedAtMs: number;
  freeArea: number | null;
  stopped: StopProof;
}

/**
 * Rejects like motion: with `StoppedWithProof` when it was aborted or stopped and the wheels are proven to stand
 * still, with a `TaskFailure` otherwise. What has been mapped is kept either way until it is saved or given up.
 */
export interface MappingOperations {
  /** Null: this robot makes maps. */
  unavailable(): string | null;
  status(): MappingStatus;
  /** Begins a map. ILLEGAL_STATE while one is being made. */
  begin(mode: MappingMode, signal: AbortSignal): Promise<MappingStarted>;
  /** Drives to all frontiers in turn and then home; leaves the station first. Needs a map that was begun. */
  explore(
    request: { operation: string; fence: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Explored>;
  /** Ends mapping: whatever drives is stopped with proof first. */
  end(save: boolean, signal: AbortSignal): Promise<MappingSaved>;
  /** Keeps the map as it is now under a name, without using it or ending anything. */
  keep(name: string, signal: AbortSignal): Promise<{ mapId: string; rooms: number; observedAtMs: number }>;
}
