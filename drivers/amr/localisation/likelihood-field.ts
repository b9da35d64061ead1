import { squaredDistances } from '../costmap/distance-transform.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { StaticCostmap } from '../costmap/static-costmap.js';

/** Distances beyond this are all the same, metres. */
const FAR = 0.8;
/** Entries of a table over 0 … `FAR`; the last stands for everything beyond, and off the map. */
const TABLE = 256;

/**
 * For every cell of a map how far the nearest surface of a mapped obstacle is, negative inside obstacles: what the
 * end of a ray is compared with ("Probabilistic Robotics", section 6.4). Read between cell centres it places a
 * surface to a fraction of a cell; a field of distances to obstacle *cells* would let the robot lean into walls.
 */
export class LikelihoodField {
  readonly frame: GridFrame;
  /** Metres, row-major, at cell centres. */
  readonly distance: Float32Array;

  constructor(costmap: StaticCostmap) {
    this.frame = new GridFrame(costmap.geometry);
    const { width, height, resolution } = costmap.geometry;
    const wall = costmap.wallDistance;
    const free = new Uint8Array(wall.length);
    for (let i = 0; i < free.length; i++) free[i] = wall[i] === 0 ? 0 : 1;
    const depth = squaredDistances(free, width, height);
    this.distance = new Float32Array(wall);
    for (let i = 0; i < wall.length; i++) {
      if (wall[i] === 0) this.distance[i] = -(Math.sqrt(depth[i] ?? 0) - 0.5) * resolution;
    }
  }

  /** A table of `f(metres)` for `sum`. */
  static table(f: (metres: number) => number): Float64Array {
    return Float64Array.from({ length: TABLE }, (_, i) => f((i * FAR) / (TABLE - 1)));
  }

  /**
   * Adds up a table's values over the ends of rays seen from a pose in grid coordinates; the hot loop of the
   * particle filter. `x`, `y`: ends in `base_link`, metres.
   */
  sum(
    px: number,
    py: number,
    theta: number,
    x: Float64Array,
    y: Float64Array,
    count: number,
    table: Float64Array,
  ): number {
    const { width, height, resolution } = this.frame;
    const d = this.distance;
    const c = Math.cos(theta) / resolution;
    const s = Math.sin(theta) / resolution;
    // Between centres: cell (i, j) has its value at (i + ½, j + ½).
    const ox = px - 0.5;
    const oy = py - 0.5;
    const scale = (TABLE - 1) / FAR;
    const outside = table[TABLE - 1] ?? 0;
    let sum = 0;
    for (let k = 0; k < count; k++) {
      const bx = x[k] ?? 0;
      const by = y[k] ?? 0;
      const gx = ox + c * bx - s * by;
      const gy = oy + s * bx + c * by;
      if (!(gx >= 0 && gy >= 0 && gx < width - 1 && gy < height - 1)) {
        sum += outside;
        continue;
      }
      const ix = gx | 0;
      const iy = gy | 0;
      const fx = gx - ix;
      const fy = gy - iy;
      const i = iy * width + ix;
      const low = (d[i] ?? 0) * (1 - fx) + (d[i + 1] ?? 0) * fx;
      const high = (d[i + width] ?? 0) * (1 - fx) + (d[i + width + 1] ?? 0) * fx;
      const code = Math.abs(low + (high - low) * fy) * scale;
      sum += code < TABLE - 1 ? (table[(code + 0.5) | 0] ?? 0) : outside;
    }
    return sum;
  }
}
