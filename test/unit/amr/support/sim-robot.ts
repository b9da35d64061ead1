import type { Scan } from '../../../../config/contracts/amr.js';
import {
  type Point,
  type Pose,
  relativeTo,
  type Twist,
  wrapAngle,
} from '../../../../config/contracts/geometry.js';
import { seededRandom } from '../../../../config/contracts/ids.js';
import { GridFrame } from '../../../../drivers/amr/costmap/grid-frame.js';
import { gaussian } from '../../../../drivers/amr/localisation/gaussian.js';
import type { OccupancyGrid, WheelSample } from '../../../../drivers/amr/types.js';

export interface Thing extends Point {
  radius: number;
}

export interface RobotOptions {
  seed?: number;
  /** Share of the way that slips, and its random part. */
  slip?: number;
  slipNoise?: number;
  /** Deviation of ranges, metres, and share of rays without a return. */
  rangeNoise?: number;
  dropout?: number;
  station?: Pose | null;
}

const RADIUS = 0.17;
const WHEEL_BASE = 0.235;
/** Metres per encoder count of a Create 2. */
const COUNT = (Math.PI * 0.072) / 508.8;
const RAYS = 450;
const TURN_MS = 100;
const SUB_MS = 5;

/**
 * A differential-drive robot on an occupancy grid: wheels with lag and slip, encoders, and a lidar that turns
 * clockwise ten times a second and measures each ray from where the robot is at that moment.
 */
export class SimRobot {
  pose: Pose;
  timeMs = 0;
  things: Thing[] = [];
  wheelsHeld = false;
  /** Wheels turn, the robot stays. */
  spinning = false;
  lidarDead = false;
  /** Width of the sector in which something covers the lidar, rad, and its middle: no returns from there. */
  covered = { width: 0, middle: 0 };
  bumped = false;
  collisions = 0;
  readonly #grid: OccupancyGrid;
  readonly #frame: GridFrame;
  readonly #options: Required<RobotOptions>;
  readonly #normal: () => number;
  readonly #random: () => number;
  readonly #speed = { left: 0, right: 0 };
  readonly #turned = { left: 0, right: 0 };
  #ranges = new Array<number>(RAYS).fill(Number.NaN);
  #ray = 0;

