/**
 * A robot's base behind ROS 2, as a `BaseDriver`: `/odom` is its wheel report, `/cmd_vel` its motors, and hazards,
 * battery and dock come from their topics. Its report is dated by arrival; a stamp that stands still is no report.
 */
import type { CancelTimer, Clock } from '../../../config/contracts/clock.js';
import { type Pose, wrapAngle } from '../../../config/contracts/geometry.js';
import { type Ros2Config, rosName } from '../../../config/ros2.js';
import type { BaseAbout, BaseDetails, BaseDriver, BaseFrame, LinkChange } from '../../serial/types.js';
import {
  batteryType,
  boolType,
  dockStatusType,
  HAZARD,
  hazardsType,
  type Odometry,
  odometryType,
  POWER_SUPPLY,
  planar,
  stampMs,
} from '../messages.js';
import { type Publisher, QOS, type RosPort } from '../types.js';
import type { RosTime } from './ros-time.js';

export interface RosBaseOptions {
  port: RosPort;
  config: Ros2Config;
  clock: Clock;
  time: RosTime;
  /** Ends whatever the robot's own Nav2 pursues; called with every stop, and has to be cheap. */
  cancelGoals: () => void;
  /** Whatever else hangs on the connection to ROS starts and ends with the base. */
  started: () => void;
  stopped: () => Promise<void>;
}

/** A command that nobody renews is taken back, ms: the control loop renews it every 50 ms. */
const DEAD_MAN_MS = 200;
/** Zero is sent this often while the drive is disabled, ms. */
const HOLD_MS = 50;
/** Fused odometry trembles at rest: below this speed and this way from where it came to rest it stands. */
const STILL = { v: 0.008, w: 0.02, way: 0.004, turn: 0.01 };
/** A step between two reports that no robot drives: the odometry was set anew, m. */
const JUMP = 0.5;
/** What a topic last said is believed this long, ms. */
const TOPIC_FRESH_MS = 5_000;

interface Heard<T> {
  value: T;
  mono: number;
}

