/** The npm package `pathfinding` on the same grid: its own A*, and its jump point search. */
import { createRequire } from 'node:module';
import type { Point } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED } from '../../../drivers/amr/costmap/costs.js';
import type { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';

/** What of the package is used; it comes without types. */
interface Package {
  Grid: new (matrix: number[][]) => PeerGrid;
  AStarFinder: new (options: object) => Finder;
  JumpPointFinder: (options: object) => Finder;
  DiagonalMovement: { IfAtMostOneObstacle: number; OnlyWhenNoObstacles: number };
  Heuristic: { octile: unknown };
}
interface PeerGrid {
  clone(): PeerGrid;
}
interface Finder {
  findPath(x0: number, y0: number, x1: number, y1: number, grid: PeerGrid): number[][];
}

export interface PeerPlanner {
  name: string;
  /** Milliseconds of one search; copying the grid, which each search needs, is not counted. */
  plan(from: Point, goal: Point): number;
}

/** A cell is walkable for them where the robot's middle may be; they know no costs besides. */
export function pathfindingPeers(map: StaticCostmap): PeerPlanner[] {
  const pf: Package = createRequire(import.meta.url)('pathfinding');
  const { width, height } = map.geometry;
  const matrix = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => ((map.cost[y * width + x] ?? 255) >= COST_INSCRIBED ? 1 : 0)),
  );
  const grid = new pf.Grid(matrix);
  const options = {
    diagonalMovement: pf.DiagonalMovement.OnlyWhenNoObstacles,
    heuristic: pf.Heuristic.octile,
  };
  const finders = {
    'A*': new pf.AStarFinder(options),
    'jump point search': pf.JumpPointFinder(options),
  };
  return Object.entries(finders).map(([name, finder]) => ({
    name,
    plan: (from, goal) => {
      const cell = (p: Point) => {
        const g = map.frame.toGrid(p);
        return [Math.floor(g.x), Math.floor(g.y)] as const;
      };
      const copy = grid.clone();
      const began = performance.now();
      const path = finder.findPath(...cell(from), ...cell(goal), copy);
      const ms = performance.now() - began;
      if (path.length === 0) throw new Error(`pathfinding (${name}) found no way`);
      return ms;
    },
  }));
}
