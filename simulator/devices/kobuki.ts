/**
 * A Yujin Kobuki as seen from its serial port, after the "Protocol Specification" of the Kobuki documentation: 115200
 * baud, a report every 20 ms without being asked, and one drive command of a speed and a radius. Sounds, lights and
 * controller gains are understood and recorded, and do nothing.
 */

import type { DeviceEnd } from '../types.js';
import { ROBOT } from '../world/layout.js';
import type { World } from '../world/world.js';
import { type BaseDevice, WATCHDOG_STOPS } from './base-device.js';
import { dockingIr } from './kobuki-beacon.js';
import { CommandParser, encodeFrame, le16, type SubPayload, s16 } from './kobuki-frames.js';
import { LineDevice } from './line-device.js';

const BAUD = 115_200;
const REPORT_MS = 20;
/** Distance of its wheels, mm, counts a metre, and fastest speed of a wheel, mm/s. */
export const KOBUKI_WHEEL_BASE = 0.23;
const BIAS_MM = 1000 * KOBUKI_WHEEL_BASE;
const COUNTS_PER_METRE = 11_724.41;
const FASTEST = 700;

const COMMANDS: Readonly<Record<number, string>> = {
  1: 'base_control',
  3: 'sound',
  4: 'sound_sequence',
  9: 'request_extra',
  12: 'outputs',
  13: 'set_gain',
  14: 'get_gain',
};
const BUTTONS = { b0: 1, b1: 2, b2: 4 } as const;
/** Charger states: none, charged and charging on the station. */
const DISCHARGING = 0;
const CHARGED = 2;
const CHARGING = 6;
const CHARGED_FROM = 99.5;
const HARDWARE = [4, 0, 1, 0] as const;
const FIRMWARE = [0, 2, 1, 0] as const;
/** Cliff signal over a floor and over a drop, and inputs that nothing is connected to. */
const FLOOR = 2000;
const DROP = 60;
const OPEN_INPUTS = 0x0f;
const OPEN_ANALOG = 4060;

export interface KobukiOptions {
  /** Stops the wheels when no command came for so long while they turn, ms; null: it does not. */
  watchdogMs?: number | null;
}

export class KobukiDevice extends LineDevice implements BaseDevice {
  readonly name = 'base';
  readonly #world: World;
  readonly #watchdogMs: number | null;
  readonly #parser = new CommandParser();
  readonly #buttonUntilMs = new Map<number, number>();
  #requested = { left: 0, right: 0 };
  #reportDueMs = 0;
  #heardMs = 0;
  #extra = 0;
  /** rad, of the gyro: what the body turned since the start, unwrapped. */
  #heading = 0;
  #lastTheta: number;
  #rate = 0;

  constructor(world: World, end: DeviceEnd, options: KobukiOptions = {}) {
    super(world, end, BAUD, 'kobuki-line');
    this.#world = world;
    this.#watchdogMs = options.watchdogMs ?? null;
    this.#lastTheta = world.body.pose.theta;
  }

  press(button: keyof typeof BUTTONS, ms: number): void {
    this.#buttonUntilMs.set(BUTTONS[button], this.#world.timeMs + ms);
  }

  pressStop(ms: number): void {
    this.press('b0', ms);
  }

  override unplug(): void {
    this.#parser.reset();
    super.unplug();
  }

