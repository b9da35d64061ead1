/** Motion operations as executors use them: promises that come back with physical evidence. */
import type { MeasureLeg } from '../config/contracts/amr.js';
import type { Pose, Twist } from '../config/contracts/geometry.js';
import type { StageReporter, StopProof } from './types.js';

export interface NavigationGoal {
  /** Of `base_link` in the map frame. */
  pose: Pose;
  /** The room it stands for, where it is one. */
  areaId: string | null;
  /** Metres and radians. */
  tolerance: { xy: number; theta: number };
}

export interface Operation {
  /** Task id. A move with the id of a journey that a restart interrupted goes on at its next goal. */
  operation: string;
  /** Fencing token of the motion lease. */
  fence: number;
  /** What has to be done before the wheels turn; a stop ends it through the signal. */
  first?: (signal: AbortSignal) => Promise<void>;
}

export interface MoveRequest extends Operation {
  /** Visited in this order; at least one. */
  goals: NavigationGoal[];
  /** m/s; null: the configured speed. */
  maxSpeed: number | null;
  /** Where an earlier run of this operation stopped; absent: at the first goal. */
  from?: JourneySoFar;
  /** Going home: neither the battery reserve nor a low battery ends it. */
  ignoreBattery?: boolean;
}

/** How far a journey had come when it was stopped. */
export interface JourneySoFar {
  /** Of the goal it was driving to. */
  index: number;
  /** Rooms (or null) of the goals before it. */
  visited: (string | null)[];
  /** It was held by `pause` when it was stopped, and is held again. */
  held: boolean;
}

/** Arrived, localised, and standing still, as observed after the driver had reported success. */
export interface Arrival {
  pose: Pose;
  areaId: string | null;
  observedAtMs: number;
  stoppedForMs: number;
  /** Distance and angle to the goal, metres and radians. */
  error: { xy: number; theta: number };
  /** Rooms (or null) of all goals visited, in order. */
  visited: (string | null)[];
  /** Waits, replans, back-ups and rotations it took. */
  recoveries: number;
}

export interface Rotation {
  /** Radians turned, as measured; positive counter-clockwise. */
  turned: number;
  pose: Pose | null;
  observedAtMs: number;
  stoppedForMs: number;
}

/** What the legs of a measurement gave, by leg and name; see `drivers/amr/maintenance/measure.ts`. */
export interface Measurement {
  detail: Readonly<Record<string, number>>;
  observedAtMs: number;
  stoppedForMs: number;
}

/** Whoever holds a button down, as they are heard. */
export interface PressSource {
  /** Calls `kept` at every sign of life and `released` once, when they let go; returns how to stop listening. */
  follow(hear: { kept(): void; released(): void }): () => void;
}

export interface HandDriveRequest extends Operation {
  twist: Twist;
  /** At most this long, ms. */
  durationMs: number;
  press: PressSource;
}

/** A press that is over, with the wheels at rest. */
export interface HandDrive {
  ended: 'released' | 'duration_over' | 'no_keep_alive';
  drivenMs: number;
  pose: Pose | null;
  observedAtMs: number;
  stoppedForMs: number;
}

export interface FollowRequest extends Operation {
  maxDurationMs: number;
}

/** A session that ended by itself, with the wheels at rest. */
export interface Following {
  ended: 'time_over' | 'person_lost';
  /** Robot time at which there was somebody to follow. */
  startedAtMs: number;
  followedMs: number;
  pose: Pose | null;
  observedAtMs: number;
  stoppedForMs: number;
}

export interface DockResult {
  docked: boolean;
  charging: boolean | null;
  pose: Pose | null;
  observedAtMs: number;
  /** Approaches made; 0 when it already stood on its contacts. */
  attempts: number;
  already: boolean;
}

export interface UndockResult {
  docked: boolean;
  /** Metres from the docked pose; null when the robot does not know where it is. */
  clearance: number | null;
  pose: Pose | null;
  observedAtMs: number;
}

