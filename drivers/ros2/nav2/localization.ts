/** Where the robot's own localizer says that it is, and how far that is to be trusted. */
import type { Clock } from '../../../config/contracts/clock.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import { clockType, poseWithCovarianceType, rosPose, stampMs, tfType } from '../messages.js';
import type { TransformBuffer } from '../transforms.js';
import { type Publisher, QOS, type RosPort } from '../types.js';
import type { RosTime } from './ros-time.js';

export interface LocalizationOptions {
  port: RosPort;
  config: Ros2Config;
  clock: Clock;
  time: RosTime;
  transforms: TransformBuffer;
}

export class RosLocalization {
  readonly counters = { poses_estimated: 0, initial_poses: 0, pose_stale: 0 };
  readonly #options: LocalizationOptions;
  #spread: { xy: number; theta: number } | null = null;
  #initial: Publisher | null = null;
  /** When `/tf` last brought the localizer's transform, or the odometry's, `mono` ms. */
  #mapMono: number | null = null;
  #odomMono: number | null = null;

  constructor(options: LocalizationOptions) {
    this.#options = options;
  }

  start(): void {
    const { port, config, clock, time, transforms } = this.#options;
    const { topics, frames } = config;
    port.subscribe(rosName(config, topics.tf), tfType, QOS.reliable, (message) => {
      for (const transform of message.transforms) {
        transforms.add(transform, false);
        if (transform.child_frame_id === frames.odom) this.#mapMono = clock.mono();
        if (transform.child_frame_id === frames.base) this.#odomMono = clock.mono();
      }
    });
    port.subscribe(rosName(config, topics.tf_static), tfType, QOS.staticTransforms, (message) => {
      for (const transform of message.transforms) transforms.add(transform, true);
    });
    if (topics.amcl_pose !== null) {
      port.subscribe(rosName(config, topics.amcl_pose), poseWithCovarianceType, QOS.latched, (message) => {
        this.counters.poses_estimated += 1;
        const { covariance } = message.pose;
        const xx = covariance[0] ?? 0;
        const xy = covariance[1] ?? 0;
        const yy = covariance[7] ?? 0;
        // The larger axis of the ellipse.
        const largest = (xx + yy) / 2 + Math.sqrt(((xx - yy) / 2) ** 2 + xy * xy);
        const yaw = covariance[35] ?? 0;
        this.#spread = { xy: Math.sqrt(Math.max(0, largest)), theta: Math.sqrt(Math.max(0, yaw)) };
      });
    }
    if (config.use_sim_time) {
      port.subscribe('/clock', clockType, QOS.sensor, (message) =>
        time.saw(stampMs(message.clock), clock.mono()),
      );
    }
    const type = 'geometry_msgs/msg/PoseWithCovarianceStamped';
    this.#initial = port.advertise(rosName(config, topics.initial_pose), type, QOS.reliable);
    port.onLink(({ connected }) => {
      if (!connected) this.#forget();
    });
  }

  /** `base_link` in `map`; null while no fresh transforms say so. */
  pose(): Pose | null {
    if (!this.#fresh()) return null;
    const { transforms, config } = this.#options;
    const found = transforms.lookup(config.frames.map, config.frames.base, null);
    return found.ok ? found.pose : null;
  }

  /** Null before anything was heard; false while the localizer doubts, or its transforms are old. */
  localized(): boolean | null {
    if (this.#mapMono === null) return null;
    if (!this.#fresh()) {
      this.counters.pose_stale += 1;
      return false;
    }
    const { config } = this.#options;
    // Without a covariance (SLAM, or another localizer) fresh transforms have to do.
    if (config.topics.amcl_pose === null) return true;
    const spread = this.#spread;
    if (spread === null) return null;
    return spread.xy <= config.localized.xy && spread.theta <= config.localized.theta;
  }

  get spread(): { xy: number; theta: number } | null {
    return this.#spread;
  }

  /** Tells the localizer; it answers on its topics. Standard deviations in m and rad. */
  tell(pose: Pose, spread: { xy: number; theta: number }): boolean {
    this.#spread = null;
    this.counters.initial_poses += 1;
    const covariance = new Array<number>(36).fill(0);
    covariance[0] = spread.xy ** 2;
    covariance[7] = spread.xy ** 2;
    covariance[35] = spread.theta ** 2;
    const header = { stamp: { sec: 0, nanosec: 0 }, frame_id: this.#options.config.frames.map };
    return this.#initial?.publish({ header, pose: { pose: rosPose(pose), covariance } }) ?? false;
  }

  #fresh(): boolean {
    const { clock, config, time, transforms } = this.#options;
    const mono = clock.mono();
    const recent = (heard: number | null) => heard !== null && mono - heard <= config.stale.tf_ms;
    if (!recent(this.#mapMono) || !recent(this.#odomMono)) return false;
    // A localizer that is replayed, or stuck, sends the same stamps again.
    const now = time.at(mono);
    const newest = transforms.newest(config.frames.odom);
    return now === null || newest === null || now - newest <= config.stale.tf_ms;
  }

  #forget(): void {
    this.#mapMono = null;
    this.#odomMono = null;
    this.#spread = null;
    this.#options.transforms.clear();
  }
}
