import { distance, type Point, type Pose } from '../../../config/contracts/geometry.js';
import type { PlanningMap } from '../costmap/planning-map.js';
import type { GridPlan } from '../types.js';
import { escapeFrom } from './escape.js';
import { GridSearch } from './grid-search.js';
import { PlanningGrid, stepCosts } from './planning-grid.js';
import { pullString, resample, roundCorners } from './smooth-path.js';

export interface PlannerParams {
  /** A cell right at an obstacle counts as `1 + obstacleWeight` cells in the open. */
  obstacleWeight: number;
  /** Distance between the poses of a path, metres. */
  spacing: number;
}

export const DEFAULT_PLANNER: PlannerParams = { obstacleWeight: 3, spacing: 0.1 };

/**
 * Plans on one map. Holds the scratch memory of the searches (about 10 bytes a cell), so keep one per map. Not
 * re-entrant; the worker thread and the inline planner both run this same code.
 */
export class PlanEngine {
  readonly #grid: PlanningGrid;
  readonly #costs: Float64Array;
  readonly #search: GridSearch;
  readonly #params: PlannerParams;

  constructor(map: PlanningMap, params: PlannerParams = DEFAULT_PLANNER) {
    this.#params = params;
    this.#grid = new PlanningGrid(map);
    this.#costs = stepCosts(params.obstacleWeight);
    this.#search = new GridSearch(this.#grid, this.#costs);
  }

  /** Cells the last plan looked at, for measurements. */
  get expanded(): number {
    return this.#search.expanded;
  }

  /**
   * A path of poses in the `map` frame from `from` to `goal`, ends included: heading along the way, at the end the
   * goal's. `live`: cells with obstacles that are not in the map; `people`: where people are or will be.
   */
  plan(
    from: Pose,
    goal: Pose,
    live: Int32Array = new Int32Array(0),
    people: Int32Array = new Int32Array(0),
  ): GridPlan {
    const grid = this.#grid;
    grid.setLive(live, people);
    const start = grid.frame.indexAt(from);
    const end = grid.frame.indexAt(goal);
    if (start < 0) return failed('off_map', `the start ${place(from)} is off the map`);
    if (end < 0) return failed('off_map', `the goal ${place(goal)} is off the map`);
    if (grid.blocked(end)) {
      const why = grid.freeInMap(end)
        ? 'an obstacle seen now'
        : 'the map (obstacle, unknown space or keep-out)';
      return failed('goal_occupied', `the goal ${place(goal)} has no room for the robot because of ${why}`);
    }
    const found = this.#find(start, end);
    if (found.leadOut !== null && found.cells !== null) {
      return this.#finish(from, goal, found.leadOut, found.cells);
    }
    const why =
      found.leadOut === null
        ? `the robot at ${place(from)} is shut in; no free space within reach`
        : `no way from ${place(from)} to ${place(goal)}`;
    const where = live.length === 0 ? null : this.#barredAt(start, end, live);
    if (where === null) return failed('unreachable', why);
    return { ...failed('obstructed', `${why} because of an obstacle seen now`), where };
  }

  /** Out of where the robot must not stand, if it does, and from there to the goal; null for what there is not. */
  #find(start: number, end: number): { leadOut: readonly number[] | null; cells: readonly number[] | null } {
    const leadOut = this.#grid.blocked(start) ? escapeFrom(this.#grid, start) : [start];
    const entry = leadOut?.[leadOut.length - 1];
    if (leadOut === null || entry === undefined) return { leadOut: null, cells: null };
    return { leadOut, cells: this.#search.search(entry, end) };
  }

  /** Where the way that the map alone has is barred by what is seen now; null when the map has none either. */
  #barredAt(start: number, end: number, live: Int32Array): Point | null {
    const grid = this.#grid;
    grid.setLive(new Int32Array(0));
    const { leadOut, cells } = this.#find(start, end);
    grid.setLive(live);
    const barred = cells?.find((cell, i) => i > 0 && grid.blocked(cell));
    if (leadOut === null || barred === undefined) return null;
    return grid.frame.centreOf(barred);
  }

  /** Straight where that costs no more, and round at the bends. */
  #smooth(way: readonly Point[], spacing: number): Point[] {
    const pulled = resample(pullString(this.#grid, this.#costs, way), spacing);
    return roundCorners(this.#grid, this.#costs, pulled);
  }

  #finish(from: Pose, goal: Pose, leadOut: readonly number[], cells: readonly number[]): GridPlan {
    const { frame } = this.#grid;
    const spacing = this.#params.spacing / frame.resolution;
    const centre = (cell: number): Point => ({
      x: (cell % frame.width) + 0.5,
      y: Math.floor(cell / frame.width) + 0.5,
    });
    const startInGrid = frame.toGrid(from);
    const way = cells.map(centre);
    // The true ends instead of their cells' centres.
    if (leadOut.length === 1) way[0] = startInGrid;
    if (way.length === 1) way.push(frame.toGrid(goal));
    else way[way.length - 1] = frame.toGrid(goal);
    const smooth = this.#smooth(this.#smooth(way, spacing), spacing);
    const before = leadOut.length === 1 ? [] : [startInGrid, ...leadOut.slice(1, -1).map(centre)];
    const points = [...before, ...smooth].map((p) => frame.toMap(p));
    const path = withHeadings(points, from, goal);
    return { ok: true, path, length: pathLength(path), escape: before.length };
  }
}

type Failure = Extract<GridPlan, { ok: false }>;

function failed(reason: Failure['reason'], message: string): Failure {
  return { ok: false, reason, message };
}

function place(p: Point): string {
  return `(${p.x.toFixed(2)}, ${p.y.toFixed(2)})`;
}

function withHeadings(points: readonly Point[], from: Pose, goal: Pose): Pose[] {
  const last = points.length - 1;
  let heading = from.theta;
  return points.map((p, i) => {
    const next = points[i + 1];
    if (next !== undefined && distance(p, next) > 1e-6) heading = Math.atan2(next.y - p.y, next.x - p.x);
    if (i === last) return { x: goal.x, y: goal.y, theta: goal.theta };
    return i === 0 ? { x: from.x, y: from.y, theta: heading } : { x: p.x, y: p.y, theta: heading };
  });
}

function pathLength(path: readonly Point[]): number {
  let length = 0;
  for (const [i, b] of path.entries()) {
    const a = path[i - 1];
    if (a !== undefined) length += distance(a, b);
  }
  return length;
}
