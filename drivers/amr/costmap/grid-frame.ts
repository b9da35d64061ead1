import { type Point, type Pose, wrapAngle } from '../../../config/contracts/geometry.js';

/** Where a grid lies in the `map` frame. `origin` is the pose of the lower-left corner of cell (0, 0). */
export interface GridGeometry {
  readonly width: number;
  readonly height: number;
  readonly resolution: number;
  readonly origin: Pose;
}

/**
 * Converts between the `map` frame (metres) and the grid (cells; cell (i, j) covers [i, i+1) × [j, j+1)), also
 * for grids that are turned.
 */
export class GridFrame {
  readonly width: number;
  readonly height: number;
  readonly resolution: number;
  readonly origin: Pose;
  readonly #cos: number;
  readonly #sin: number;

  constructor(geometry: GridGeometry) {
    this.width = geometry.width;
    this.height = geometry.height;
    this.resolution = geometry.resolution;
    this.origin = geometry.origin;
    this.#cos = Math.cos(geometry.origin.theta);
    this.#sin = Math.sin(geometry.origin.theta);
  }

  /** Grid coordinates, in cells, fractional. */
  toGrid(p: Point): Point {
    const dx = p.x - this.origin.x;
    const dy = p.y - this.origin.y;
    return {
      x: (this.#cos * dx + this.#sin * dy) / this.resolution,
      y: (-this.#sin * dx + this.#cos * dy) / this.resolution,
    };
  }

  /** The inverse of `toGrid`. */
  toMap(g: Point): Point {
    const gx = g.x * this.resolution;
    const gy = g.y * this.resolution;
    return {
      x: this.origin.x + this.#cos * gx - this.#sin * gy,
      y: this.origin.y + this.#sin * gx + this.#cos * gy,
    };
  }

  /** A pose with x, y in cells and the angle in the grid's axes. */
  poseToGrid(pose: Pose): Pose {
    const { x, y } = this.toGrid(pose);
    return { x, y, theta: wrapAngle(pose.theta - this.origin.theta) };
  }

  /** Row-major index of the cell that holds the point, or −1 off the grid (also for NaN). */
  indexAt(p: Point): number {
    const g = this.toGrid(p);
    return this.indexOf(Math.floor(g.x), Math.floor(g.y));
  }

  /** Row-major index of a cell, or −1 off the grid (also for NaN). */
  indexOf(ix: number, iy: number): number {
    return ix >= 0 && iy >= 0 && ix < this.width && iy < this.height ? iy * this.width + ix : -1;
  }

  /** Centre of a cell in the `map` frame. */
  centreOf(index: number): Point {
    return this.toMap({
      x: (index % this.width) + 0.5,
      y: Math.floor(index / this.width) + 0.5,
    });
  }
}
