/**
 * What a mobile base with navigation offers, whichever back end drives it (`onboard` here; Nav2 later). Poses
 * are of `base_link` in the `map` frame; metres, radians, seconds in twists; times are robot time, epoch ms.
 */
import type { Point, Pose, Twist } from './geometry.js';
import type { FrontierRequest, FrontierResult, MappedGround, MappingState } from './mapping.js';

export const SAFETY_CONDITIONS = [
  'estop',
  'bumper_left',
  'bumper_right',
  'cliff',
  'wheel_drop',
  'overcurrent',
  'tilt',
  'base_silent',
  'lidar_stale',
  'odometry_stale',
  'daemon_silent',
  'localization_lost',
  'battery_critical',
] as const;
export type SafetyCondition = (typeof SAFETY_CONDITIONS)[number];

/** `SETTLE`: stop within the deceleration limit, then disable. `CUT`: drive off at once. */
export type SafetyLevel = 'OK' | 'SETTLE' | 'CUT';

export interface SafetyState {
  level: SafetyLevel;
  active: SafetyCondition[];
  /** Latched until a person releases it locally. */
  estop: { latched: boolean; by: string | null; at: number | null };
}

export type ActionKind =
  | 'followPath'
  | 'spin'
  | 'backUp'
  | 'drive'
  | 'dock'
  | 'undock'
  | 'measure'
  | 'follow';

export type MotionAction =
  | {
      kind: 'followPath';
      /** From where the robot is to the goal; the follower may shorten or bend it round live obstacles. */
      path: Pose[];
      goal: Pose;
      tolerance: { xy: number; theta: number };
      /** m/s; the follower may go slower. */
      maxSpeed: number;
    }
  /** Turns in place by `angle` (positive counter-clockwise, may exceed a full turn). */
  | { kind: 'spin'; angle: number; tolerance: number }
  | { kind: 'backUp'; distance: number; speed: number }
  /** Dead-man driving: stops when not renewed within `ttlMs`. */
  | { kind: 'drive'; twist: Twist; ttlMs: number }
  /**
   * Follows the person in front, about `distance` metres behind them, for at most so long. Nobody there ends it
   * `no_person`, one who stays out of sight `person_lost`.
   */
  | { kind: 'follow'; distance: number; maxSpeed: number; maxDurationMs: number }
  /** Final approach from in front of the station to live charging contacts. `station`: pose when docked. */
  | { kind: 'dock'; station: Pose }
  /** Backs off the contacts until `clearance` metres from the docked position; refused when not docked. */
  | { kind: 'undock'; clearance: number }
  /** Turns the wheels leg by leg, stands, and says what wheels, motors, gyro and lidar made of each. */
  | { kind: 'measure'; legs: MeasureLeg[] };

/** Both wheels at their speeds (m/s) for a time; `expect`: how far the lidar may find the robot from where it began. */
export interface MeasureLeg {
  left: number;
  right: number;
  forMs: number;
  /** `near`: within some centimetres and half a radian; `wheels`: about where the wheels say. */
  expect: 'near' | 'wheels';
}

/**
 * What is known better of this robot than its profile says: factors on the wheels' ways and their distance, and the
 * direction of the lidar in addition to that of the profile, rad.
 */
export interface Calibration {
  wheelScale: number;
  wheelBaseScale: number;
  lidarYaw: number;
  /** Robot time of the measurement, epoch ms. */
  at: number;
}

/** What a line carries: its device's own frames, nothing, bytes without a frame, or the frames of another device. */
export interface LineFinding {
  heard: 'frames' | 'nothing' | 'garbled' | 'create2' | 'kobuki' | 'ld19' | 'rplidar_a1' | 'zphs01b';
  /** Why it does not work, as the port says; empty when it does. */
  reason: string;
}

