/**
 * A Slamtec RPLIDAR A1 as seen from its UART, after Slamtec's "Interface Protocol and Application Notes": 115200 baud,
 * requests of two bytes, answers behind a descriptor, and in the standard scan a node of five bytes for each
 * measurement: 2000 a second at seven turns. Its head turns clockwise and counts its angle that way from the front.
 */
import type { Pose } from '../../config/contracts/geometry.js';
import { wrapAngle } from '../../config/contracts/geometry.js';
import type { DeviceEnd } from '../types.js';
import type { Random } from '../world/random.js';
import type { World } from '../world/world.js';
import { LineDevice } from './line-device.js';

const BAUD = 115_200;
const REQUEST = 0xa5;
const NODE_MS = 0.5;
/** Degrees a second at seven turns, and how far the motor's speed wanders. */
const SPEED = 2520;
const SPEED_WANDER = 10;
/** After the scan was asked for the head has to come up to speed, ms. */
const SPIN_UP_MS = 600;
const RESET_MS = 500;
const QUALITY = 47 / 255;
const MODEL = 0x18;
const FIRMWARE = [0x1d, 0x01] as const;
const HARDWARE = 7;
/** Its shortest range, m. */
const CLOSEST = 0.15;

const NAMES: Readonly<Record<number, string>> = {
  32: 'scan',
  33: 'force_scan',
  37: 'stop',
  64: 'reset',
  80: 'get_info',
  82: 'get_health',
};

/** A response descriptor: length of one answer, whether they repeat, and their type. */
export function descriptor(length: number, repeated: boolean, type: number): number[] {
  return [0xa5, 0x5a, length & 0xff, (length >> 8) & 0xff, 0, repeated ? 0x40 : 0, type];
}

/** One measurement: `angle` in degrees, `range` in metres (0: nothing came back), `quality` 0…63. */
export function encodeNode(first: boolean, quality: number, angle: number, range: number): number[] {
  const q6 = Math.round(angle * 64) % 23_040;
  const q2 = Math.round(range * 4000);
  return [
    (quality << 2) | (first ? 0b01 : 0b10),
    ((q6 << 1) & 0xff) | 1,
    (q6 >> 7) & 0xff,
    q2 & 0xff,
    (q2 >> 8) & 0xff,
  ];
}

export class RplidarDevice extends LineDevice {
  readonly name = 'lidar';
  /** What its self-test reports: 0 good, 1 warning, 2 error. In error it does not scan. */
  health = 0;
  readonly #world: World;
  readonly #random: Random;
  #scanning = false;
  #fromMs = 0;
  #nodeDueMs = 0;
  #requestBegun = false;
  /** Degrees, 0…360. */
  #angle = 0;
  #first = true;
  #speed = SPEED;

  constructor(world: World, end: DeviceEnd) {
    super(world, end, BAUD, 'rplidar-line');
    this.#world = world;
    this.#random = world.random('rplidar');
  }

  /** Its power comes with the plug, and it does not scan by itself. */
  override plug(): void {
    if (this.end.plugged) return;
    this.end.plug();
    this.#scanning = false;
  }

  before(dtMs: number): void {
    this.line.takeIn(dtMs, (byte) => this.#take(byte));
  }

  after(dtMs: number): void {
    const { timeMs, body } = this.#world;
    const turning = this.#scanning && this.end.plugged && body.powered && timeMs >= this.#fromMs;
    if (!turning) this.#nodeDueMs = timeMs;
    else this.#measure(timeMs, dtMs);
    this.line.giveOut(dtMs);
  }

  #take(byte: number): void {
    if (!this.#requestBegun) {
      this.#requestBegun = byte === REQUEST;
      return;
    }
    this.#requestBegun = false;
    const name = NAMES[byte];
    if (name === undefined || this.#world.timeMs < this.#fromMs - SPIN_UP_MS || !this.line.note(name, []))
      return;
    this.#obey(byte);
  }

  #obey(request: number): void {
    this.#scanning = false;
    switch (request) {
      case 0x40:
        this.line.clear();
        this.#fromMs = this.#world.timeMs + RESET_MS + SPIN_UP_MS;
        return;
      case 0x50:
        this.#say([
          ...descriptor(20, false, 0x04),
          MODEL,
          ...FIRMWARE,
          HARDWARE,
          ...Array<number>(16).fill(0x5c),
        ]);
        return;
      case 0x52:
        this.#say([...descriptor(3, false, 0x06), this.health, 0, 0]);
        return;
      case 0x20:
      case 0x21:
        if (this.health === 2) return;
        this.#scanning = true;
        this.#fromMs = this.#world.timeMs + SPIN_UP_MS;
        this.#say(descriptor(5, true, 0x81));
    }
  }

  #say(bytes: readonly number[]): void {
    this.line.send(Uint8Array.from(bytes), 1);
  }

  #measure(nowMs: number, dtMs: number): void {
    const nodes: number[] = [];
    while (this.#nodeDueMs + NODE_MS <= nowMs) {
      this.#nodeDueMs += NODE_MS;
      const pose = this.#poseAt(1 - Math.min(1, (nowMs - this.#nodeDueMs) / dtMs));
      this.#turnHead();
      nodes.push(...this.#node(pose));
    }
    if (nodes.length > 0) this.line.send(Uint8Array.from(nodes));
  }

  #turnHead(): void {
    const next = this.#angle + this.#speed * (NODE_MS / 1000);
    this.#first = next >= 360;
    this.#angle = next % 360;
    if (!this.#first) return;
    this.#speed += 0.3 * (SPEED - this.#speed) + SPEED_WANDER * this.#random.gauss();
  }

  #node(pose: Pose): number[] {
    const { lidar, visitors } = this.#world;
    const bearing = (-this.#angle * Math.PI) / 180;
    const beam = lidar.measure(pose, wrapAngle(bearing), visitors.things);
    const range = beam.range < CLOSEST ? 0 : beam.range;
    const quality = range === 0 ? 0 : Math.max(1, Math.round(beam.intensity * QUALITY));
    return encodeNode(this.#first, quality, this.#angle, range);
  }

  /** The body's pose at a share (0…1) of the present sub-step. */
  #poseAt(share: number): Pose {
    const { before, pose } = this.#world.body;
    const turned = wrapAngle(pose.theta - before.theta);
    return {
      x: before.x + share * (pose.x - before.x),
      y: before.y + share * (pose.y - before.y),
      theta: before.theta + share * turned,
    };
  }
}
