/**
 * Where a growing map goes on: the places at which known free ground that the robot can get to borders on the unknown
 * (B. Yamauchi, "A frontier-based approach for autonomous exploration", 1997). Pure.
 */

import { distance, type Point } from '../../../config/contracts/geometry.js';
import type { Frontier, FrontierRequest, FrontierResult } from '../../../config/contracts/mapping.js';
import { COST_INSCRIBED } from '../costmap/costs.js';
import type { StaticCostmap } from '../costmap/static-costmap.js';
import type { OccupancyGrid } from '../types.js';

export interface FrontierParams {
  /** Narrower frontiers are gaps between rays, metres. */
  minWidth: number;
  /** Unknown regions smaller than this are pockets that nobody has to see, m². */
  minUnknown: number;
  /** A frontier this near to a place that could not be reached is that place, metres. */
  avoidRadius: number;
  /** Metres of way that a metre of width is worth. */
  widthWorth: number;
}

export const DEFAULT_FRONTIERS: FrontierParams = {
  minWidth: 0.3,
  minUnknown: 0.15,
  avoidRadius: 0.5,
  widthWorth: 0.5,
};

/** Wider ones are not worth more, metres: a hall is not explored before the room that the robot stands in. */
const WIDEST = 3;

export function findFrontiers(
  grid: OccupancyGrid,
  costmap: StaticCostmap,
  from: Point,
  request: FrontierRequest,
  params: FrontierParams = DEFAULT_FRONTIERS,
): FrontierResult {
  const ways = waysFrom(costmap, from);
  const unknown = largeUnknown(grid, params.minUnknown);
  const clusters = clustersOf(grid, ways, unknown).filter(
    (cells) => cells.length * grid.resolution >= params.minWidth,
  );
  const found = clusters
    .map((cells) => frontierOf(cells, grid, costmap, ways, unknown))
    .filter(({ pose }) => request.avoid.every((place) => distance(place, pose) > params.avoidRadius));
  const cost = ({ way, width }: Frontier) => way - params.widthWorth * Math.min(width, WIDEST);
  const next = found.reduce<Frontier | null>(
    (best, one) => (best === null || cost(one) < cost(best) ? one : best),
    null,
  );
  const { current } = request;
  return {
    next,
    count: found.length,
    currentStands:
      current === null
        ? null
        : clusters.some((cells) =>
            cells.some((i) => distance(costmap.frame.centreOf(i), current) <= params.avoidRadius),
          ),
  };
}

/** Metres of way from a point to each cell that the robot can get to; −1 elsewhere. Steps along rows and columns. */
function waysFrom({ frame, cost }: StaticCostmap, from: Point): Float32Array {
  const ways = new Float32Array(cost.length).fill(-1);
  let ring = [nearestOpen(frame, cost, from)].filter((i) => i >= 0);
  for (const i of ring) ways[i] = 0;
  for (let way = frame.resolution; ring.length > 0; way += frame.resolution) {
    const next: number[] = [];
    for (const cell of ring) {
      forNeighbours(cell, frame.width, frame.height, (i) => {
        if ((ways[i] ?? 0) >= 0 || (cost[i] ?? 255) >= COST_INSCRIBED) return;
        ways[i] = way;
        next.push(i);
      });
    }
    ring = next;
  }
  return ways;
}

/** The robot may stand a little inside an obstacle's clearance. */
function nearestOpen(frame: StaticCostmap['frame'], cost: Uint8Array, from: Point): number {
  const reach = Math.ceil(0.5 / frame.resolution);
  const at = frame.toGrid(from);
  const [cx, cy] = [Math.floor(at.x), Math.floor(at.y)];
  let best = -1;
  let nearest = Number.POSITIVE_INFINITY;
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const i = frame.indexOf(cx + dx, cy + dy);
      const d = dx * dx + dy * dy;
      if (i < 0 || d >= nearest || (cost[i] ?? 255) >= COST_INSCRIBED) continue;
      [best, nearest] = [i, d];
    }
  }
  return best;
}

