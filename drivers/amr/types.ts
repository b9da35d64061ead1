/**
 * The on-board navigation as its host (`drivers/rt`), the daemon's room catalogue and the tests see it. Everything
 * here is pure: time comes in with each step, randomness and the planner are injected, nothing opens a port.
 *
 * Units: metres, radians, seconds in speeds, milliseconds in times. Frames: `map` (the grid's), `odom` (wheel
 * odometry since start), `base_link` (x forward, y left).
 */
import type {
  ActionKind,
  ActionUpdate,
  MotionAction,
  PlanRequest,
  PlanResult,
  SafetyCondition,
  SafetyLevel,
  Scan,
} from '../../config/contracts/amr.js';
import type { Point, Polygon, Pose, Twist } from '../../config/contracts/geometry.js';
import type {
  FrontierRequest,
  FrontierResult,
  MappedGround,
  MappingState,
} from '../../config/contracts/mapping.js';
import type { PlanningMap } from './costmap/planning-map.js';

/** An occupancy grid in the `map` frame. */
export interface OccupancyGrid {
  /** Cells per row and rows. */
  readonly width: number;
  readonly height: number;
  /** Metres per cell. */
  readonly resolution: number;
  /** Pose of the lower-left corner of cell (0, 0). */
  readonly origin: Pose;
  /** Row-major from the lower-left cell: −1 unknown, 0 free … 100 occupied. */
  readonly cells: Int8Array;
}

export interface Room {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly polygon: Polygon;
  /** Where the robot goes when it is sent to the room. */
  readonly goal: Pose;
}

export interface Station {
  /** Id of the room it stands in. */
  readonly room: string;
  /** Pose of `base_link` when docked; the robot faces the station. */
  readonly pose: Pose;
}

/** A wall that only exists on the map: a line strip, and how wide it is, metres. Nothing drives over it. */
export interface VirtualWall {
  readonly id: string;
  readonly line: readonly Point[];
  readonly width: number;
}

export interface NoGoArea {
  readonly id: string;
  readonly polygon: Polygon;
}

export interface SpeedArea extends NoGoArea {
  /** m/s */
  readonly maxSpeed: number;
}

/** What `areas.yaml` beside a map says. */
export interface Areas {
  readonly rooms: readonly Room[];
  readonly station: Station | null;
  readonly keepout: readonly NoGoArea[];
  /** Absent: none. */
  readonly walls?: readonly VirtualWall[];
  readonly speedAreas: readonly SpeedArea[];
}

export interface MapBundle {
  /** Hash of the grid and the areas: the same content has the same id wherever it lies. */
  readonly id: string;
  readonly grid: OccupancyGrid;
  readonly areas: Areas;
}

/** What stands in the way of a goal, for refusals at admission. */
export type GoalStatus = 'free' | 'off_map' | 'unknown' | 'occupied' | 'keepout';

/** Path in the `map` frame and how much of its start only leads out of an obstacle's clearance, in poses. */
export type GridPlan =
  | { ok: true; path: Pose[]; length: number; escape: number }
  | {
      ok: false;
      reason: 'unreachable' | 'obstructed' | 'goal_occupied' | 'off_map';
      message: string;
      /** With `obstructed`: where the way that the map has ends now. */
      where?: Point;
    };

/** Plans without blocking its caller; `pending` counts plans that have not come back (for the lock-step barrier). */
export interface Planner {
  /** Uses this map from now on, or none; plans in flight for an older one come back `no_map`. */
  setMap(map: PlanningMap | null): void;
  /**
   * `live`: cells (row-major index) that hold obstacles now and are not in the map; `people`: cells to keep away from
   * where there is room, without ever being barred by them. Rejects with a `Refusal` only
   * when the planner itself failed.
   */
  plan(from: Pose, goal: Pose, live: Int32Array, people?: Int32Array): Promise<PlanResult>;
  readonly pending: number;
  /** Named counters: plans, time-outs, restarts. */
  counters(): Record<string, number>;
  close(): Promise<void>;
}

/** Metres each wheel has turned since the base connected (unwrapped totals), and when, `mono` ms. */
export interface WheelSample {
  readonly mono: number;
  readonly left: number;
  readonly right: number;
}

/** What only some bases report; null where this one does not. */
export interface DriveDetails {
  /** Magnitude, mA. */
  readonly motorCurrentLeftMa: number | null;
  readonly motorCurrentRightMa: number | null;
  /** Of a gyro, rad, counter-clockwise, wrapping around. */
  readonly gyroHeading: number | null;
}

