/** What the machines may be tuned by. Metres, radians, m/s, percent; times in ms. */

/** One step of the recovery ladder. Each is followed by a new plan. */
export type Rung =
  | { kind: 'wait'; ms: number }
  | { kind: 'replan' }
  | { kind: 'backUp'; distance: number }
  | { kind: 'rotate'; angle: number };

export interface MachineSettings {
  /** Older states of the body do not count. */
  freshMs: number;
  /** Standing still this long counts as stopped. */
  stillMs: number;
  /** Within this a stop has to be proven. */
  stopProofMs: number;
  maxSpeed: number;
  /** For backing up. */
  slowSpeed: number;
  /** Below this a journey ends LOW_BATTERY. */
  batteryReserve(): number;
  navigation: {
    /** Taken in turn while a journey stays blocked; after the last it ends OBSTRUCTED. */
    ladder: readonly Rung[];
    /** Rungs one goal may take in all, however often progress in between starts the ladder anew. */
    maxRecoveries: number;
    /** Metres nearer to the goal that start the ladder anew. */
    progress: number;
    /** For the planner's answer. */
    planMs: number;
    /** For confirming an arrival. */
    arriveMs: number;
    /** For the lidar, the base or the motion process to come back. */
    sensorsMs: number;
    /** For localisation to find itself again, and after how long of it to turn and look around. */
    localizeMs: number;
    lookAfterMs: number;
  };
  docking: {
    maxAttempts: number;
    /** Where each approach starts, in the frame of the docked pose: behind it, and to its left. */
    staging: readonly { back: number; left: number }[];
    /** After the driver reports contact, for the base to confirm it. */
    contactMs: number;
    /** Of that, how long the charging current is waited for: a full battery draws none. */
    chargeMs: number;
    /** Backed off after a failed approach. */
    backOff: number;
    /** Of the docked pose after undocking. */
    clearance: number;
    /** Tries to leave the station while something stands behind, and the wait between them. */
    undockTries: number;
    undockWaitMs: number;
  };
  mapping: {
    /** For the motion process to report the first scans of a new map. */
    startMs: number;
    /** While it drives to a frontier: how often it is looked whether that still is one. */
    lookMs: number;
    /** An exploration goes home after this long, and a map that nobody saves is put aside after this long. */
    exploreMs: number;
    sessionMs: number;
    /** How near to a frontier is near enough, m and rad. */
    tolerance: { xy: number; theta: number };
  };
  cleaning: {
    /** Set-point of each mode, percent; `auto` while the air's grade is unknown or moderate. */
    percent: { quiet: number; auto: number; turbo: number };
    /** Share of the speed expected at a set-point that counts as reached. */
    reached: number;
    /** rpm at 100 %. */
    fullRpm: number;
    /** For the fan to reach its set-point, and to stand still. */
    spinUpMs: number;
    spinDownMs: number;
    /** A running fan that is silent, or slow, for this long ends the cleaning. */
    silentMs: number;
    /** rpm readings older than this do not count. */
    freshMs: number;
    /** The air has to be as good as was asked for this long. */
    gradeHoldMs: number;
    /** How often a running cleaning notes how far it is. */
    noteMs: number;
  };
}

export const DEFAULT_MACHINE_SETTINGS: MachineSettings = {
  freshMs: 1000,
  stillMs: 300,
  stopProofMs: 5000,
  maxSpeed: 0.35,
  slowSpeed: 0.1,
  batteryReserve: () => 15,
  navigation: {
    ladder: [
      { kind: 'wait', ms: 4000 },
      { kind: 'replan' },
      { kind: 'backUp', distance: 0.25 },
      { kind: 'rotate', angle: Math.PI },
      { kind: 'replan' },
    ],
    maxRecoveries: 15,
    progress: 0.5,
    planMs: 15_000,
    arriveMs: 3000,
    sensorsMs: 15_000,
    localizeMs: 20_000,
    lookAfterMs: 2000,
  },
  docking: {
    maxAttempts: 3,
    staging: [
      { back: 0.7, left: 0 },
      { back: 0.85, left: 0.1 },
      { back: 0.85, left: -0.1 },
    ],
    contactMs: 5000,
    chargeMs: 2500,
    backOff: 0.4,
    clearance: 0.4,
    undockTries: 3,
    undockWaitMs: 5000,
  },
  mapping: {
    startMs: 10_000,
    lookMs: 2000,
    exploreMs: 2_400_000,
    sessionMs: 7_200_000,
    tolerance: { xy: 0.25, theta: 0.6 },
  },
  cleaning: {
    percent: { quiet: 30, auto: 60, turbo: 100 },
    reached: 0.85,
    fullRpm: 2400,
    spinUpMs: 15_000,
    spinDownMs: 20_000,
    silentMs: 15_000,
    freshMs: 5000,
    gradeHoldMs: 5000,
    noteMs: 5000,
  },
};