  constructor(grid: OccupancyGrid, pose: Pose, options: RobotOptions = {}) {
    this.#grid = grid;
    this.#frame = new GridFrame(grid);
    this.pose = pose;
    this.#options = {
      seed: 1,
      slip: 0,
      slipNoise: 0.02,
      rangeNoise: 0.01,
      dropout: 0.01,
      station: null,
      ...options,
    };
    this.#random = seededRandom(this.#options.seed);
    this.#normal = gaussian(this.#random);
  }

  get wheels(): WheelSample {
    const counted = (m: number) => Math.floor(m / COUNT) * COUNT;
    return { mono: this.timeMs, left: counted(this.#turned.left), right: counted(this.#turned.right) };
  }

  /** In place of the station: true within 3 cm and 8° of it. */
  get docked(): boolean {
    if (this.#options.station === null) return false;
    const off = relativeTo(this.#options.station, this.pose);
    return Math.abs(off.x) < 0.012 && Math.abs(off.y) < 0.03 && Math.abs(off.theta) < 0.14;
  }

  /** Moves for `ms`; returns the scan whose turn ended meanwhile. */
  run(twist: Twist, ms: number): Scan | null {
    let scan: Scan | null = null;
    for (let t = 0; t < ms; t += SUB_MS) {
      this.timeMs += SUB_MS;
      this.#move(twist, SUB_MS / 1000);
      scan = this.#measure() ?? scan;
    }
    return scan;
  }

  #move(twist: Twist, dt: number): void {
    const lag = 1 - Math.exp(-dt / 0.05);
    const step = (now: number, target: number) => {
      const next = now + (target - now) * lag;
      return target === 0 && Math.abs(next) < 0.002 ? 0 : next;
    };
    const held = this.wheelsHeld;
    this.#speed.left = held ? 0 : step(this.#speed.left, twist.v - (twist.w * WHEEL_BASE) / 2);
    this.#speed.right = held ? 0 : step(this.#speed.right, twist.v + (twist.w * WHEEL_BASE) / 2);
    this.#turned.left += this.#speed.left * dt;
    this.#turned.right += this.#speed.right * dt;
    if (this.spinning) return;
    const grip = () => 1 - this.#options.slip + this.#options.slipNoise * this.#normal();
    const left = this.#speed.left * grip();
    const right = this.#speed.right * grip();
    const v = (left + right) / 2;
    const w = (right - left) / WHEEL_BASE;
    const middle = this.pose.theta + (w * dt) / 2;
    const next = {
      x: this.pose.x + v * dt * Math.cos(middle),
      y: this.pose.y + v * dt * Math.sin(middle),
      theta: wrapAngle(this.pose.theta + w * dt),
    };
    this.bumped = this.#touches(next);
    if (this.bumped) {
      this.collisions++;
      this.pose = { ...this.pose, theta: next.theta };
    } else this.pose = next;
  }

  #touches(pose: Pose): boolean {
    if (this.things.some((t) => Math.hypot(t.x - pose.x, t.y - pose.y) < RADIUS + t.radius)) return true;
    const { station } = this.#options;
    if (station !== null) {
      const at = relativeTo(station, pose);
      if (at.x > 0.001 && Math.abs(at.y) < 0.15) return true;
    }
    const r = Math.ceil(RADIUS / this.#grid.resolution) + 1;
    const centre = this.#frame.toGrid(pose);
    for (let y = Math.floor(centre.y) - r; y <= centre.y + r; y++) {
      for (let x = Math.floor(centre.x) - r; x <= centre.x + r; x++) {
        if (!this.#solid(x, y)) continue;
        const nx = Math.max(x, Math.min(x + 1, centre.x));
        const ny = Math.max(y, Math.min(y + 1, centre.y));
        if (Math.hypot(nx - centre.x, ny - centre.y) * this.#grid.resolution < RADIUS) return true;
      }
    }
    return false;
  }

  /** Measures the rays due by now; a full turn is a scan. */
  #measure(): Scan | null {
    const due = Math.floor(((this.timeMs % TURN_MS) / TURN_MS) * RAYS) || RAYS;
    for (; this.#ray < due; this.#ray++) {
      // Clockwise from straight ahead: bearing falls with time, indices are counter-clockwise.
      const bearing = -((this.#ray + 0.5) / RAYS) * 2 * Math.PI;
      this.#ranges[RAYS - 1 - this.#ray] = this.#range(bearing);
    }
    if (this.#ray < RAYS || this.timeMs % TURN_MS !== 0) return null;
    this.#ray = 0;
    const ranges = this.#ranges;
    this.#ranges = new Array<number>(RAYS).fill(Number.NaN);
    if (this.lidarDead) return null;
    return {
      at: this.timeMs,
      angleMin: Math.PI / RAYS,
      angleIncrement: (2 * Math.PI) / RAYS,
      rangeMin: 0.03,
      rangeMax: 12,
      ranges,
    };
  }

  #range(bearing: number): number {
    if (this.#random() < this.#options.dropout) return Number.NaN;
    if (Math.abs(wrapAngle(bearing - this.covered.middle)) < this.covered.width / 2) return Number.NaN;
    const angle = this.pose.theta + bearing;
    const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
    let range = castRay(this.#frame, this.#grid.cells, this.pose, angle, 12);
    for (const t of this.things) {
      const [ox, oy] = [t.x - this.pose.x, t.y - this.pose.y];
      const along = ox * dx + oy * dy;
      const room = t.radius ** 2 - (ox * ox + oy * oy - along * along);
      if (along > 0 && room > 0) range = Math.min(range, along - Math.sqrt(room));
    }
    return range >= 12 ? Number.NaN : range + this.#normal() * this.#options.rangeNoise;
  }

  #solid(x: number, y: number): boolean {
    const i = this.#frame.indexOf(x, y);
    return i >= 0 && (this.#grid.cells[i] ?? 0) >= 65;
  }
}

/** Metres from a pose along an angle (map frame) to the first occupied cell. */
export function castRay(
  frame: GridFrame,
  cells: Int8Array,
  from: Point,
  angle: number,
  most: number,
): number {
  const g = frame.toGrid(from);
  const local = angle - frame.origin.theta;
  const [dx, dy] = [Math.cos(local), Math.sin(local)];
  let [ix, iy] = [Math.floor(g.x), Math.floor(g.y)];
  const gapX = Math.abs(1 / dx);
  const gapY = Math.abs(1 / dy);
  let nextX = (dx > 0 ? ix + 1 - g.x : g.x - ix) * gapX;
  let nextY = (dy > 0 ? iy + 1 - g.y : g.y - iy) * gapY;
  let at = 0;
  const limit = most / frame.resolution;
  while (at < limit) {
    const i = frame.indexOf(ix, iy);
    if (i < 0) return most;
    if ((cells[i] ?? 0) >= 65) return at * frame.resolution;
    if (nextX < nextY) {
      at = nextX;
      nextX += gapX;
      ix += dx > 0 ? 1 : -1;
    } else {
      at = nextY;
      nextY += gapY;
      iy += dy > 0 ? 1 : -1;
    }
  }
  return most;
}
