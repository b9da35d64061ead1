/** Mapping a home while driving in it, as the motion process does it. Metres, radians; frame: the growing map's own. */
import type { Point, Pose } from './geometry.js';

/** What is known of a map that grows. Present from the start of mapping until another map is in use, or the old one again. */
export interface MappingState {
  /** Robot time when it began, epoch ms. */
  since: number;
  /** `finished`: written down, waiting to be taken over or given up; nothing drives by it until then. */
  phase: 'mapping' | 'finished';
  /** Scans that were put into it. */
  scans: number;
  /** Free ground found so far, m². */
  freeArea: number;
  /** Extent so far, metres. */
  width: number;
  height: number;
  /** Pose of `base_link` when it last stood on live charging contacts; null: not since mapping began. */
  station: Pose | null;
  /** It reached the largest extent that is mapped; what lies beyond is left out. */
  full: boolean;
}

export interface FrontierRequest {
  /** Places that could not be reached: frontiers near one are left out. */
  avoid: Point[];
  /** A frontier that is being driven to; whether it still is one is told. */
  current: Point | null;
}

/** Where known free ground borders on the unknown, and a robot can get to. */
export interface Frontier {
  /** Where to drive, looking into the unknown. */
  pose: Pose;
  /** How wide it is, metres. */
  width: number;
  /** Way to it on known ground, metres. */
  way: number;
}

export interface FrontierResult {
  /** The best one by way and width; null: none is left. */
  next: Frontier | null;
  /** How many there are. */
  count: number;
  /** False: what is being driven to is known by now. Null without `current`. */
  currentStands: boolean | null;
}

/** Of mapping that ended. */
export interface MappedGround {
  /** Where the robot is on the new map, and where its station is; null: not known. */
  pose: Pose | null;
  station: Pose | null;
  freeArea: number;
  /** Where the robot was on the map before mapping, and at the same moment on the new one; null: unknown. */
  bridge: { before: Pose; after: Pose } | null;
}