/** What the chips say of themselves; null where they do not. */
export interface HardwareReport {
  base: {
    chip: string;
    hardwareVersion: string | null;
    firmwareVersion: string | null;
    /** °C, of the battery. */
    temperature: number | null;
    /** Strength of the floor's reflection, in the base's own units, from left to right. */
    cliffSignals: readonly number[] | null;
  };
  lidar: {
    chip: string;
    model: string | null;
    hardwareVersion: string | null;
    firmwareVersion: string | null;
    health: 'good' | 'warning' | 'error' | null;
  } | null;
  /** In force now, and before that; null: the profile's figures. */
  calibration: Calibration | null;
  previousCalibration: Calibration | null;
  lines: { base: LineFinding; lidar: LineFinding | null };
}

export type ActionFailure =
  /** No way forward for longer than the follower waits; `where` is the obstacle in the map frame. */
  | 'blocked'
  /** The commanded motion did not happen: wheels turn or are commanded, the pose does not change. */
  | 'stuck'
  | 'safety_stop'
  | 'sensors_stale'
  | 'localization_lost'
  | 'no_contact'
  | 'no_person'
  | 'person_lost'
  | 'not_docked'
  | 'hardware'
  /** One wheel does not do what it is told; the message says which. Trying again does not mend it. */
  | 'drive_fault'
  | 'timeout';

export type ActionUpdate = { id: string; kind: ActionKind; at: number } & (
  | { status: 'running'; pose: Pose | null; remaining: number | null; note: string | null }
  /** The goal is reached *and* the wheels stand still. */
  | { status: 'succeeded'; pose: Pose | null; docked: boolean | null; detail: Record<string, number> }
  | { status: 'failed'; failure: ActionFailure; message: string; where: Point | null; pose: Pose | null }
  /** Ended by `stop`, a newer action, or a lease that moved on; the wheels stand still. */
  | { status: 'stopped'; pose: Pose | null; stoppedForMs: number }
);

/** What is known of the robot's body. Everything that can be unknown is null until it was observed. */
export interface RobotState {
  at: number;
  /** Changes when the motion process restarts. */
  rtBootId: string;
  pose: Pose | null;
  poseAt: number | null;
  localized: boolean | null;
  /** Mean likelihood of the last scan at the estimate, 0…1. */
  localizationScore: number | null;
  /** Measured from wheel encoders. */
  twist: Twist | null;
  /** Since when every measured wheel speed has been zero; null while moving or unknown. */
  stoppedSince: number | null;
  base: {
    connected: boolean;
    lastFrameAt: number | null;
    battery: { percent: number; at: number } | null;
    charging: boolean | null;
    /** Charging contacts (home base) live. */
    docked: boolean | null;
    bumpLeft: boolean | null;
    bumpRight: boolean | null;
    cliff: boolean | null;
    wheelDrop: boolean | null;
  };
  lidar: { connected: boolean; lastScanAt: number | null };
  safety: SafetyState;
  action: { id: string; kind: ActionKind } | null;
  mapId: string | null;
  /** While a new map grows `mapId` is null, and pose and plans are on the growing one. Absent or null: none does. */
  mapping?: MappingState | null;
  counters: Record<string, number>;
  /** Absent where the back end has no chips of its own. */
  hardware?: HardwareReport;
}

/** A 2-D scan in `base_link`. `ranges[i]` metres at `angleMin + i * angleIncrement`; NaN where nothing was seen. */
export interface Scan {
  at: number;
  angleMin: number;
  angleIncrement: number;
  rangeMin: number;
  rangeMax: number;
  ranges: number[];
}

export interface PlanRequest {
  /** Where to start; the present pose when null. */
  from: Pose | null;
  goal: Pose;
}
export type PlanResult =
  | { ok: true; path: Pose[]; length: number }
  | {
      ok: false;
      /** `obstructed`: the map has a way, and something that is seen now bars it. */
      reason: 'unreachable' | 'obstructed' | 'goal_occupied' | 'off_map' | 'no_pose' | 'no_map';
      message: string;
      /** Where a way that the map has ends now; in the map frame. */
      where?: Point;
    };