  before(dtMs: number): void {
    this.line.takeIn(dtMs, (byte) => this.#parser.push(byte, (id, data) => this.#command(id, data)));
    this.#world.chargerWanted = true;
    if (!this.#world.body.powered) this.#requested = { left: 0, right: 0 };
    this.#watchdog();
    const { command } = this.#world.body;
    const limit = (speed: number) => Math.max(-FASTEST, Math.min(FASTEST, speed)) / 1000;
    command.left = Math.max(-ROBOT.maxWheelSpeed, Math.min(ROBOT.maxWheelSpeed, limit(this.#requested.left)));
    command.right = Math.max(
      -ROBOT.maxWheelSpeed,
      Math.min(ROBOT.maxWheelSpeed, limit(this.#requested.right)),
    );
  }

  after(dtMs: number): void {
    this.#turnGyro(dtMs);
    const { timeMs, body } = this.#world;
    if (body.powered && timeMs >= this.#reportDueMs) {
      this.#reportDueMs = Math.max(this.#reportDueMs + REPORT_MS, timeMs);
      if (this.line.backlog === 0) this.line.send(this.#report());
    }
    this.line.giveOut(dtMs);
  }

  #turnGyro(dtMs: number): void {
    const { theta } = this.#world.body.pose;
    const turned = Math.atan2(Math.sin(theta - this.#lastTheta), Math.cos(theta - this.#lastTheta));
    this.#lastTheta = theta;
    this.#heading += turned;
    this.#rate = turned / (dtMs / 1000);
  }

  #command(id: number, data: readonly number[]): void {
    this.#heardMs = this.#world.timeMs;
    const isDrive = id === 0x01;
    const values = isDrive ? [s16(data[0], data[1]), s16(data[2], data[3])] : data;
    if (!this.line.note(COMMANDS[id] ?? 'unknown', values)) return;
    if (isDrive && data.length === 4) this.#requested = wheels(values[0] ?? 0, values[1] ?? 0);
    if (id === 0x09) this.#extra |= data[0] ?? 0;
  }

  #watchdog(): void {
    const { left, right } = this.#requested;
    if (this.#watchdogMs === null || (left === 0 && right === 0)) return;
    if (this.#world.timeMs - this.#heardMs <= this.#watchdogMs) return;
    this.#world.tell(WATCHDOG_STOPS);
    this.#requested = { left: 0, right: 0 };
  }

  #report(): Uint8Array {
    const parts = [
      { id: 0x01, data: this.#core() },
      { id: 0x03, data: this.#infrared() },
      { id: 0x04, data: this.#inertial() },
      { id: 0x05, data: this.#cliffs() },
      { id: 0x06, data: [this.#current('left'), this.#current('right')] },
      { id: 0x0d, data: this.#rawGyro() },
      { id: 0x10, data: this.#inputs() },
      ...this.#extras(),
    ];
    return encodeFrame(parts);
  }

  #core(): number[] {
    const { body, timeMs } = this.#world;
    const middle = body.bump.left && body.bump.right;
    const bump = middle ? 2 : (body.bump.right ? 1 : 0) | (body.bump.left ? 4 : 0);
    const { cliff, wheelDrop, overcurrent } = body;
    return [
      ...le16(timeMs & 0xffff),
      bump,
      (wheelDrop.right ? 1 : 0) | (wheelDrop.left ? 2 : 0),
      (cliff.right ? 1 : 0) | (cliff.frontLeft || cliff.frontRight ? 2 : 0) | (cliff.left ? 4 : 0),
      ...le16(this.#encoder('left')),
      ...le16(this.#encoder('right')),
      this.#pwm('left'),
      this.#pwm('right'),
      this.#buttonsDown(),
      this.#charger(),
      this.#decivolts(),
      (overcurrent.left ? 1 : 0) | (overcurrent.right ? 2 : 0),
    ];
  }

  #encoder(side: 'left' | 'right'): number {
    return Math.floor(this.#world.body.encoderTravel(side) * COUNTS_PER_METRE) & 0xffff;
  }

  #pwm(side: 'left' | 'right'): number {
    return Math.round(150 * this.#world.body.wheels[side]) & 0xff;
  }

  #buttonsDown(): number {
    let down = 0;
    for (const [bit, until] of this.#buttonUntilMs) if (this.#world.timeMs <= until) down |= bit;
    return down;
  }

  #charger(): number {
    const { battery, contactsLive } = this.#world;
    if (!contactsLive) return DISCHARGING;
    return battery.percent >= CHARGED_FROM ? CHARGED : CHARGING;
  }

  /** Four lithium cells: 13.2 V empty, 14.0 V at a fifth, 16.5 V full. */
  #decivolts(): number {
    const { percent } = this.#world.battery;
    const volts =
      percent <= 20
        ? 13.2 + 0.04 * percent
        : percent <= 70
          ? 14 + 0.03 * (percent - 20)
          : 15.5 + (percent - 70) / 30;
    return Math.round(10 * volts);
  }

  #infrared(): number[] {
    const { right, center, left } = dockingIr(this.#world);
    return [right, center, left];
  }

  #inertial(): number[] {
    const degrees = (this.#heading * 180) / Math.PI;
    const wrapped = ((((degrees + 180) % 360) + 360) % 360) - 180;
    return [...le16(100 * wrapped), ...le16((this.#rate * 18_000) / Math.PI), 0, 0, 0];
  }

  #cliffs(): number[] {
    const { cliff } = this.#world.body;
    const signal = (over: boolean) => le16(over ? DROP : FLOOR);
    return [...signal(cliff.right), ...signal(cliff.frontLeft || cliff.frontRight), ...signal(cliff.left)];
  }

  /** Tens of mA: a little when turning, a lot when held fast. */
  #current(side: 'left' | 'right'): number {
    const { body } = this.#world;
    if (body.wheelStates[side].motor === 'dead') return 0;
    if (body.isBlocked(side) && Math.abs(body.command[side]) > 0.01) return 190;
    const speed = Math.abs(body.wheels[side]);
    return speed === 0 ? 0 : Math.round(9 + 30 * speed);
  }

  #rawGyro(): number[] {
    const rate = le16((this.#rate * 180) / Math.PI / 0.00875);
    return [
      Math.floor(this.#world.timeMs / REPORT_MS) & 0xff,
      6,
      ...[0, 0],
      ...[0, 0],
      ...rate,
      ...[0, 0],
      ...[0, 0],
      ...rate,
    ];
  }

  #inputs(): number[] {
    return [...le16(OPEN_INPUTS), ...[0, 1, 2, 3].flatMap(() => le16(OPEN_ANALOG)), 0, 0, 0, 0, 0, 0];
  }

  #extras(): SubPayload[] {
    const asked = this.#extra;
    this.#extra = 0;
    const parts: SubPayload[] = [];
    if ((asked & 1) !== 0) parts.push({ id: 0x0a, data: HARDWARE });
    if ((asked & 2) !== 0) parts.push({ id: 0x0b, data: FIRMWARE });
    return parts;
  }
}

/** Wheel speeds, mm/s, of a speed and a radius (mm, positive to the left): the speed is that of the outer wheel. */
export function wheels(speed: number, radius: number): { left: number; right: number } {
  if (radius === 0) return { left: speed, right: speed };
  if (radius === 1) return { left: -speed, right: speed };
  const half = BIAS_MM / 2;
  const inner = speed * ((Math.abs(radius) - half) / (Math.abs(radius) + half));
  return radius > 0 ? { left: inner, right: speed } : { left: speed, right: inner };
}
