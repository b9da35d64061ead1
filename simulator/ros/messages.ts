/** Building and reading the ROS messages of the simulated robot. */
import { z } from 'zod';
import type { Pose } from '../../config/contracts/geometry.js';

export function stamp(ms: number): { sec: number; nanosec: number } {
  const sec = Math.floor(ms / 1000);
  return { sec, nanosec: Math.round((ms - sec * 1000) * 1e6) };
}

export function header(ms: number, frame_id: string): object {
  return { stamp: stamp(ms), frame_id };
}

export function rosPose({ x, y, theta }: Pose): object {
  return {
    position: { x, y, z: 0 },
    orientation: quaternion(theta),
  };
}

export function transform(ms: number, parent: string, child: string, { x, y, theta }: Pose): object {
  return {
    header: header(ms, parent),
    child_frame_id: child,
    transform: { translation: { x, y, z: 0 }, rotation: quaternion(theta) },
  };
}

export function twistOf(v: number, w: number): object {
  return { linear: { x: v, y: 0, z: 0 }, angular: { x: 0, y: 0, z: w } };
}

function quaternion(theta: number): object {
  return { x: 0, y: 0, z: Math.sin(theta / 2), w: Math.cos(theta / 2) };
}

const number = z.number().default(0);
const poseSchema = z
  .object({
    position: z.object({ x: number, y: number }),
    orientation: z.object({ z: number, w: z.number().default(1) }),
  })
  .transform(
    ({ position, orientation }): Pose => ({
      x: position.x,
      y: position.y,
      theta: 2 * Math.atan2(orientation.z, orientation.w),
    }),
  );
const poseStamped = z.object({ pose: poseSchema });

export const twistSchema = z.object({
  linear: z.object({ x: number }),
  angular: z.object({ z: number }),
});
export const twistStampedSchema = z.object({ twist: twistSchema });
export const poseStampedSchema = poseStamped;
export const initialPoseSchema = z.object({ pose: z.object({ pose: poseSchema }) });
export const navigateGoalSchema = z.object({ pose: poseStamped });
/** A list up to Humble and Jazzy; `nav_msgs/msg/Goals` with `goals` from Kilted on. */
export const navigateThroughGoalSchema = z.object({ poses: z.array(poseStamped).min(1) });
export const planGoalSchema = z.object({
  goal: poseStamped,
  start: poseStamped.optional(),
  use_start: z.boolean().default(false),
});
export const dockGoalSchema = z.object({
  use_dock_id: z.boolean().default(true),
  dock_id: z.string().default(''),
  dock_pose: poseStamped.optional(),
  navigate_to_staging_pose: z.boolean().default(true),
});
export const speedLimitSchema = z.object({ percentage: z.boolean().default(false), speed_limit: number });
export const loadMapSchema = z.object({ map_url: z.string() });
