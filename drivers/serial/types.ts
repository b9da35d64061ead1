/** What the serial device drivers offer, whatever chip is behind them. */
import type { Scan } from '../../config/contracts/amr.js';
import type { PortCounts } from '../../config/contracts/port.js';

/**
 * One decoded report of a mobile base. Wheel travel is a total since the driver was started, roll-over undone; it
 * goes on from where it was after a reconnection, and what the wheels turned in between is not in it.
 */
export interface BaseFrame {
  /** Robot time, epoch ms, and the monotonic clock, ms, when its last byte arrived. */
  at: number;
  mono: number;
  bumpLeft: boolean;
  bumpRight: boolean;
  wheelDropLeft: boolean;
  wheelDropRight: boolean;
  cliffLeft: boolean;
  cliffFrontLeft: boolean;
  cliffFrontRight: boolean;
  cliffRight: boolean;
  overcurrentLeft: boolean;
  overcurrentRight: boolean;
  /** Bit mask as the base reports it. */
  buttons: number;
  /** Infrared characters, 0 where none is received. */
  irOmni: number;
  irLeft: number;
  irRight: number;
  charging: boolean;
  /** Contacts of the home base live. */
  docked: boolean;
  batteryPercent: number | null;
  voltageMv: number;
  currentMa: number;
  /** Metres each wheel has turned. */
  wheelLeft: number;
  wheelRight: number;
  /** True while the base accepts drive commands. */
  driveEnabled: boolean;
}

export interface LinkChange {
  connected: boolean;
  reason: string;
}

/** Shared by every serial driver: opens its port, reopens it with back-off, counts what goes wrong. */
export interface SerialDriver {
  start(): void;
  stop(): Promise<void>;
  readonly connected: boolean;
  /** True while the port is being opened: work that a lock-step simulation waits for. */
  readonly opening: boolean;
  onLink(listener: (change: LinkChange) => void): void;
  /** Named fault and traffic counters, e.g. `checksum_errors`, `discarded_bytes`, `reconnects`. */
  counters(): Record<string, number>;
  portCounts(): PortCounts;
  /** Why the device counts as connected or not. */
  readonly link?: LinkChange;
  /** What came in lately while nothing made sense; a bounded piece of it. */
  unknownBytes?(): Uint8Array;
}

/** A driver whose port can be held; see `PortConnection.hold`. What it reports then comes when it is fetched. */
export interface HeldDriver extends SerialDriver {
  hold(on: boolean): void;
  fetch(): void;
}

/** What a base is and can do: data, so that nobody else has to ask which chip it is. */
export interface BaseAbout {
  chip: 'create2' | 'kobuki' | 'ros2';
  /** After this long without a command its firmware stops the wheels, ms; null where none is documented. */
  firmwareWatchdogMs: number | null;
  /** Its receivers see the beams of its station. */
  infraredDock: boolean;
  /** `disable` takes the power of driving away in the base itself, not only in its driver. */
  cutsDrive: boolean;
  /** As the base reports them; null while unknown, or where it does not. */
  hardwareVersion: string | null;
  firmwareVersion: string | null;
}

/** What only some bases report, as of the last frame; null where this one does not, or nothing was heard yet. */
export interface BaseDetails {
  /** Magnitude, mA. */
  motorCurrentLeftMa: number | null;
  motorCurrentRightMa: number | null;
  /** Of a gyro: heading, rad, counter-clockwise, from an arbitrary start and wrapping around; rad/s. */
  gyroHeading: number | null;
  gyroRate: number | null;
  /** °C, of the battery. */
  temperature: number | null;
  /** Strength of the floor's reflection, in the base's own units, from left to right. */
  cliffSignals: readonly number[] | null;
}

export interface BaseDriver extends HeldDriver {
  about(): BaseAbout;
  details(): BaseDetails;
  onFrame(listener: (frame: BaseFrame) => void): void;
  /** Wheel speeds, m/s; clamped to what the base can do. The bytes are handed to the port before it returns. */
  driveWheels(left: number, right: number): boolean;
  /** Sends the stop bytes at once, ahead of anything queued, connected or not known to be. */
  stopNow(): boolean;
  /** Cuts the drive: stop, then take the base out of the mode in which it drives. `enable` undoes it. */
  disable(): void;
  enable(): void;
}

export interface LidarAbout {
  chip: 'ld19' | 'rplidar_a1' | 'ros2';
  /** As the device reports them; null while unknown, or where it does not. */
  model: string | null;
  hardwareVersion: string | null;
  firmwareVersion: string | null;
  /** Of its own self-test; null where it has none. */
  health: 'good' | 'warning' | 'error' | null;
}

export interface LidarDriver extends HeldDriver {
  about(): LidarAbout;
  /** One call for each full turn; `Scan.at` is when its last byte arrived. */
  onScan(listener: (scan: Scan) => void): void;
}

export interface AirReading {
  at: number;
  warmingUp: boolean;
  pm1_0: number | null;
  pm2_5: number | null;
  pm10: number | null;
  co2: number | null;
  /** Coarse VOC level 0…3. */
  vocLevel: number | null;
  /** mg/m³ */
  hcho: number | null;
  temperature: number | null;
  humidity: number | null;
  /** ppm; absent for a sensor without that cell. */
  no2?: number | null;
}

export interface AirSensorDriver extends SerialDriver {
  onReading(listener: (reading: AirReading) => void): void;
}

export interface FanReading {
  at: number;
  rpm: number;
  setPointPercent: number;
  fault: boolean;
}

export interface FanDriver extends SerialDriver {
  onReading(listener: (reading: FanReading) => void): void;
  /**
   * 0 stops the fan and needs no token; every other speed carries the fencing token of the fan lease. Rejects with
   * `HARDWARE_FAULT` when the fan does not answer, with `RESOURCE_BUSY` when the token is an old one.
   */
  setSpeed(percent: number, fence?: number): Promise<void>;
  /** Reads rpm and set-point now. */
  read(): Promise<FanReading>;
}