/** The ways that an operation of several is made of. Each rejects like an operation of its own. */
export interface Legs {
  travel(goal: NavigationGoal, signal: AbortSignal, onStage: StageReporter): Promise<Arrival>;
  /** `station`: pose of `base_link` when docked. */
  dock(station: Pose, signal: AbortSignal, onStage: StageReporter): Promise<void>;
  undock(signal: AbortSignal, onStage: StageReporter): Promise<void>;
}

export type MotionActivity =
  | 'idle'
  | 'mapping'
  | 'measuring'
  | 'navigating'
  | 'docking'
  | 'undocking'
  | 'rotating'
  | 'hand_driving'
  | 'following';

export interface MotionStatus {
  activity: MotionActivity;
  /** Machine state, e.g. `driving`, `recovering.backingUp`. */
  stage: string;
  paused: boolean;
  operation: string | null;
  targetAreaId: string | null;
  /** What the ladder of recoveries is dealing with, or null. */
  problem: string | null;
}

/**
 * Every operation rejects with `StoppedWithProof` when it was aborted or stopped and the wheels are proven to
 * stand still, and with a `TaskFailure` when it ended in any other way: TARGET_UNREACHABLE, OBSTRUCTED,
 * LOCALIZATION_LOST, HARDWARE_FAULT, LOW_BATTERY, EMERGENCY_STOP, STATE_CONDITION_FAILED, RESOURCE_BUSY.
 */
export interface MotionOperations {
  /** Drives to the goals in turn; leaves the station first when the robot stands on it. */
  moveTo(request: MoveRequest, signal: AbortSignal, onStage: StageReporter): Promise<Arrival>;
  /** Turns in place by `angle` radians; leaves the station first when the robot stands on it. */
  rotate(
    request: Operation & { angle: number; tolerance: number },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Rotation>;
  /** Turns the wheels leg by leg and measures; off the station, and nowhere else than around where it stands. */
  measure(
    request: Operation & { legs: MeasureLeg[] },
    signal: AbortSignal,
    onStage: StageReporter,
  ): Promise<Measurement>;
  /** Drives as somebody holds a button down, and stops when they let go, fall silent, or the time is over. */
  driveByHand(request: HandDriveRequest, signal: AbortSignal, onStage: StageReporter): Promise<HandDrive>;
  /** Goes after the person in front; leaves the station first when the robot stands on it. */
  follow(request: FollowRequest, signal: AbortSignal, onStage: StageReporter): Promise<Following>;
  /** Drives home and onto the contacts, with retries. */
  dock(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<DockResult>;
  /** Leaves the contacts until clear of the station. Rejects with STATE_CONDITION_FAILED when not docked. */
  undock(request: Operation, signal: AbortSignal, onStage: StageReporter): Promise<UndockResult>;
  /** Tells localisation that the robot stands on its station and waits until the lidar agrees. */
  relocalizeAtStation(
    signal: AbortSignal,
  ): Promise<{ pose: Pose; score: number | null; observedAtMs: number }>;
  /** Holds the running journey; resolves when the wheels stand still. STATE_CONDITION_FAILED when none runs. */
  pause(signal: AbortSignal): Promise<StopProof & { already: boolean }>;
  /** Goes on with a held journey; resolves when it is planned anew and moving, or standing at its goal. */
  resume(signal: AbortSignal): Promise<{ observedAtMs: number; already: boolean }>;
  /**
   * Stops whatever moves or is about to, whoever started it; its operation ends with `StoppedWithProof`. What is
   * asked for afterwards begins once the stop is proven. Needs no lease.
   */
  stop(reason: string, signal: AbortSignal): Promise<StopProof>;
  /** How far the last journey had come when it, or the daemon, was stopped; null when that was another, or it arrived. */
  soFar(operation: string): JourneySoFar | null;
  status(): MotionStatus;
}
