/** What a profile says of a robot that runs ROS 2 and Nav2. Names without a leading slash are under `namespace`. */
import { z } from 'zod';

const name = z
  .string()
  .regex(/^\/?[A-Za-z_][A-Za-z0-9_]*(\/[A-Za-z_][A-Za-z0-9_]*)*$/, 'allowed: a ROS name');
const frame = z.string().min(1).max(100);
const milliseconds = z.int().min(50).max(10_000);

export const ros2Schema = z.strictObject({
  /** `humble`, `jazzy`, …: which messages docking has, and what the results of goals say. */
  distro: z.string().min(1),
  /** For rclnodejs; a rosbridge has its own. */
  domain_id: z.int().min(0).max(232).default(0),
  via: z.enum(['rosbridge', 'rclnodejs']).default('rosbridge'),
  /** Of rosbridge_server. */
  url: z.url({ protocol: /^wss?$/ }).default('ws://127.0.0.1:9090'),
  namespace: z
    .string()
    .regex(/^(\/[A-Za-z_][A-Za-z0-9_]*)*$/, 'allowed: empty, or a ROS namespace such as /robot1')
    .default(''),
  /** ROS time comes from `/clock`. */
  use_sim_time: z.boolean().default(false),
  frames: z
    .strictObject({
      map: frame.default('map'),
      odom: frame.default('odom'),
      base: frame.default('base_link'),
    })
    .prefault({}),
  topics: z
    .strictObject({
      odom: name.default('odom'),
      scan: name.default('scan'),
      tf: name.default('tf'),
      tf_static: name.default('tf_static'),
      map: name.default('map'),
      battery: name.nullable().default('battery_state'),
      /** Null: the robot cannot be driven from here except by its own Nav2. */
      cmd_vel: name.nullable().default('cmd_vel'),
      amcl_pose: name.nullable().default('amcl_pose'),
      initial_pose: name.default('initialpose'),
      plan: name.default('plan'),
      speed_limit: name.default('speed_limit'),
      goal_pose: name.default('goal_pose'),
      /** `irobot_create_msgs/msg/HazardDetectionVector`; null: the robot has no such topic. */
      hazards: name.nullable().default(null),
      /** `irobot_create_msgs/msg/DockStatus`; null: docked is what charges. */
      dock: name.nullable().default(null),
      /** `std_msgs/msg/Bool`, true while an emergency button of the robot is pressed. */
      estop: name.nullable().default(null),
    })
    .prefault({}),
  /** `geometry_msgs/msg/TwistStamped` instead of `Twist`. */
  cmd_vel_stamped: z.boolean().default(false),
  actions: z
    .strictObject({
      navigate_to_pose: name.default('navigate_to_pose'),
      navigate_through_poses: name.default('navigate_through_poses'),
      compute_path: name.default('compute_path_to_pose'),
      dock: name.default('dock_robot'),
      undock: name.default('undock_robot'),
    })
    .prefault({}),
  /** Straight to the goal, as Nav2 sees fit, or through poses of the way that was planned and checked here. */
  follow: z.enum(['to_pose', 'through_poses']).default('to_pose'),
  docking: z
    .strictObject({
      /** Nav2's docking server, or the approach on board through `cmd_vel` to where the robot says that it charges. */
      with: z.enum(['server', 'onboard']).default('server'),
      /** In the docking server's database; null: the station of the map is sent as the dock's pose. */
      dock_id: z.string().min(1).nullable().default(null),
      dock_type: z.string().default(''),
    })
    .prefault({}),
  /** Managed nodes that must be active before the robot is sent anywhere. */
  lifecycle: z
    .strictObject({
      navigator: name.nullable().default('bt_navigator'),
      localizer: name.nullable().default('amcl'),
      docking: name.nullable().default('docking_server'),
    })
    .prefault({}),
  /** `robot`: it has its map, and ours must have the same frame. `load`: its map_server is told to load ours. */
  map: z.enum(['robot', 'load']).default('robot'),
  /** Older than this and the robot is stopped, ms. */
  stale: z
    .strictObject({
      odom_ms: milliseconds.default(250),
      scan_ms: milliseconds.default(300),
      tf_ms: milliseconds.default(1500),
    })
    .prefault({}),
  /** Standard deviations of the localizer up to which it counts as localised, m and rad. */
  localized: z
    .strictObject({
      xy: z.number().positive().max(5).default(0.5),
      theta: z.number().positive().max(3).default(0.5),
    })
    .prefault({}),
  /** m; from a twist to the speeds of two wheels and back, which the safety layer watches. */
  wheel_base: z.number().positive().max(2).default(0.235),
  /** m/s */
  max_wheel_speed: z.number().positive().max(3).default(0.5),
});
export type Ros2Config = z.infer<typeof ros2Schema>;

/** The full name of a topic, service or action. */
export function rosName({ namespace }: Pick<Ros2Config, 'namespace'>, given: string): string {
  return given.startsWith('/') ? given : `${namespace}/${given}`;
}
