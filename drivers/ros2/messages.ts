/**
 * The ROS 2 messages this robot reads and writes, as own structural types: field names, units and constants as in
 * common_interfaces, nav2_msgs, opennav_docking and action_msgs of Humble and Jazzy. Fields that are not needed are
 * not named, and not required. Floats that are NaN or infinite reach us as null through JSON.
 */
import { z } from 'zod';
import { describeZodError } from '../../config/contracts/errors.js';
import type { Pose } from '../../config/contracts/geometry.js';
import type { RosType } from './types.js';

export function rosType<S extends z.ZodType>(name: string, schema: S): RosType<z.output<S>> {
  return {
    name,
    parse: (value) => {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      throw new Error(describeZodError(parsed.error, value).message);
    },
  };
}

const finite = z.number();
const stamp = z.object({ sec: z.number(), nanosec: z.number() });
const header = z.object({ stamp, frame_id: z.string() });
const vector = z.object({ x: finite, y: finite, z: finite });
const quaternion = z.object({ x: finite, y: finite, z: finite, w: finite });
const pose = z.object({ position: vector, orientation: quaternion });
const twist = z.object({ linear: vector, angular: vector });
const covariance = z.array(finite).length(36);
/** A `float32[]`: an array, or the object with numbered keys that a typed array becomes in JSON. */
const floats = z
  .union([z.array(z.number().nullable()), z.record(z.string().regex(/^\d+$/), z.number().nullable())])
  .transform((value) => (Array.isArray(value) ? value : Object.values(value)));

export type Stamp = z.infer<typeof stamp>;
export type RosPose = z.infer<typeof pose>;
export type RosQuaternion = z.infer<typeof quaternion>;

export const odometryType = rosType(
  'nav_msgs/msg/Odometry',
  z.object({
    header,
    child_frame_id: z.string(),
    pose: z.object({ pose }),
    twist: z.object({ twist }),
  }),
);
export type Odometry = ReturnType<typeof odometryType.parse>;

const transform = z.object({
  header,
  child_frame_id: z.string(),
  transform: z.object({ translation: vector, rotation: quaternion }),
});
export const tfType = rosType(
  'tf2_msgs/msg/TFMessage',
  z.object({ transforms: z.array(transform).max(1000) }),
);
export type TransformStamped = z.infer<typeof transform>;

export const scanType = rosType(
  'sensor_msgs/msg/LaserScan',
  z.object({
    header,
    angle_min: finite,
    angle_max: finite,
    angle_increment: finite.refine((a) => a !== 0, 'must not be 0'),
    range_min: finite,
    range_max: finite,
    ranges: floats.refine((ranges) => ranges.length > 0 && ranges.length <= 20_000, '1 to 20000 ranges'),
  }),
);
export type LaserScan = ReturnType<typeof scanType.parse>;

/** `percentage`: 0…1, NaN where it is not measured. `power_supply_status`: see `POWER_SUPPLY`. */
export const batteryType = rosType(
  'sensor_msgs/msg/BatteryState',
  z.object({
    percentage: z.number().nullable(),
    power_supply_status: z.int(),
    voltage: z.number().nullish(),
    current: z.number().nullish(),
  }),
);
export const POWER_SUPPLY = { unknown: 0, charging: 1, discharging: 2, notCharging: 3, full: 4 } as const;

export const boolType = rosType('std_msgs/msg/Bool', z.object({ data: z.boolean() }));

/** Create 3 and TurtleBot 4: what is touched or missing now. `type`: see `HAZARD`. */
export const hazardsType = rosType(
  'irobot_create_msgs/msg/HazardDetectionVector',
  z.object({ detections: z.array(z.object({ header, type: z.int() })).max(100) }),
);
export const HAZARD = { bump: 1, cliff: 2, stall: 3, wheelDrop: 4 } as const;

export const dockStatusType = rosType(
  'irobot_create_msgs/msg/DockStatus',
  z.object({ is_docked: z.boolean() }),
);

export const poseWithCovarianceType = rosType(
  'geometry_msgs/msg/PoseWithCovarianceStamped',
  z.object({ header, pose: z.object({ pose, covariance }) }),
);

