/**
 * Building a map while driving: what the mapper takes, gives and can be told. Metres, radians, milliseconds. Poses
 * are of `base_link`; the `map` frame begins where mapping began.
 */
import type { Point, Pose } from '../../../config/contracts/geometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';

export interface MapperParams {
  /** Metres per cell of the map. */
  resolution: number;
  /** Metres per cell of the fields that scans are matched on, and how wide a wall is blurred in them. */
  fieldResolution: number;
  fieldSigma: number;
  /** Points farther away are not used, m. */
  maxRange: number;
  /** A scan becomes part of the map when the robot has moved this far since the last that did. */
  keyframe: { travel: number; turn: number };
  /** Scans are matched to so many of the newest keyframes. */
  window: number;
  /** Points closer together than this count as one when matching, m. */
  spacing: number;
  /** How far a match may lie from what odometry says: at least, and for each metre or radian moved. */
  search: { xy: number; theta: number; xyPerMetre: number; thetaPerRadian: number; thetaPerMetre: number };
  /** Where there is no odometry the robot may have moved this far between two scans. */
  blind: { xy: number; theta: number };
  /** Mean likelihood below which a match is not believed, 0…1. */
  minScore: number;
  loops: LoopParams;
  /** More keyframes are not taken in: memory and time stay bounded. */
  maxKeyframes: number;
  /** Longest side of the map, m; what lies beyond is left out. */
  maxExtent: number;
  /** Where the lidar sits on the robot, in `base_link`. */
  sensor: Point;
}

export interface LoopParams {
  /** The way between two visits of a place, m: nearer ones are matched anyway. */
  minWay: number;
  /** How far two places may lie apart that could be one: at least, for each metre of way between, at most. */
  reach: { base: number; perMetre: number; most: number };
  /** How far the heading may have drifted in between, rad. */
  turn: number;
  /** Mean likelihood that a loop needs, 0…1. */
  minScore: number;
  /** Keyframes around the old place that are matched to, at most. */
  around: number;
  /** Two candidates in a row have to agree to this, m and rad. */
  agree: { xy: number; theta: number };
  /** After a loop was closed none is looked for on so much way, m. */
  pause: number;
}

export const DEFAULT_MAPPER: MapperParams = {
  resolution: 0.05,
  fieldResolution: 0.05,
  fieldSigma: 0.06,
  maxRange: 12,
  keyframe: { travel: 0.2, turn: 0.2 },
  window: 40,
  spacing: 0.04,
  search: { xy: 0.06, theta: 0.05, xyPerMetre: 0.3, thetaPerRadian: 0.2, thetaPerMetre: 0.15 },
  blind: { xy: 0.25, theta: 0.3 },
  minScore: 0.3,
  loops: {
    minWay: 4,
    reach: { base: 0.6, perMetre: 0.05, most: 3 },
    turn: 0.35,
    minScore: 0.48,
    around: 40,
    agree: { xy: 0.12, theta: 0.06 },
    pause: 1,
  },
  maxKeyframes: 6000,
  maxExtent: 200,
  sensor: { x: 0, y: 0 },
};

/** What became of one scan. */
export interface MapperUpdate {
  /** Best estimate at the scan; null before the first one. */
  pose: Pose | null;
  /** Mean likelihood of the scan at that pose, 0…1; null for the first scan and one without points. */
  score: number | null;
  /** False while scans do not fit what was mapped: the pose is carried on by odometry alone. */
  tracking: boolean;
  /** The scan was taken into the map. */
  keyframe: boolean;
  /** Loops that were closed by it. */
  loopsClosed: number;
}

/** A scan that is part of the map. */
export interface Keyframe {
  /** In the map; changes when loops are closed. */
  pose: Pose;
  /** Way driven since the start, m. */
  way: number;
  /** All of its points, for the map. */
  points: ScanPoints;
  /** Evenly spaced ones, for matching. */
  sparse: ScanPoints;
}

/** Measured while mapping; nothing that was not observed is in it. */
export interface MapperQuality {
  scans: number;
  keyframes: number;
  /** Scans that did not fit. */
  unmatched: number;
  loopsClosed: number;
  loopsRejected: number;
  /** Mean likelihood of all matched scans; null without one. */
  meanScore: number | null;
  /** Way driven, m. */
  way: number;
  /** The farthest that closing loops moved a keyframe, m. */
  driftCorrected: number;
  /** Points beyond the largest map. */
  leftOut: number;
}