/** Marks unknown cells that belong to a region worth seeing; the outside of the grid counts as unknown without end. */
function largeUnknown({ cells, width, height, resolution }: OccupancyGrid, minArea: number): Uint8Array {
  const marks = new Uint8Array(cells.length);
  const enough = minArea / resolution ** 2;
  for (let start = 0; start < cells.length; start++) {
    if ((cells[start] ?? 0) >= 0 || marks[start] !== 0) continue;
    const region = [start];
    marks[start] = 2;
    let edge = false;
    for (let k = 0; k < region.length; k++) {
      const cell = region[k] ?? 0;
      const x = cell % width;
      const y = (cell - x) / width;
      edge ||= x === 0 || y === 0 || x === width - 1 || y === height - 1;
      forNeighbours(cell, width, height, (i) => {
        if ((cells[i] ?? 0) >= 0 || marks[i] !== 0) return;
        marks[i] = 2;
        region.push(i);
      });
    }
    if (edge || region.length >= enough) for (const i of region) marks[i] = 1;
  }
  return marks;
}

/** Cells that the robot can stand on next to large unknown ground, as groups of neighbours (eight). */
function clustersOf(
  { cells, width, height }: OccupancyGrid,
  ways: Float32Array,
  unknown: Uint8Array,
): number[][] {
  const isFrontier = new Uint8Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    if ((ways[i] ?? -1) < 0) continue;
    const x = i % width;
    if (x === 0 || x === width - 1 || i < width || i >= cells.length - width) isFrontier[i] = 1;
    forNeighbours(i, width, height, (k) => {
      if (unknown[k] === 1) isFrontier[i] = 1;
    });
  }
  const clusters: number[][] = [];
  for (let start = 0; start < cells.length; start++) {
    if (isFrontier[start] !== 1) continue;
    const cluster = [start];
    isFrontier[start] = 0;
    for (let k = 0; k < cluster.length; k++) {
      const cell = cluster[k] ?? 0;
      const x = cell % width;
      const y = (cell - x) / width;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          const [nx, ny] = [x + dx, y + dy];
          if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
          const i = ny * width + nx;
          if (isFrontier[i] !== 1) continue;
          isFrontier[i] = 0;
          cluster.push(i);
        }
      }
    }
    clusters.push(cluster);
  }
  return clusters;
}

/** The cell of a cluster nearest to its middle, looking at the unknown beside it. */
function frontierOf(
  cluster: readonly number[],
  grid: OccupancyGrid,
  { frame }: StaticCostmap,
  ways: Float32Array,
  unknown: Uint8Array,
): Frontier {
  const middle = meanOf(cluster.map((i) => frame.centreOf(i)));
  let best = cluster[0] ?? 0;
  for (const i of cluster) {
    if (distance(frame.centreOf(i), middle) < distance(frame.centreOf(best), middle)) best = i;
  }
  const beyond: Point[] = [];
  for (const cell of cluster) {
    forNeighbours(cell, grid.width, grid.height, (i) => {
      if (unknown[i] === 1) beyond.push(frame.centreOf(i));
    });
  }
  const { x, y } = frame.centreOf(best);
  const look = beyond.length > 0 ? meanOf(beyond) : middle;
  // From middle to middle: single cells are too coarse for a direction.
  const theta = Math.atan2(look.y - middle.y, look.x - middle.x);
  return { pose: { x, y, theta }, width: cluster.length * grid.resolution, way: ways[best] ?? 0 };
}

function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce((a, p) => ({ x: a.x + p.x, y: a.y + p.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

function forNeighbours(cell: number, width: number, height: number, visit: (i: number) => void): void {
  const x = cell % width;
  if (x > 0) visit(cell - 1);
  if (x + 1 < width) visit(cell + 1);
  if (cell >= width) visit(cell - width);
  if (cell + width < width * height) visit(cell + width);
}
