/**
 * The simulator's world as its users see it: a runner that steps it, devices that answer for it on serial
 * lines, a command that breaks things in it, and displays. Metres, radians, `map` frame, milliseconds of
 * simulated time since the world began; nothing here knows the wall clock.
 */
import type { Pose } from '../config/contracts/geometry.js';

export const DEVICE_NAMES = ['base', 'lidar', 'air', 'fan'] as const;
export type DeviceName = (typeof DEVICE_NAMES)[number];

/** Air of one room. */
export interface Air {
  /** µg/m³ */
  pm1_0: number;
  pm2_5: number;
  pm10: number;
  /** ppm */
  co2: number;
  /** Volatile organics, 0 (clean) … 3 (heavy), continuous; the sensor reports whole levels. */
  voc: number;
  /** mg/m³ */
  hcho: number;
  /** °C */
  temperature: number;
  /** %RH */
  humidity: number;
}

/** What a display shows of the world: the truth, which the robot under test never sees. */
export interface WorldView {
  tick: number;
  timeMs: number;
  /** Where `base_link` really is. */
  pose: Pose;
  /** Id of the room `pose` is in; null between rooms. */
  room: string | null;
  docked: boolean;
  battery: { percent: number; charging: boolean };
  airByRoom: Record<string, Air>;
  fan: { setPointPercent: number; rpm: number };
  people: { id: string; x: number; y: number; room: string | null }[];
  obstacles: { id: string; x: number; y: number; radius: number }[];
  darkRooms: string[];
  /** Wheel speeds that the base was last told, m/s. */
  command: { left: number; right: number };
  bump: { left: boolean; right: boolean };
}

/** Something that happened in the world. `text` has neither ids nor wall times. */
export interface WorldEvent {
  tick: number;
  timeMs: number;
  text: string;
}

/**
 * What takes part in a step, such as a device on its line. `begin` and `flush` run once, at the start and at the
 * end of the whole step; `before` runs ahead of the physics of each sub-step, `after` behind it; both get the
 * sub-step's length, ms.
 */
export interface WorldPart {
  begin?(): void;
  before?(dtMs: number): void;
  after?(dtMs: number): void;
  flush?(): void;
}

/**
 * The device's end of a serial line, in memory or behind a PTY. Bytes that the host cannot take are dropped
 * and counted, as a UART without flow control drops them. Its counts are what a lock-step runner compares.
 */
export interface DeviceEnd {
  readonly name: DeviceName;
  /** Sends to the host at once; pacing to the baud rate is the device's business. */
  write(bytes: Uint8Array): void;
  onData(listener: (bytes: Uint8Array) => void): void;
  /** Hands what the host has sent to the listener now; `received()` and `hostConnected` do so themselves. */
  poll(): void;
  /** Pulls the plug: the host's connection ends, and opening fails until `plug()`. */
  unplug(): void;
  plug(): void;
  readonly plugged: boolean;
  /** Whether a host has the port open. */
  readonly hostConnected: boolean;
  /** Bytes put on the line towards the host since it was last plugged in. */
  sent(): number;
  /** Bytes read from the host since it was last plugged in. */
  received(): number;
  /** Changes when the device is unplugged and when it is plugged in. */
  session(): number;
  /** Bytes for the host that nobody took, since the start. */
  dropped(): number;
  close(): void;
}

/** A command or query that a device understood, with the world's time. */
export interface Received {
  timeMs: number;
  tick: number;
  /** E.g. `drive_direct`, `query`, `write_register`. */
  what: string;
  /** In the device's own units, e.g. `[right, left]` mm/s. */
  values: readonly number[];
}

/** Faults a device can be made to have. All off (0, false) at the start. */
export interface DeviceFaults {
  /** Share of messages (frames, answers) hit by a burst of at most 8 wrong bits, 0…1. */
  noise: number;
  /** Says nothing, though it listens. */
  silent: boolean;
  /** Answers and frames come this much later, ms. */
  delayMs: number;
}

export interface Device {
  readonly name: DeviceName;
  readonly end: DeviceEnd;
  readonly faults: DeviceFaults;
  /** The newest commands received, oldest first (bounded). */
  readonly received: readonly Received[];
  /** The newest of one kind, or null. */
  last(what: string): Received | null;
  unplug(): void;
  plug(): void;
}
