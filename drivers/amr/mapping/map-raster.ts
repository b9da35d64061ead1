/** The occupancy grid itself: what each ray says about the cells that it crosses, summed up as log-odds. */
import type { Point, Pose } from '../../../config/contracts/geometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';
import type { OccupancyGrid } from '../types.js';

/** What an end of a ray and a crossing say, and how sure a cell can become; in log-odds. */
const HIT = 0.9;
const MISS = -0.45;
const SUREST = 6;
const OCCUPIED_FROM = 0.4;
const FREE_TO = -0.4;
/** Room that is added when the map grows, m. */
const ROOM = 4;

export class MapRaster {
  readonly #resolution: number;
  readonly #maxCells: number;
  #width = 0;
  #height = 0;
  /** Column and row of the cell that holds the map's origin. */
  #zeroX = 0;
  #zeroY = 0;
  #odds = new Float32Array(0);
  /** The scan that a cell was last touched by: each tells it one thing only. */
  #touched = new Int32Array(0);
  #scan = 0;
  leftOut = 0;

  /** `maxExtent`: longest side, m. */
  constructor(resolution: number, maxExtent: number) {
    this.#resolution = resolution;
    this.#maxCells = Math.ceil(maxExtent / resolution);
  }

  /** `sensor`: where the rays begin, in `base_link`. */
  add(points: ScanPoints, pose: Pose, sensor: Point): void {
    const cos = Math.cos(pose.theta);
    const sin = Math.sin(pose.theta);
    const ends: Point[] = [];
    for (let i = 0; i < points.count; i++) {
      const [px, py] = [points.x[i] ?? 0, points.y[i] ?? 0];
      ends.push(this.#cell(pose.x + cos * px - sin * py, pose.y + sin * px + cos * py));
    }
    const from = this.#cell(
      pose.x + cos * sensor.x - sin * sensor.y,
      pose.y + sin * sensor.x + cos * sensor.y,
    );
    this.#makeRoom([from, ...ends]);
    const inside = ends.filter((end) => this.#index(end) >= 0);
    this.leftOut += ends.length - inside.length;
    if (this.#index(from) < 0) return;
    this.#scan++;
    // Ends first: a ray that grazes the wall that another one hits does not take it away.
    for (const end of inside) this.#tell(this.#index(end), HIT);
    for (const end of inside) this.#cross(from, end);
  }

  /** Trinary: 100 occupied, 0 free, −1 unknown; null before the first scan. */
  grid(): OccupancyGrid | null {
    if (this.#width === 0) return null;
    const box = this.#knownBox();
    const [width, height] = [box.right - box.left + 1, box.top - box.bottom + 1];
    const cells = new Int8Array(width * height).fill(-1);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const odds = this.#odds[(y + box.bottom) * this.#width + x + box.left] ?? 0;
        if (odds >= OCCUPIED_FROM) cells[y * width + x] = 100;
        else if (odds <= FREE_TO) cells[y * width + x] = 0;
      }
    }
    const origin = {
      x: (box.left - this.#zeroX) * this.#resolution,
      y: (box.bottom - this.#zeroY) * this.#resolution,
      theta: 0,
    };
    return { width, height, resolution: this.#resolution, origin, cells };
  }

  /** Mean entropy of the cells that anything is known of, bits; null before the first scan. */
  entropy(): number | null {
    let sum = 0;
    let known = 0;
    for (const odds of this.#odds) {
      if (odds === 0) continue;
      const p = 1 / (1 + Math.exp(-odds));
      sum -= p * Math.log2(p) + (1 - p) * Math.log2(1 - p);
      known++;
    }
    return known === 0 ? null : sum / known;
  }

  #cell(x: number, y: number): Point {
    return { x: Math.floor(x / this.#resolution), y: Math.floor(y / this.#resolution) };
  }

  #index(cell: Point): number {
    const x = cell.x + this.#zeroX;
    const y = cell.y + this.#zeroY;
    return x >= 0 && y >= 0 && x < this.#width && y < this.#height ? y * this.#width + x : -1;
  }

  #tell(index: number, odds: number): void {
    if (this.#touched[index] === this.#scan) return;
    this.#touched[index] = this.#scan;
    const sum = (this.#odds[index] ?? 0) + odds;
    this.#odds[index] = Math.max(-SUREST, Math.min(SUREST, sum));
  }

  /** All cells between, by Bresenham's line; the end itself was hit. */
  #cross(from: Point, to: Point): void {
    const dx = Math.abs(to.x - from.x);
    const dy = Math.abs(to.y - from.y);
    const sx = from.x < to.x ? 1 : -1;
    const sy = from.y < to.y ? 1 : -1;
    let error = dx - dy;
    let { x, y } = from;
    while (x !== to.x || y !== to.y) {
      this.#tell((y + this.#zeroY) * this.#width + x + this.#zeroX, MISS);
      const twice = 2 * error;
      if (twice > -dy) {
        error -= dy;
        x += sx;
      }
      if (twice < dx) {
        error += dx;
        y += sy;
      }
    }
  }

  #makeRoom(cells: readonly Point[]): void {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of cells) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      bottom = Math.min(bottom, y);
      top = Math.max(top, y);
    }
    const has = {
      left: -this.#zeroX,
      right: this.#width - 1 - this.#zeroX,
      bottom: -this.#zeroY,
      top: this.#height - 1 - this.#zeroY,
    };
    if (left >= has.left && right <= has.right && bottom >= has.bottom && top <= has.top) return;
    const room = Math.ceil(ROOM / this.#resolution);
    const empty = this.#width === 0;
    const grown = {
      left: empty || left < has.left ? left - room : has.left,
      right: empty || right > has.right ? right + room : has.right,
      bottom: empty || bottom < has.bottom ? bottom - room : has.bottom,
      top: empty || top > has.top ? top + room : has.top,
    };
    const width = grown.right - grown.left + 1;
    const height = grown.top - grown.bottom + 1;
    if (width > this.#maxCells || height > this.#maxCells) return;
    const odds = new Float32Array(width * height);
    const touched = new Int32Array(width * height);
    for (let y = 0; y < this.#height; y++) {
      const row = this.#odds.subarray(y * this.#width, (y + 1) * this.#width);
      odds.set(row, (y - this.#zeroY - grown.bottom) * width + (-this.#zeroX - grown.left));
    }
    this.#odds = odds;
    this.#touched = touched;
    this.#width = width;
    this.#height = height;
    this.#zeroX = -grown.left;
    this.#zeroY = -grown.bottom;
  }

  /** What was seen at all, and a cell around it. */
  #knownBox(): { left: number; right: number; bottom: number; top: number } {
    const box = { left: this.#width, right: -1, bottom: this.#height, top: -1 };
    for (let y = 0; y < this.#height; y++) {
      for (let x = 0; x < this.#width; x++) {
        if (this.#odds[y * this.#width + x] === 0) continue;
        box.left = Math.min(box.left, x);
        box.right = Math.max(box.right, x);
        box.bottom = Math.min(box.bottom, y);
        box.top = Math.max(box.top, y);
      }
    }
    if (box.right < 0) return { left: 0, right: this.#width - 1, bottom: 0, top: this.#height - 1 };
    return {
      left: Math.max(0, box.left - 1),
      right: Math.min(this.#width - 1, box.right + 1),
      bottom: Math.max(0, box.bottom - 1),
      top: Math.min(this.#height - 1, box.top + 1),
    };
  }
}
