import { compose, distance, type Point, type Pose } from '../../../config/contracts/geometry.js';
import type { PathTrack } from '../control/path-track.js';
import { LiveLayer, type LiveLayerParams } from '../costmap/live-layer.js';
import { personCells, speedNear } from '../costmap/people-room.js';
import type { StaticCostmap } from '../costmap/static-costmap.js';
import type { ScanPoints } from '../localisation/scan-points.js';
import type { PersonTrack } from '../tracking/types.js';
import type { ObstacleParams } from './config.js';

/** Tells what a scan shows from what the map has, and remembers the rest for planning. */
export class LiveObstacles {
  #costmap: StaticCostmap;
  readonly #params: ObstacleParams;
  readonly #layerParams: LiveLayerParams;
  #layer: LiveLayer;
  #points: Point[] = [];
  /** Who is near and where they walk, in the `map` frame, as of the newest scan. */
  people: readonly PersonTrack[] = [];

  constructor(costmap: StaticCostmap, params: ObstacleParams, layer: LiveLayerParams) {
    this.#costmap = costmap;
    this.#params = params;
    this.#layerParams = layer;
    this.#layer = new LiveLayer(costmap.frame, layer);
  }

  /** The same ground, known better: what was seen is told apart from it anew. */
  rebase(costmap: StaticCostmap): void {
    this.#costmap = costmap;
    this.#layer = new LiveLayer(costmap.frame, this.#layerParams);
    this.#points = this.#points.filter((p) => this.#isNew(p));
  }

  /** Obstacles that are not in the map: centres of their cells, `map` frame. */
  get points(): readonly Point[] {
    return this.#points;
  }

  /** The same as row-major cell indices. */
  cells(): Int32Array {
    return this.#layer.cells();
  }

  /** Cells that are kept away from for the sake of people, where there is room. */
  personCells(): Int32Array {
    return personCells(this.people, this.#costmap.frame);
  }

  /** The speed that people near a place leave, m/s, or null. */
  speedNearPeople(at: Point): number | null {
    return speedNear(this.people, at);
  }

  counters(): Record<string, number> {
    return { live_cells: this.#layer.size, live_cells_dropped: this.#layer.dropped };
  }

  /** Takes in a scan's points, in `base_link` when that was at `pose` in the map. */
  add(points: ScanPoints, pose: Pose, mono: number): void {
    const ends: Point[] = [];
    const isNew: boolean[] = [];
    const range = this.#params.range ** 2;
    for (let i = 0; i < points.count; i++) {
      const x = points.x[i] ?? 0;
      const y = points.y[i] ?? 0;
      const p = compose(pose, { x, y, theta: 0 });
      ends.push(p);
      isNew.push(x * x + y * y <= range && this.#isNew(p));
    }
    this.#layer.update(pose, ends, isNew, mono);
    this.#layer.clearAround(pose, this.#costmap.inflation.robotRadius);
    this.#points = this.#layer.points();
  }

  clear(): void {
    this.#layer.clear();
    this.#points = [];
    this.people = [];
  }

  /** The first live obstacle that leaves no room for the robot on the next `ahead` metres of a path. */
  firstOn(track: PathTrack, ahead: number): { at: Point; along: number } | null {
    if (this.#points.length === 0) return null;
    const { robotRadius, margin } = this.#costmap.inflation;
    // Half the planner's margin: a path it has just found must not count as blocked again.
    const clear = robotRadius + margin / 2;
    const here = track.pointAt(track.at);
    const near = this.#points
      .map((at) => ({ at, from: distance(at, here) }))
      .filter(({ from }) => from < ahead + clear)
      // Somebody who has come up to the robot bars only the way into them, not the way past or off.
      .map(({ at, from }) => ({ at, reach: from < clear ? robotRadius : clear }));
    if (near.length === 0) return null;
    const end = Math.min(track.length, track.at + ahead);
    for (let s = track.at; s <= end; s += 0.05) {
      const on = track.pointAt(s);
      const hit = near.find(({ at, reach }) => distance(at, on) < reach);
      if (hit !== undefined) return { at: hit.at, along: s - track.at };
    }
    return null;
  }

  /** Whether what the lidar sees at a point is one of the map's obstacles, or beyond the ground that matters. */
  isMapped(p: Point): boolean {
    return !this.#isNew(p);
  }

  /** Not on the map's obstacles, and on ground where it could matter. */
  #isNew(p: Point): boolean {
    const { frame, wallDistance, cost } = this.#costmap;
    const i = frame.indexAt(p);
    if (i < 0 || (cost[i] ?? 255) === 255) return false;
    return (wallDistance[i] ?? 0) >= this.#params.mapTolerance;
  }
}
