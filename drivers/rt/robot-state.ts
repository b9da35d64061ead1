/** The state that the motion process publishes, put together from its parts. What is not known now is null. */
import type { ActionKind, HardwareReport, RobotState, SafetyState } from '../../config/contracts/amr.js';
import type { NavigatorState } from '../amr/types.js';
import type { BaseFrame } from '../serial/types.js';

export interface StateParts {
  now: number;
  mono: number;
  bootId: string;
  navigation: NavigatorState;
  baseConnected: boolean;
  frame: BaseFrame | null;
  lidarConnected: boolean;
  lastScanAt: number | null;
  safety: SafetyState;
  action: { id: string; kind: ActionKind } | null;
  counters: Record<string, number>;
  hardware: HardwareReport;
}

/** What a frame says is taken for the present this long, ms. */
const FRAME_FRESH_MS = 300;

export function robotState(parts: StateParts): RobotState {
  const { navigation, frame } = parts;
  const fresh = frame !== null && parts.mono - frame.mono <= FRAME_FRESH_MS;
  return {
    at: parts.now,
    rtBootId: parts.bootId,
    pose: navigation.pose,
    poseAt: navigation.poseAt,
    localized: navigation.localized,
    localizationScore: navigation.localizationScore,
    twist: fresh ? navigation.twist : null,
    stoppedSince: fresh ? navigation.stoppedSince : null,
    base: baseState(parts.baseConnected, frame, fresh),
    lidar: { connected: parts.lidarConnected, lastScanAt: parts.lastScanAt },
    safety: parts.safety,
    action: parts.action,
    mapId: navigation.mapId,
    mapping: navigation.mapping ?? null,
    counters: parts.counters,
    hardware: parts.hardware,
  };
}

/** Nothing but time, scores and counters lies between two states. */
export function sameFacts(a: RobotState, b: RobotState): boolean {
  return (
    samePose(a.pose, b.pose) &&
    a.localized === b.localized &&
    a.twist?.v === b.twist?.v &&
    a.twist?.w === b.twist?.w &&
    a.stoppedSince === b.stoppedSince &&
    sameBase(a.base, b.base) &&
    a.lidar.connected === b.lidar.connected &&
    a.safety.level === b.safety.level &&
    a.safety.estop.latched === b.safety.estop.latched &&
    a.safety.active.join() === b.safety.active.join() &&
    a.action?.id === b.action?.id &&
    a.mapId === b.mapId &&
    a.mapping?.phase === b.mapping?.phase &&
    a.mapping?.station === b.mapping?.station
  );
}

function samePose(a: RobotState['pose'], b: RobotState['pose']): boolean {
  return a === b || (a?.x === b?.x && a?.y === b?.y && a?.theta === b?.theta);
}

function sameBase(a: RobotState['base'], b: RobotState['base']): boolean {
  return (
    a.connected === b.connected &&
    a.battery?.percent === b.battery?.percent &&
    a.charging === b.charging &&
    a.docked === b.docked &&
    a.bumpLeft === b.bumpLeft &&
    a.bumpRight === b.bumpRight &&
    a.cliff === b.cliff &&
    a.wheelDrop === b.wheelDrop
  );
}

function baseState(connected: boolean, frame: BaseFrame | null, fresh: boolean): RobotState['base'] {
  const now = fresh ? frame : null;
  return {
    connected,
    lastFrameAt: frame?.at ?? null,
    battery:
      frame === null || frame.batteryPercent === null
        ? null
        : { percent: frame.batteryPercent, at: frame.at },
    charging: now?.charging ?? null,
    docked: now?.docked ?? null,
    bumpLeft: now?.bumpLeft ?? null,
    bumpRight: now?.bumpRight ?? null,
    cliff: now === null ? null : now.cliffLeft || now.cliffFrontLeft || now.cliffFrontRight || now.cliffRight,
    wheelDrop: now === null ? null : now.wheelDropLeft || now.wheelDropRight,
  };
}
