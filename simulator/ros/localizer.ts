/**
 * The simulated AMCL: it knows the truth, with a little noise, as long as it was told about where the robot is.
 * `/initialpose` far from the truth loses it; `/reinitialize_global_localization` finds it again after some turning.
 */
import { compose, distance, type Pose, relativeTo, wrapAngle } from '../../config/contracts/geometry.js';
import type { World } from '../world/world.js';
import { header, initialPoseSchema, rosPose, transform } from './messages.js';
import type { RosRobot } from './robot.js';

const EVERY_MS = 100;
/** Within this of the truth, m and rad, scans pull the estimate to it. */
const CAPTURE = { xy: 0.8, theta: 0.7 };
const GOOD = { xy: 0.03, theta: 0.02 };
const BAD = { xy: 2, theta: 1.5 };
/** AMCL says that its transform holds this much longer than it knows, ms (`transform_tolerance`). */
const TOLERANCE_MS = 1000;

export class SimLocalizer {
  /** Inactive: it publishes nothing. */
  active = true;
  readonly #world: World;
  readonly #robot: RosRobot;
  /** Of `odom` in `map`, as it believes. */
  #odomInMap: Pose;
  #lost = false;
  #dueMs = 0;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(world: World, robot: RosRobot) {
    this.#world = world;
    this.#robot = robot;
    this.#odomInMap = this.#truth();
    robot.graph.subscribe(robot.name('initialpose'), null, (message) => {
      const parsed = initialPoseSchema.safeParse(message);
      if (parsed.success) this.#told(parsed.data.pose.pose);
    });
    robot.graph.serve(robot.name('reinitialize_global_localization'), 'std_srvs/srv/Empty', () => {
      this.#lost = false;
      this.#odomInMap = this.#truth();
      return {};
    });
  }

  /** The pose that it believes in. */
  pose(): Pose {
    return compose(this.#odomInMap, this.#robot.odom);
  }

  step(): void {
    const { timeMs } = this.#world;
    if (!this.active || timeMs < this.#dueMs) return;
    this.#dueMs = timeMs + EVERY_MS;
    if (!this.#lost) this.#odomInMap = this.#truth();
    const at = this.#robot.now();
    if (!this.#robot.faults.transforms) {
      const tf = transform(at + TOLERANCE_MS, 'map', 'odom', this.#odomInMap);
      this.#robot.graph.publish(this.#robot.name('tf'), 'tf2_msgs/msg/TFMessage', { transforms: [tf] });
    }
    if (timeMs - this.#toldMs < 1000) return;
    this.#publishPose(at);
  }

  #told(pose: Pose): void {
    const truth = this.#world.body.pose;
    const near =
      distance(pose, truth) <= CAPTURE.xy && Math.abs(wrapAngle(pose.theta - truth.theta)) <= CAPTURE.theta;
    this.#lost = !near;
    if (!near) this.#odomInMap = compose(pose, relativeTo(this.#robot.odom, { x: 0, y: 0, theta: 0 }));
    this.#publishPose(this.#robot.now());
  }

  #publishPose(at: number): void {
    this.#toldMs = this.#world.timeMs;
    const { xy, theta } = this.#lost ? BAD : GOOD;
    const covariance = new Array<number>(36).fill(0);
    covariance[0] = xy * xy;
    covariance[7] = xy * xy;
    covariance[35] = theta * theta;
    this.#robot.graph.publish(
      this.#robot.name('amcl_pose'),
      'geometry_msgs/msg/PoseWithCovarianceStamped',
      { header: header(at, 'map'), pose: { pose: rosPose(this.pose()), covariance } },
      true,
    );
  }

  #truth(): Pose {
    const odomOrigin = relativeTo(this.#robot.odom, { x: 0, y: 0, theta: 0 });
    return compose(this.#world.body.pose, odomOrigin);
  }
}
