import { GridFrame } from '../costmap/grid-frame.js';
import { MAX_DISTANCE, type StaticCostmap } from '../costmap/static-costmap.js';

/** Distances are kept as bytes, which stay in the cache, in steps of this many metres, up to 0.8 m. */
const STEP = 0.8 / 255;

/**
 * For every cell of a map how far the nearest mapped obstacle is: what a ray's end is compared with
 * (S. Thrun, W. Burgard, D. Fox, "Probabilistic Robotics", 2005, section 6.4).
 */
export class LikelihoodField {
  readonly frame: GridFrame;
  /** Distance in `STEP`s, row-major. */
  readonly codes: Uint8Array;

  constructor(costmap: StaticCostmap) {
    this.frame = new GridFrame(costmap.geometry);
    const half = costmap.geometry.resolution / 2;
    this.codes = Uint8Array.from(costmap.wallDistance, (d) => {
      // Back from surface to centre: a ray that ends in an obstacle's cell fits perfectly.
      const metres = d === 0 ? 0 : Math.min(MAX_DISTANCE, d + half);
      return Math.min(255, Math.round(metres / STEP));
    });
  }

  /** A table from code to `f(metres)`. The last entry stands for "0.8 m or more, or off the map". */
  static table(f: (metres: number) => number): Float64Array {
    return Float64Array.from({ length: 256 }, (_, code) => f(code * STEP));
  }
}
