/**
 * A calibration between the drivers and everything that uses them, in one place, and changed while they run: wheels
 * that are a little larger or farther apart than the profile says, a lidar that is a little turned.
 */
import type { Calibration, Scan } from '../../config/contracts/amr.js';
import type { BaseDriver, BaseFrame, LidarDriver } from '../serial/types.js';

const UNKNOWN_LINK = { connected: false, reason: '' };

type Wheels = { left: number; right: number };

/**
 * Ways of the wheels as a robot of the profile's figures would report them: it goes `wheelScale` times as far, and turns
 * by a `wheelBaseScale`th of what the difference of its wheels says.
 */
function seen({ left, right }: Wheels, { wheelScale, wheelBaseScale }: Calibration): Wheels {
  const mean = (wheelScale * (left + right)) / 2;
  const half = (wheelScale * (right - left)) / 2 / wheelBaseScale;
  return { left: mean - half, right: mean + half };
}

/** The other way: what the wheels of this robot have to do for what was wished. */
function driven({ left, right }: Wheels, { wheelScale, wheelBaseScale }: Calibration): Wheels {
  const mean = (left + right) / 2 / wheelScale;
  const half = ((right - left) / 2 / wheelScale) * wheelBaseScale;
  return { left: mean - half, right: mean + half };
}

export interface Calibrated {
  readonly calibration: Calibration | null;
  set(calibration: Calibration | null): void;
}

/** `base` whose wheels are calibrated. Totals go on from where they were when the calibration changes. */
export function calibratedBase(base: BaseDriver): BaseDriver & Calibrated {
  let calibration: Calibration | null = null;
  let raw: Wheels | null = null;
  let total: Wheels = { left: 0, right: 0 };
  const corrected = (frame: BaseFrame): BaseFrame => {
    const now = { left: frame.wheelLeft, right: frame.wheelRight };
    const step = { left: now.left - (raw?.left ?? 0), right: now.right - (raw?.right ?? 0) };
    raw = now;
    const added = calibration === null ? step : seen(step, calibration);
    total = { left: total.left + added.left, right: total.right + added.right };
    return { ...frame, wheelLeft: total.left, wheelRight: total.right };
  };
  const listeners: ((frame: BaseFrame) => void)[] = [];
  base.onFrame((frame) => {
    const calibrated = corrected(frame);
    for (const listener of listeners) listener(calibrated);
  });
  return {
    get calibration() {
      return calibration;
    },
    set: (next) => {
      calibration = next;
    },
    onFrame: (listener) => {
      listeners.push(listener);
    },
    driveWheels: (left, right) => {
      const wheels = calibration === null ? { left, right } : driven({ left, right }, calibration);
      return base.driveWheels(wheels.left, wheels.right);
    },
    about: () => base.about(),
    details: () => base.details(),
    stopNow: () => base.stopNow(),
    disable: () => base.disable(),
    enable: () => base.enable(),
    start: () => base.start(),
    stop: () => base.stop(),
    get connected() {
      return base.connected;
    },
    get opening() {
      return base.opening;
    },
    onLink: (listener) => base.onLink(listener),
    counters: () => base.counters(),
    portCounts: () => base.portCounts(),
    get link() {
      return base.link ?? UNKNOWN_LINK;
    },
    unknownBytes: () => base.unknownBytes?.() ?? new Uint8Array(0),
    hold: (on) => base.hold(on),
    fetch: () => base.fetch(),
  };
}

/** `lidar` whose scans are turned by what the calibration says. */
export function calibratedLidar(lidar: LidarDriver): LidarDriver & Calibrated {
  let calibration: Calibration | null = null;
  const turned = (scan: Scan): Scan =>
    calibration === null ? scan : { ...scan, angleMin: scan.angleMin + calibration.lidarYaw };
  return {
    get calibration() {
      return calibration;
    },
    set: (next) => {
      calibration = next;
    },
    onScan: (listener) => lidar.onScan((scan) => listener(turned(scan))),
    about: () => lidar.about(),
    start: () => lidar.start(),
    stop: () => lidar.stop(),
    get connected() {
      return lidar.connected;
    },
    get opening() {
      return lidar.opening;
    },
    onLink: (listener) => lidar.onLink(listener),
    counters: () => lidar.counters(),
    portCounts: () => lidar.portCounts(),
    get link() {
      return lidar.link ?? UNKNOWN_LINK;
    },
    unknownBytes: () => lidar.unknownBytes?.() ?? new Uint8Array(0),
    hold: (on) => lidar.hold(on),
    fetch: () => lidar.fetch(),
  };
}