export class RosBase implements BaseDriver {
  readonly #options: RosBaseOptions;
  readonly #clock: Clock;
  readonly #counters = {
    odometry_frames: 0,
    odometry_repeated: 0,
    odometry_jumps: 0,
    stops: 0,
    dead_man_stops: 0,
  };
  readonly #frameListeners: ((frame: BaseFrame) => void)[] = [];
  readonly #linkListeners: ((change: LinkChange) => void)[] = [];
  #publisher: Publisher | null = null;
  #connected = false;
  #disabled = false;
  #cancelDeadMan: CancelTimer = () => {};
  #cancelHold: CancelTimer = () => {};
  #last: { pose: Pose; stamp: number } | null = null;
  #rest: Pose | null = null;
  #wheels = { left: 0, right: 0 };
  #battery: Heard<{ percent: number | null; status: number; voltage: number; current: number }> | null = null;
  #hazards: Heard<{ type: number; frame: string }[]> | null = null;
  #docked: Heard<boolean> | null = null;
  #estop: Heard<boolean> | null = null;

  constructor(options: RosBaseOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  start(): void {
    const { port, config } = this.#options;
    const { topics } = config;
    const named = (name: string) => rosName(config, name);
    if (topics.cmd_vel !== null) {
      const type = config.cmd_vel_stamped ? 'geometry_msgs/msg/TwistStamped' : 'geometry_msgs/msg/Twist';
      this.#publisher = port.advertise(named(topics.cmd_vel), type, QOS.command);
    }
    port.subscribe(named(topics.odom), odometryType, QOS.sensor, (odom) => this.#onOdometry(odom));
    if (topics.battery !== null) {
      port.subscribe(named(topics.battery), batteryType, QOS.sensor, (battery) => {
        const { percentage, power_supply_status: status, voltage, current } = battery;
        const percent = percentage === null ? null : Math.round(percentage * 1000) / 10;
        const electric = { voltage: voltage ?? 0, current: current ?? 0 };
        this.#battery = this.#heard({ percent, status, ...electric });
      });
    }
    if (topics.hazards !== null) {
      port.subscribe(named(topics.hazards), hazardsType, QOS.sensor, ({ detections }) => {
        this.#hazards = this.#heard(detections.map((d) => ({ type: d.type, frame: d.header.frame_id })));
      });
    }
    if (topics.dock !== null) {
      port.subscribe(named(topics.dock), dockStatusType, QOS.sensor, ({ is_docked }) => {
        this.#docked = this.#heard(is_docked);
      });
    }
    if (topics.estop !== null) {
      port.subscribe(named(topics.estop), boolType, QOS.reliable, ({ data }) => {
        this.#estop = this.#heard(data);
      });
    }
    port.onLink(({ connected, reason }) => {
      if (!connected) this.#setConnected(false, reason);
    });
    this.#options.started();
  }

  async stop(): Promise<void> {
    this.#cancelDeadMan();
    this.#cancelHold();
    this.stopNow();
    this.#publisher?.close();
    await this.#options.stopped();
  }

  /** The connection to ROS is being opened. */
  get opening(): boolean {
    return this.#options.port.opening;
  }

  get connected(): boolean {
    return this.#connected;
  }

  onLink(listener: (change: LinkChange) => void): void {
    this.#linkListeners.push(listener);
  }

  onFrame(listener: (frame: BaseFrame) => void): void {
    this.#frameListeners.push(listener);
  }

  driveWheels(left: number, right: number): boolean {
    if (this.#disabled && (left !== 0 || right !== 0)) return false;
    this.#cancelDeadMan();
    if (left !== 0 || right !== 0) {
      this.#cancelDeadMan = this.#clock.after(DEAD_MAN_MS, () => {
        this.#counters.dead_man_stops += 1;
        this.#publish(0, 0);
      });
    }
    return this.#publish((left + right) / 2, (right - left) / this.#options.config.wheel_base);
  }

  stopNow(): boolean {
    this.#counters.stops += 1;
    this.#cancelDeadMan();
    const sent = this.#publish(0, 0);
    this.#options.cancelGoals();
    return sent;
  }

  /** Nobody here can switch the motors of a ROS robot off; standing still is said as long as it has to. */
  disable(): void {
    if (this.#disabled) return;
    this.#disabled = true;
    this.stopNow();
    this.#cancelHold = this.#clock.every(HOLD_MS, () => this.stopNow());
  }

  enable(): void {
    this.#disabled = false;
    this.#cancelHold();
  }

  hold(): void {}
  fetch(): void {}

  about(): BaseAbout {
    return {
      chip: 'ros2',
      firmwareWatchdogMs: null,
      infraredDock: false,
      cutsDrive: false,
      hardwareVersion: null,
      firmwareVersion: null,
    };
  }

  details(): BaseDetails {
    return {
      motorCurrentLeftMa: null,
      motorCurrentRightMa: null,
      gyroHeading: null,
      gyroRate: null,
      temperature: null,
      cliffSignals: null,
    };
  }

  counters(): Record<string, number> {
    return { ...this.#counters, ...this.#options.port.counters() };
  }

  portCounts(): { rx: number; tx: number; opens: number } {
    return this.#options.port.lineCounts() ?? { rx: 0, tx: 0, opens: 0 };
  }

  #heard<T>(value: T): Heard<T> {
    return { value, mono: this.#clock.mono() };
  }

  #onOdometry(odom: Odometry): void {
    const mono = this.#clock.mono();
    const stamp = stampMs(odom.header.stamp);
    if (this.#last?.stamp === stamp) {
      this.#counters.odometry_repeated += 1;
      return;
    }
    this.#options.time.saw(stamp, mono);
    this.#counters.odometry_frames += 1;
    const pose = planar(odom.pose.pose);
    this.#turnWheels(pose, odom.twist.twist.linear.x, odom.twist.twist.angular.z);
    this.#last = { pose, stamp };
    this.#setConnected(true, 'odometry arrives');
    const frame = this.#frame(mono);
    for (const listener of this.#frameListeners) listener(frame);
  }

  /** What two wheels would have turned for the step from the last report to this one. */
  #turnWheels(pose: Pose, v: number, w: number): void {
    const before = this.#rest ?? this.#last?.pose ?? pose;
    const dx = pose.x - before.x;
    const dy = pose.y - before.y;
    const turn = wrapAngle(pose.theta - before.theta);
    const middle = before.theta + turn / 2;
    const way = dx * Math.cos(middle) + dy * Math.sin(middle);
    if (Math.hypot(dx, dy) > JUMP) {
      this.#counters.odometry_jumps += 1;
      this.#rest = null;
      return;
    }
    const slow = Math.abs(v) < STILL.v && Math.abs(w) < STILL.w;
    if (slow && Math.abs(way) < STILL.way && Math.abs(turn) < STILL.turn) {
      // It stands where it came to rest: what adds up to a motion is noticed all the same.
      this.#rest ??= before;
      return;
    }
    this.#rest = null;
    const half = (turn * this.#options.config.wheel_base) / 2;
    this.#wheels = { left: this.#wheels.left + way - half, right: this.#wheels.right + way + half };
  }

  #frame(mono: number): BaseFrame {
    const fresh = <T>(heard: Heard<T> | null): T | null =>
      heard !== null && mono - heard.mono <= TOPIC_FRESH_MS ? heard.value : null;
    const battery = fresh(this.#battery);
    const charging = battery?.status === POWER_SUPPLY.charging;
    const hazards = fresh(this.#hazards) ?? [];
    const has = (type: number, side?: RegExp) =>
      hazards.some((h) => h.type === type && (side === undefined || side.test(h.frame)));
    const bumped = has(HAZARD.bump);
    const left = has(HAZARD.bump, /left|center/);
    const right = has(HAZARD.bump, /right|center/);
    const cliff = has(HAZARD.cliff);
    const dropped = has(HAZARD.wheelDrop);
    const stalled = has(HAZARD.stall);
    return {
      at: this.#clock.now(),
      mono,
      bumpLeft: left || (bumped && !right),
      bumpRight: right || (bumped && !left),
      wheelDropLeft: dropped,
      wheelDropRight: dropped,
      cliffLeft: cliff,
      cliffFrontLeft: cliff,
      cliffFrontRight: cliff,
      cliffRight: cliff,
      overcurrentLeft: stalled,
      overcurrentRight: stalled,
      buttons: fresh(this.#estop) === true ? 1 : 0,
      irOmni: 0,
      irLeft: 0,
      irRight: 0,
      charging,
      docked: fresh(this.#docked) ?? (charging || battery?.status === POWER_SUPPLY.full),
      batteryPercent: battery?.percent ?? null,
      voltageMv: Math.round((battery?.voltage ?? 0) * 1000),
      currentMa: Math.round((battery?.current ?? 0) * 1000),
      wheelLeft: this.#wheels.left,
      wheelRight: this.#wheels.right,
      driveEnabled: !this.#disabled,
    };
  }

  #setConnected(connected: boolean, reason: string): void {
    if (connected === this.#connected) return;
    this.#connected = connected;
    if (!connected) {
      this.#last = null;
      this.#rest = null;
    }
    for (const listener of this.#linkListeners) listener({ connected, reason });
  }

  #publish(v: number, w: number): boolean {
    const twist = { linear: { x: v, y: 0, z: 0 }, angular: { x: 0, y: 0, z: w } };
    if (this.#publisher === null) return false;
    if (!this.#options.config.cmd_vel_stamped) return this.#publisher.publish(twist);
    const header = { stamp: { sec: 0, nanosec: 0 }, frame_id: this.#options.config.frames.base };
    return this.#publisher.publish({ header, twist });
  }
}
