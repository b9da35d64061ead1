/** A robot's lidar behind ROS 2: `/scan` turned into `base_link` by the transform of its frame. */
import type { Scan } from '../../../config/contracts/amr.js';
import type { Clock } from '../../../config/contracts/clock.js';
import { clamp, type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import type { LidarAbout, LidarDriver, LinkChange } from '../../serial/types.js';
import { type LaserScan, scanType, stampMs } from '../messages.js';
import type { TransformBuffer } from '../transforms.js';
import { QOS, type RosPort } from '../types.js';
import type { RosTime } from './ros-time.js';

export interface RosLidarOptions {
  port: RosPort;
  config: Ros2Config;
  clock: Clock;
  time: RosTime;
  transforms: TransformBuffer;
}

const TURN = 2 * Math.PI;
const RAYS = 360;

export class RosLidar implements LidarDriver {
  readonly opening = false;
  readonly #options: RosLidarOptions;
  readonly #counters = { scans: 0, scans_repeated: 0, scans_without_transform: 0 };
  readonly #listeners: ((scan: Scan) => void)[] = [];
  readonly #linkListeners: ((change: LinkChange) => void)[] = [];
  #connected = false;
  #stamp: number | null = null;

  constructor(options: RosLidarOptions) {
    this.#options = options;
  }

  start(): void {
    const { port, config } = this.#options;
    port.subscribe(rosName(config, config.topics.scan), scanType, QOS.sensor, (scan) => this.#onScan(scan));
    port.onLink(({ connected, reason }) => {
      if (!connected) this.#setConnected(false, reason);
    });
  }

  async stop(): Promise<void> {}

  get connected(): boolean {
    return this.#connected;
  }

  onLink(listener: (change: LinkChange) => void): void {
    this.#linkListeners.push(listener);
  }

  onScan(listener: (scan: Scan) => void): void {
    this.#listeners.push(listener);
  }

  hold(): void {}
  fetch(): void {}

  about(): LidarAbout {
    return { chip: 'ros2', model: null, hardwareVersion: null, firmwareVersion: null, health: null };
  }

  counters(): Record<string, number> {
    return { ...this.#counters };
  }

  portCounts(): { rx: number; tx: number; opens: number } {
    return { rx: 0, tx: 0, opens: 0 };
  }

  #onScan(message: LaserScan): void {
    const { clock, time, transforms, config } = this.#options;
    const stamp = stampMs(message.header.stamp);
    if (stamp === this.#stamp) {
      this.#counters.scans_repeated += 1;
      return;
    }
    this.#stamp = stamp;
    time.saw(stamp, clock.mono());
    const found = transforms.lookup(config.frames.base, message.header.frame_id, null);
    if (!found.ok) {
      this.#counters.scans_without_transform += 1;
      return;
    }
    this.#counters.scans += 1;
    this.#setConnected(true, 'scans arrive');
    const scan = inBase(message, found.pose, found.flipped, clock.now());
    for (const listener of this.#listeners) listener(scan);
  }

  #setConnected(connected: boolean, reason: string): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    for (const listener of this.#linkListeners) listener({ connected, reason });
  }
}

/**
 * The scan as it would be seen from `base_link`: one range a degree, the nearest where several fall together. `mount`:
 * pose of the lidar in `base_link`; `flipped`: its head hangs down.
 */
export function inBase(message: LaserScan, mount: Pose, flipped: boolean, at: number): Scan {
  const ranges = new Array<number>(RAYS).fill(Number.NaN);
  const { angle_min, angle_increment, range_min, range_max } = message;
  message.ranges.forEach((range, i) => {
    if (range === null || !(range >= range_min && range <= range_max)) return;
    const bearing = angle_min + i * angle_increment;
    const angle = mount.theta + (flipped ? -bearing : bearing);
    const x = mount.x + range * Math.cos(angle);
    const y = mount.y + range * Math.sin(angle);
    const bin = Math.round(((wrapAngle(Math.atan2(y, x)) + Math.PI) / TURN) * RAYS) % RAYS;
    const seen = Math.hypot(x, y);
    const known = ranges[bin] ?? Number.NaN;
    if (!(known <= seen)) ranges[bin] = seen;
  });
  const offset = Math.hypot(mount.x, mount.y);
  return {
    at,
    angleMin: -Math.PI,
    angleIncrement: TURN / RAYS,
    rangeMin: clamp(range_min - offset, 0.01, range_max),
    rangeMax: range_max + offset,
    ranges,
  };
}
