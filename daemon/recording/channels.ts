/**
 * The channels of a recording: topic, Foxglove's JSON schema of its messages, and how the robot's own data become
 * messages. Schemas after Foxglove's public message definitions (`foxglove.LaserScan` and the like); metres, radians,
 * `map` and `base_link`.
 */
import type { RobotState, SafetyState, Scan } from '../../config/contracts/amr.js';
import type { Pose } from '../../config/contracts/geometry.js';
import type { OccupancyGrid } from '../../drivers/amr/types.js';

const number = { type: 'number' } as const;
const text = { type: 'string' } as const;
const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const list = (items: object) => ({ type: 'array', items });

const time = { ...object({ sec: { type: 'integer' }, nsec: { type: 'integer' } }), title: 'time' };
const vector = object({ x: number, y: number, z: number });
const quaternion = object({ x: number, y: number, z: number, w: number });
const pose = object({ position: vector, orientation: quaternion });

/** By topic: the schema's name, and what it says. */
export const CHANNELS = {
  '/scan': {
    name: 'foxglove.LaserScan',
    schema: object({
      timestamp: time,
      frame_id: text,
      pose,
      start_angle: number,
      end_angle: number,
      ranges: list({ type: ['number', 'null'] }),
      intensities: list(number),
    }),
  },
  '/odom': {
    name: 'deviceagent.Odometry',
    schema: object({
      timestamp: time,
      frame_id: text,
      pose: { ...pose, type: ['object', 'null'] },
      linear: { type: ['number', 'null'] },
      angular: { type: ['number', 'null'] },
    }),
  },
  '/tf': {
    name: 'foxglove.FrameTransform',
    schema: object({
      timestamp: time,
      parent_frame_id: text,
      child_frame_id: text,
      translation: vector,
      rotation: quaternion,
    }),
  },
  '/map': {
    name: 'foxglove.Grid',
    schema: object({
      timestamp: time,
      frame_id: text,
      pose,
      column_count: { type: 'integer' },
      cell_size: object({ x: number, y: number }),
      row_stride: { type: 'integer' },
      cell_stride: { type: 'integer' },
      fields: list(object({ name: text, offset: { type: 'integer' }, type: { type: 'integer' } })),
      data: { type: 'string', contentEncoding: 'base64' },
    }),
  },
  '/path': {
    name: 'foxglove.PosesInFrame',
    schema: object({ timestamp: time, frame_id: text, poses: list(pose) }),
  },
  '/safety': {
    name: 'deviceagent.Safety',
    schema: object({ timestamp: time, level: text, active: list(text), estop_latched: { type: 'boolean' } }),
  },
  '/events': {
    name: 'foxglove.Log',
    schema: object({
      timestamp: time,
      level: { type: 'integer' },
      message: text,
      name: text,
      file: text,
      line: { type: 'integer' },
    }),
  },
} as const;
export type Topic = keyof typeof CHANNELS;

const MAP = 'map';
const ROBOT = 'base_link';
/** Foxglove's numeric type for one unsigned byte, and its level for information. */
const UINT8 = 1;
const INFO = 2;

function stamp(at: number): { sec: number; nsec: number } {
  const sec = Math.floor(at / 1000);
  return { sec, nsec: Math.round((at - 1000 * sec) * 1e6) };
}

function turned(theta: number) {
  return { x: 0, y: 0, z: Math.sin(theta / 2), w: Math.cos(theta / 2) };
}

function poseMessage({ x, y, theta }: Pose) {
  return { position: { x, y, z: 0 }, orientation: turned(theta) };
}

const round = (value: number) => Math.round(value * 1e4) / 1e4;

export function scanMessage(scan: Scan): object {
  const { angleMin, angleIncrement, ranges } = scan;
  return {
    timestamp: stamp(scan.at),
    frame_id: ROBOT,
    pose: poseMessage({ x: 0, y: 0, theta: 0 }),
    start_angle: angleMin,
    end_angle: angleMin + angleIncrement * (ranges.length - 1),
    // JSON has no NaN: where nothing was seen there is none.
    ranges: ranges.map((range) => (Number.isNaN(range) ? null : round(range))),
    intensities: [],
  };
}

export function odometryMessage(state: RobotState): object {
  return {
    timestamp: stamp(state.at),
    frame_id: MAP,
    pose: state.pose === null ? null : poseMessage(state.pose),
    linear: state.twist?.v ?? null,
    angular: state.twist?.w ?? null,
  };
}

export function transformMessage(at: number, { x, y, theta }: Pose): object {
  return {
    timestamp: stamp(at),
    parent_frame_id: MAP,
    child_frame_id: ROBOT,
    translation: { x, y, z: 0 },
    rotation: turned(theta),
  };
}

export function mapMessage(at: number, grid: OccupancyGrid): object {
  return {
    timestamp: stamp(at),
    frame_id: MAP,
    pose: poseMessage(grid.origin),
    column_count: grid.width,
    cell_size: { x: grid.resolution, y: grid.resolution },
    row_stride: grid.width,
    cell_stride: 1,
    fields: [{ name: 'occupancy', offset: 0, type: UINT8 }],
    data: Buffer.from(grid.cells.buffer, grid.cells.byteOffset, grid.cells.byteLength).toString('base64'),
  };
}

export function pathMessage(at: number, path: readonly Pose[]): object {
  return { timestamp: stamp(at), frame_id: MAP, poses: path.map(poseMessage) };
}

export function safetyMessage(at: number, { level, active, estop }: SafetyState): object {
  return { timestamp: stamp(at), level, active, estop_latched: estop.latched };
}

/** What happened and in which room, and nothing else: an event's attributes may be about people. */
export function eventMessage(at: number, type: string, areaId: string | null): object {
  const message = areaId === null ? type : `${type} (room ${areaId})`;
  return { timestamp: stamp(at), level: INFO, message, name: 'deviceagent', file: '', line: 0 };
}
