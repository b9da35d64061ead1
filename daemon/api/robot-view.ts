/** The robot's body as displays read it. Poses of `base_link` in `map`; metres, radians; times in epoch ms. */
import { z } from 'zod';
import { type RobotState, SAFETY_CONDITIONS, type Scan } from '../../config/contracts/amr.js';
import type { Pose } from '../../config/contracts/geometry.js';

const flag = z.boolean().nullable();
const time = z.number().nullable();
const pose = z.strictObject({ x: z.number(), y: z.number(), theta: z.number() });

export const robotView = z.strictObject({
  at_ms: z.number(),
  pose: pose.nullable(),
  pose_at_ms: time,
  localized: flag,
  localization_score: z.number().nullable(),
  twist: z.strictObject({ v: z.number(), w: z.number() }).nullable(),
  stopped_since_ms: time,
  base: z.strictObject({
    connected: z.boolean(),
    last_frame_at_ms: time,
    battery: z.strictObject({ percent: z.number(), at_ms: z.number() }).nullable(),
    charging: flag,
    docked: flag,
    bump_left: flag,
    bump_right: flag,
    cliff: flag,
    wheel_drop: flag,
  }),
  lidar: z.strictObject({ connected: z.boolean(), last_scan_at_ms: time }),
  safety: z.strictObject({
    level: z.enum(['OK', 'SETTLE', 'CUT']),
    active: z.array(z.enum(SAFETY_CONDITIONS)),
    estop: z.strictObject({ latched: z.boolean(), by: z.string().nullable(), at_ms: time }),
  }),
  action: z.strictObject({ id: z.string(), kind: z.string() }).nullable(),
  map_id: z.string().nullable(),
});
export type RobotView = z.infer<typeof robotView>;

export function viewRobot(state: RobotState): RobotView {
  const { base, safety } = state;
  return {
    at_ms: state.at,
    pose: state.pose === null ? null : roundedPose(state.pose),
    pose_at_ms: state.poseAt,
    localized: state.localized,
    localization_score: state.localizationScore,
    twist: state.twist === null ? null : { v: rounded(state.twist.v), w: rounded(state.twist.w) },
    stopped_since_ms: state.stoppedSince,
    base: {
      connected: base.connected,
      last_frame_at_ms: base.lastFrameAt,
      battery: base.battery === null ? null : { percent: base.battery.percent, at_ms: base.battery.at },
      charging: base.charging,
      docked: base.docked,
      bump_left: base.bumpLeft,
      bump_right: base.bumpRight,
      cliff: base.cliff,
      wheel_drop: base.wheelDrop,
    },
    lidar: { connected: state.lidar.connected, last_scan_at_ms: state.lidar.lastScanAt },
    safety: {
      level: safety.level,
      active: safety.active,
      estop: { latched: safety.estop.latched, by: safety.estop.by, at_ms: safety.estop.at },
    },
    action: state.action,
    map_id: state.mapId,
  };
}

export const scanView = z.strictObject({
  at_ms: z.number(),
  angle_min: z.number(),
  angle_increment: z.number(),
  ranges: z.array(z.number().nullable()).describe('m in base_link; null: nothing seen'),
});

/** Centimetres are enough for a picture; a scan then fits into two kilobytes. */
export function viewScan(scan: Scan): z.infer<typeof scanView> {
  return {
    at_ms: scan.at,
    angle_min: scan.angleMin,
    angle_increment: scan.angleIncrement,
    ranges: scan.ranges.map((r) => (Number.isFinite(r) ? Math.round(r * 100) / 100 : null)),
  };
}

export const pathView = z.array(z.tuple([z.number(), z.number()])).describe('[x, y] in map, m');

export function viewPath(path: readonly Pose[]): [number, number][] {
  return path.map(({ x, y }) => [Math.round(x * 100) / 100, Math.round(y * 100) / 100]);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function roundedPose(p: Pose): Pose {
  return { x: rounded(p.x), y: rounded(p.y), theta: rounded(p.theta) };
}