const poseStamped = z.object({ header, pose });
const path = z.object({ header, poses: z.array(poseStamped).max(20_000) });
export const pathType = rosType('nav_msgs/msg/Path', path);

/** Cells: −1 unknown, 0 free … 100 occupied; only the frame of the map is looked at. */
export const mapType = rosType(
  'nav_msgs/msg/OccupancyGrid',
  z.object({
    header,
    info: z.object({ resolution: finite.positive(), width: z.int(), height: z.int(), origin: pose }),
  }),
);

export const clockType = rosType('rosgraph_msgs/msg/Clock', z.object({ clock: stamp }));

/** `action_msgs/msg/GoalStatusArray`; a goal's id is 16 bytes, as numbers or base64. */
export const goalStatusType = rosType(
  'action_msgs/msg/GoalStatusArray',
  z.object({
    status_list: z
      .array(
        z.object({
          goal_info: z.object({ goal_id: z.object({ uuid: z.unknown() }), stamp }),
          status: z.int(),
        }),
      )
      .max(1000),
  }),
);

export const cancelGoalType = rosType('action_msgs/srv/CancelGoal', z.object({ return_code: z.int() }));
/** Zero id and zero stamp: all goals of the server (`action_msgs/srv/CancelGoal`). */
export const CANCEL_ALL = {
  goal_info: { goal_id: { uuid: new Array<number>(16).fill(0) }, stamp: { sec: 0, nanosec: 0 } },
};

/** `lifecycle_msgs/msg/State`. */
export const lifecycleStateType = rosType(
  'lifecycle_msgs/srv/GetState',
  z.object({ current_state: z.object({ id: z.int(), label: z.string() }) }),
);
export const LIFECYCLE_ACTIVE = 3;

export const loadMapType = rosType('nav2_msgs/srv/LoadMap', z.object({ result: z.int() }));

/** Humble's results have neither; Jazzy's and later have both. */
const outcome = { error_code: z.int().default(0), error_msg: z.string().default('') };

const duration = z.object({ sec: z.number(), nanosec: z.number() });
export const navigateFeedback = rosType(
  'nav2_msgs/action/NavigateToPose_Feedback',
  z.object({
    distance_remaining: z.number().nullable(),
    number_of_recoveries: z.int().default(0),
    navigation_time: duration.optional(),
  }),
);
export const navigateResult = rosType('nav2_msgs/action/NavigateToPose_Result', z.object(outcome));
export const planResult = rosType(
  'nav2_msgs/action/ComputePathToPose_Result',
  z.object({ path, ...outcome }),
);
export const noFeedback = rosType('feedback', z.unknown());
export const dockFeedback = rosType(
  'nav2_msgs/action/DockRobot_Feedback',
  z.object({ state: z.int(), num_retries: z.int().default(0) }),
);
export const dockResult = rosType(
  'nav2_msgs/action/DockRobot_Result',
  z.object({ success: z.boolean(), ...outcome }),
);

/** Rotation about the vertical axis, rad. */
export function yawOf(q: RosQuaternion): number {
  return Math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
}

/** The share of a ROS pose that lies in the plane. */
export function planar({ position, orientation }: RosPose): Pose {
  return { x: position.x, y: position.y, theta: yawOf(orientation) };
}

export function rosPose({ x, y, theta }: Pose): RosPose {
  return {
    position: { x, y, z: 0 },
    orientation: { x: 0, y: 0, z: Math.sin(theta / 2), w: Math.cos(theta / 2) },
  };
}

/** Milliseconds since the epoch of ROS time. */
export function stampMs({ sec, nanosec }: Stamp): number {
  return sec * 1000 + nanosec / 1e6;
}

export function toStamp(ms: number): Stamp {
  const sec = Math.floor(ms / 1000);
  return { sec, nanosec: Math.round((ms - sec * 1000) * 1e6) };
}

/** `geometry_msgs/msg/PoseStamped`. A zero stamp means "now" to Nav2's transforms. */
export function poseStampedOf(value: Pose, frame: string): object {
  return { header: { stamp: { sec: 0, nanosec: 0 }, frame_id: frame }, pose: rosPose(value) };
}
