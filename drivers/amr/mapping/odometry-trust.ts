import type { Pose } from '../../../config/contracts/geometry.js';

/** Over so many scans the motion is averaged. */
const SCANS = 20;
/** Odometry is believed no more when it errs by this share of the motion, and again below that one. */
const DOUBT = 0.5;
const BELIEVE = 0.25;
/** Errors that come from the matching, m; and what a radian counts for against a metre, about how far walls are. */
const SLACK = 0.01;
const METRES_PER_RADIAN = 1;

/**
 * Whether the wheels tell how the robot moves: what they say of each step is held against what the scans say. A dead
 * encoder, or wheels that spin, is worse than no odometry: it also bends every scan that is straightened with it.
 */
export class OdometryTrust {
  #error = 0;
  #motion = 0;
  #believed = true;

  get believed(): boolean {
    return this.#believed;
  }

  /** One step, by both: motions in the frame of the robot before it. */
  compare(wheels: Pose, scans: Pose): void {
    const size = ({ x, y, theta }: Pose) => Math.hypot(x, y) + METRES_PER_RADIAN * Math.abs(theta);
    const turn = Math.atan2(Math.sin(wheels.theta - scans.theta), Math.cos(wheels.theta - scans.theta));
    const error = size({ x: wheels.x - scans.x, y: wheels.y - scans.y, theta: turn });
    this.#error += (error - this.#error) / SCANS;
    this.#motion += (Math.max(size(wheels), size(scans)) - this.#motion) / SCANS;
    const share = this.#believed ? DOUBT : BELIEVE;
    this.#believed = this.#error <= share * this.#motion + SLACK;
  }
}
