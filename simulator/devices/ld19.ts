/**
 * An LDROBOT LD19 as seen from its UART, after LDROBOT's LD19 development manual: 230400 baud, frames of 47
 * bytes without being asked, 12 points each, 4500 points a second at 10 turns a second. The head turns
 * clockwise seen from above and counts its angle that way from the front.
 *
 * `54 2C`, speed (°/s), start angle (0.01°), 12 × (distance mm, intensity), end angle (0.01°), time (ms, below
 * 30000), CRC-8 (polynomial 0x4D). Multi-byte numbers are little-endian.
 */
import type { Pose } from '../../config/contracts/geometry.js';
import { wrapAngle } from '../../config/contracts/geometry.js';
import type { DeviceEnd } from '../types.js';
import type { Random } from '../world/random.js';
import type { World } from '../world/world.js';
import { LineDevice } from './line-device.js';

const BAUD = 230_400;
const POINTS = 12;
export const LD19_FRAME_BYTES = 47;
const POINT_MS = 1000 / 4500;
/** Degrees per second at the nominal 10 Hz, and how far the motor's speed wanders. */
const SPEED = 3600;
const SPEED_WANDER = 12;
/** After power-up the head has to come up to speed, ms. */
const SPIN_UP_MS = 800;
const TIMESTAMP_WRAP = 30_000;

/** What one frame says, in the device's own units. */
export interface Ld19Frame {
  /** °/s */
  speed: number;
  /** 0.01°, 0…35999 */
  startAngle: number;
  endAngle: number;
  /** mm and 0…255, twelve of each. */
  points: readonly { distance: number; intensity: number }[];
  /** ms, 0…29999 */
  timestamp: number;
}

const CRC_TABLE = Uint8Array.from({ length: 256 }, (_, value) => {
  let crc = value;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x4d) & 0xff : (crc << 1) & 0xff;
  return crc;
});

/** CRC-8 with polynomial 0x4D, initial value 0, over the first `length` bytes. */
export function ld19Crc(bytes: Uint8Array, length = bytes.length): number {
  let crc = 0;
  for (let i = 0; i < length; i++) crc = CRC_TABLE[crc ^ (bytes[i] ?? 0)] ?? 0;
  return crc;
}

export function encodeLd19Frame(frame: Ld19Frame): Uint8Array {
  const bytes = new Uint8Array(LD19_FRAME_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = 0x54;
  bytes[1] = 0x2c;
  view.setUint16(2, frame.speed, true);
  view.setUint16(4, frame.startAngle, true);
  for (let i = 0; i < POINTS; i++) {
    view.setUint16(6 + 3 * i, frame.points[i]?.distance ?? 0, true);
    view.setUint8(8 + 3 * i, frame.points[i]?.intensity ?? 0);
  }
  view.setUint16(42, frame.endAngle, true);
  view.setUint16(44, frame.timestamp, true);
  bytes[46] = ld19Crc(bytes, 46);
  return bytes;
}

export class Ld19Device extends LineDevice {
  readonly name = 'lidar';
  readonly #world: World;
  readonly #random: Random;
  readonly #points = Array.from({ length: POINTS }, () => ({ distance: 0, intensity: 0 }));
  /** Degrees, 0…360. */
  #angle: number;
  #speed = SPEED;
  #frameDueMs = 0;
  #readyMs = 0;

  constructor(world: World, end: DeviceEnd) {
    super(world, end, BAUD, 'ld19-line');
    this.#world = world;
    this.#random = world.random('ld19');
    this.#angle = 360 * this.#random.next();
  }

  /** Its power comes with the plug. */
  override plug(): void {
    if (this.end.plugged) return;
    this.end.plug();
    this.#readyMs = this.#world.timeMs + SPIN_UP_MS;
  }

  before(dtMs: number): void {
    this.line.takeIn(dtMs, () => {});
  }

  after(dtMs: number): void {
    const { timeMs } = this.#world;
    const powered = this.end.plugged && this.#world.body.powered;
    if (!powered || timeMs < this.#readyMs) {
      this.#frameDueMs = timeMs;
      return;
    }
    while (this.#frameDueMs + POINTS * POINT_MS <= timeMs) {
      this.#frameDueMs += POINTS * POINT_MS;
      this.#sendFrame(this.#frameDueMs, timeMs, dtMs);
    }
    this.line.giveOut(dtMs);
  }

  /** Measures the twelve points that end at `endMs`; the body moved through the sub-step that ends at `nowMs`. */
  #sendFrame(endMs: number, nowMs: number, dtMs: number): void {
    const step = this.#speed * (POINT_MS / 1000);
    const first = this.#angle;
    const middleMs = endMs - (POINTS / 2) * POINT_MS;
    const pose = this.#poseAt(1 - Math.min(1, (nowMs - middleMs) / dtMs));
    const { lidar, visitors } = this.#world;
    for (let i = 0; i < POINTS; i++) {
      const point = this.#points[i];
      if (point === undefined) continue;
      const bearing = (-(first + i * step) * Math.PI) / 180;
      const beam = lidar.measure(pose, wrapAngle(bearing), visitors.things);
      point.distance = Math.round(beam.range * 1000);
      point.intensity = beam.intensity;
    }
    this.line.send(
      encodeLd19Frame({
        speed: Math.round(this.#speed),
        startAngle: centidegrees(first),
        endAngle: centidegrees(first + (POINTS - 1) * step),
        points: this.#points,
        timestamp: Math.floor(endMs) % TIMESTAMP_WRAP,
      }),
    );
    this.#angle = (first + POINTS * step) % 360;
    const pull = 0.02 * (SPEED - this.#speed);
    this.#speed += pull + 0.2 * SPEED_WANDER * this.#random.gauss();
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

function centidegrees(degrees: number): number {
  return Math.round(degrees * 100) % 36_000;
}