export type AmrEvent =
  | { type: 'state'; state: RobotState }
  | { type: 'action'; update: ActionUpdate }
  | { type: 'safety'; at: number; safety: SafetyState; cause: SafetyCondition | null }
  | { type: 'docked'; at: number; docked: boolean }
  | { type: 'link'; at: number; connected: boolean; reason: string | null };

/** What a back end can do besides driving, docking and stopping; `RtToDaemon` reports it with `ready`. */
export const AMR_ABILITIES = [
  /** Makes a map while it drives. */
  'mapping',
  /** Follows a person. */
  'follow',
  /** Obeys `drive`, with its dead-man. */
  'manualDrive',
  /** Finds its place on the whole map by itself, without being told where it is. */
  'relocalizeAnywhere',
  /** Tests its motors and sensors. */
  'diagnostics',
  'calibration',
] as const;
export type AmrAbility = (typeof AMR_ABILITIES)[number];
export type AmrAbilities = Readonly<Record<AmrAbility, boolean>>;

export interface AmrDriver {
  /** The newest state, or null before the motion process first reported. Look at `at` before trusting it. */
  state(): RobotState | null;
  /** What the back end can do; null before the motion process first reported. It may be another one after a restart. */
  abilities(): AmrAbilities | null;
  /** Latest scan and path for displays; not for control. */
  view(): { scan: Scan | null; path: Pose[] };
  subscribe(listener: (event: AmrEvent) => void): () => void;
  plan(request: PlanRequest): Promise<PlanResult>;
  /**
   * Starts an action, replacing the one that runs. Resolves when the motion process has accepted it; its end
   * comes as an `action` event with the same `id`. Rejects with a `TaskFailure`: `HARDWARE_FAULT` (no motion
   * process, no base), `EMERGENCY_STOP`, `RESOURCE_BUSY` (`fence` is older than the newest seen).
   */
  start(id: string, action: MotionAction, fence: number): Promise<void>;
  /** Stops the wheels. Needs no lease and is never refused. Resolves when the request was handed over. */
  stop(reason: string): Promise<void>;
  estop(by: string): Promise<void>;
  /** A person, locally. Rejects with `ILLEGAL_STATE` while the cause (a pressed button) is still there. */
  releaseEstop(by: string): Promise<void>;
  /** Loads the map at `mapYaml` (ROS map_server) with its `areas.yaml`; resolves when it is in use. */
  loadMap(mapYaml: string): Promise<void>;
  /** Gives the map up, and with it the place; resolves when none is in use. Rejects with `ILLEGAL_STATE` during an action. */
  clearMap(): Promise<void>;
  /** Tells localisation where the robot is, e.g. on its station. */
  relocalize(pose: Pose): Promise<void>;
  /**
   * Puts a calibration in force, now and after a restart; null: the profile's figures. Resolves when it is written
   * down. Rejects with `ILLEGAL_STATE` during an action. Absent where the back end keeps none.
   */
  setCalibration?(calibration: Calibration | null): Promise<void>;
  /** Absent: this robot makes no maps. */
  readonly mapping?: AmrMapping;
}

/** Making a new map while driving on it. */
export interface AmrMapping {
  /**
   * Begins a new map where the robot stands; from then on pose, plans and obstacles are on it. Rejects with
   * `ILLEGAL_STATE` during an action or while one grows already, `CAPABILITY_UNAVAILABLE` where it cannot.
   */
  start(): Promise<void>;
  /** The next place to explore. Rejects with `ILLEGAL_STATE` while no map grows. */
  frontier(request: FrontierRequest): Promise<FrontierResult>;
  /**
   * Writes the map so far to `folder` (`map.yaml`, `map.pgm`, `areas.yaml` with what bumpers and cliff sensors found as
   * keep-out). `keep`: it goes on growing. Otherwise mapping is `finished` until `loadMap` or `drop`. The robot stands.
   */
  write(folder: string, keep: boolean): Promise<MappedGround>;
  /** Gives the new map up: the map from before is in use again, and the robot where it is on it, as far as it knows. */
  drop(): Promise<void>;
}