/** What the motion process knows at one control step. */
export interface NavigatorInput {
  /** Monotonic and robot time, ms. */
  readonly mono: number;
  readonly now: number;
  /** The newest base report, also when it is the one of the last step; null before the first. */
  readonly wheels: WheelSample | null;
  /** A scan that arrived since the last step, otherwise null. */
  readonly scan: Scan | null;
  /** Infrared characters received (0: none). */
  readonly ir: { readonly omni: number; readonly left: number; readonly right: number };
  /** Charging contacts live; null when not known. */
  readonly docked: boolean | null;
  readonly bumps: { readonly left: boolean; readonly right: boolean };
  /** What the safety layer allows. Anything but `OK` ends the running action with `safety_stop`. */
  readonly safety: SafetyLevel;
  /** What demands it, for the message of what it ends. */
  readonly safetyBecause?: readonly SafetyCondition[];
  readonly drive?: DriveDetails;
  /** What is wrong with a wheel, in one sentence; ends the running action with `drive_fault`. */
  readonly driveFault?: string | null;
}

export interface NavigatorOutput {
  /** What the wheels shall do until the next step, within the limits of speed and acceleration. */
  readonly twist: Twist;
  /** The robot's own controller drives until the next step, and `twist` is not sent. Absent: no. */
  readonly drivenByOthers?: boolean;
  /** In order. `running` at most five times a second, and at once when its note changes. */
  readonly updates: readonly ActionUpdate[];
}

export interface NavigatorState {
  /** `base_link` in `map`, dead-reckoned to the last step; null while unknown. */
  readonly pose: Pose | null;
  /** Robot time of `pose`, ms. */
  readonly poseAt: number | null;
  /** Null before the first pose was set. */
  readonly localized: boolean | null;
  /** Mean likelihood of the last scan at the estimate, 0…1. */
  readonly localizationScore: number | null;
  /** Standard deviation of the estimate: metres (larger axis) and radians. */
  readonly spread: { readonly xy: number; readonly theta: number } | null;
  /** Measured from the wheels. */
  readonly twist: Twist | null;
  /** Robot time since when both wheels have stood still; null while they turn or before the first report. */
  readonly stoppedSince: number | null;
  readonly action: { readonly id: string; readonly kind: ActionKind } | null;
  readonly mapId: string | null;
  /** While a new map grows; then `mapId` is null. */
  readonly mapping?: MappingState | null;
  /** Plans in flight. */
  readonly pendingPlans: number;
}

/** Making a new map while driving on it. */
export interface NavigatorMapping {
  /** From now on pose, costs and plans are on a map that begins here. Does nothing while one grows. */
  startMapping(): void;
  /** The map that grows; null: none does. */
  readonly session: {
    readonly finished: boolean;
    frontier(request: FrontierRequest): FrontierResult;
    content(): MapBundle;
    ground(): MappedGround;
  } | null;
  /** It grows no more; `setMap` with what came of it goes on from there. */
  finishMapping(): void;
  /** Back to the map from before. */
  dropMapping(): void;
}

/** The class `OnboardNavigator` (`drivers/amr/navigator/navigator.ts`). */
export interface Navigator {
  /**
   * Replaces the map. The pose becomes unknown until `relocalize`, unless only the areas are new. A running followPath
   * or dock ends first.
   */
  setMap(bundle: MapBundle): void;
  /** Gives the map up: pose, obstacles and plans go with it. A running followPath or dock ends first. */
  clearMap(): void;
  /** Tells where the robot is. `spread`: standard deviations, default 0.1 m and 0.1 rad. */
  relocalize(pose: Pose, spread?: { xy: number; theta: number }): void;
  /** Gives the pose up and looks for it over the whole map; scans and some turning will tell. */
  relocalizeAnywhere(): void;
  /**
   * Starts an action. One that runs is braked first and ends `stopped`; then the new one starts. `drive` with the
   * id of the running `drive` renews it without a stop. Never throws on state: what is impossible ends `failed`.
   */
  start(id: string, action: MotionAction): void;
  /** Brakes; the running action ends `stopped` once the wheels have stood still for 0.3 s. */
  stop(reason: string): void;
  /** One control step, every 50 ms. */
  step(input: NavigatorInput): NavigatorOutput;
  plan(request: PlanRequest): Promise<PlanResult>;
  /** Null or absent: this back end makes no maps. */
  readonly mapper?: NavigatorMapping | null;
  state(): NavigatorState;
  /** Named counters: scans used, odometry jumps, replans, particles, … */
  counters(): Record<string, number>;
  /** For displays: the newest scan, the path being followed, live obstacles in the map frame. */
  view(): { scan: Scan | null; path: Pose[]; obstacles: Point[] };
}

/** The class `RoomCatalogue` (`drivers/amr/map/rooms.ts`). */
export interface RoomResolver {
  readonly rooms: readonly Room[];
  readonly station: Station | null;
  byId(id: string): Room | null;
  /**
   * The one room whose id, name or alias this is, after Unicode NFC, trimming and case folding. Throws `Refusal`
   * `UNKNOWN_TARGET` or `AMBIGUOUS_TARGET`, whose message suggests what was close; partial matches never resolve.
   */
  resolve(text: string, field?: string): Room;
  /** The room whose polygon holds the point (the first in the file where they overlap). */
  roomAt(point: Point): Room | null;
}
