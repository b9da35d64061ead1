/**
 * People near the robot, as its lidar shows them by their legs. Tracks say that somebody is there, where, and which
 * way they walk; never who. They live in the motion process and die with it: no event, log or context carries one.
 */
import type { Point } from '../../../config/contracts/geometry.js';

/**
 * One person. Positions and speeds are in the `odom` frame (wheel odometry since start), where the tracker works, or
 * in the `map` frame where `Navigator.people()` hands them on; each producer says which.
 */
export interface PersonTrack {
  /** Ascending from 1 for each start of the motion process; a person who was lost for long gets a new one. */
  readonly id: number;
  /** The middle between the legs, m. */
  readonly x: number;
  readonly y: number;
  /** Smoothed velocity, m/s. */
  readonly vx: number;
  readonly vy: number;
  /** 0…1: how sure it is that this is a person and is still there; falls while they are hidden. */
  readonly confidence: number;
  /** For how long nothing of them has been seen, ms; 0: the newest scan shows them. Positions are predicted then. */
  readonly unseenMs: number;
  /** One standard deviation of the position, m: the wider, the further to stay away. */
  readonly spread: number;
  /** Radius of the ground that their legs take up round (x, y), m. */
  readonly radius: number;
}

/** What one scan may show of people: its points in `base_link`, and which of them the map explains. */
export interface PersonScan {
  readonly points: readonly ScannedPoint[];
  /** When it was taken, monotonic ms. */
  readonly mono: number;
}

/** An end of a beam in the `odom` frame, in the order of the beams. */
export interface ScannedPoint extends Point {
  /** Distance from the lidar, m. */
  readonly range: number;
  /** Whether an obstacle of the map, or what never moved, stands there. */
  readonly mapped: boolean;
}
