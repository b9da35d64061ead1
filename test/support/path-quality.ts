/** How good planned ways are: against the shortest ones on the same ground, by their bends, and by what they keep clear of. */
import { distance, type Point, wrapAngle } from '../../config/contracts/geometry.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { COST_INSCRIBED } from '../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import { DEFAULT_PLANNER, PlanEngine, type PlannerParams } from '../../drivers/amr/planner/engine.js';
import { AnyAnglePaths } from './any-angle-path.js';

export interface PathQuality {
  ways: number;
  /** Ways that only one of the two found. */
  disagreements: number;
  /** Planned over shortest length: all ways together, and each for itself. */
  lengthRatio: number;
  ratios: number[];
  /** Sharpest turn between two pieces of a way, rad, of each way. */
  sharpest: number[];
  /** Whole turning of a way over that of the shortest one, rad per way. */
  turning: { planned: number; shortest: number };
  /** Share of the way that is nearer to an obstacle than 0.4 m: planned, and on the shortest. */
  near: { planned: number; shortest: number };
}

const NEAR = 0.4;
const SHORT = 2;

export function pathQuality(
  mapYaml: string,
  ways: number,
  seed: number,
  params: PlannerParams = DEFAULT_PLANNER,
): PathQuality {
  const costmap = new StaticCostmap(loadMapBundle(mapYaml));
  const { width, height, resolution, origin } = costmap.geometry;
  const closed = Uint8Array.from(costmap.cost, (cost) => (cost >= COST_INSCRIBED ? 1 : 0));
  const shortest = new AnyAnglePaths({ width, height, resolution, x: origin.x, y: origin.y, closed });
  const engine = new PlanEngine(costmap, params);
  const random = seededRandom(seed);
  const place = () => freePlace(costmap, random);
  const quality: PathQuality = {
    ways: 0,
    disagreements: 0,
    lengthRatio: 0,
    ratios: [],
    sharpest: [],
    turning: { planned: 0, shortest: 0 },
    near: { planned: 0, shortest: 0 },
  };
  let [planned, best, nearPlanned, nearBest] = [0, 0, 0, 0];
  for (let tries = 0; quality.ways < ways && tries < 50 * ways; tries++) {
    const [from, to] = [place(), place()];
    if (distance(from, to) < SHORT) continue;
    const plan = engine.plan({ ...from, theta: 0 }, { ...to, theta: 0 });
    const way = shortest.shortest(from, to);
    if (!plan.ok && way === null) continue;
    if (!plan.ok || way === null) {
      quality.disagreements += 1;
      continue;
    }
    quality.ways += 1;
    planned += plan.length;
    best += way.metres;
    quality.ratios.push(plan.length / way.metres);
    const turns = turnsOf(plan.path);
    quality.sharpest.push(Math.max(0, ...turns));
    quality.turning.planned += sum(turns);
    quality.turning.shortest += sum(turnsOf(way.points));
    nearPlanned += metresNear(costmap, plan.path);
    nearBest += metresNear(costmap, way.points);
  }
  quality.lengthRatio = planned / best;
  quality.near = { planned: nearPlanned / planned, shortest: nearBest / best };
  quality.turning.planned /= quality.ways;
  quality.turning.shortest /= quality.ways;
  return quality;
}

function freePlace(costmap: StaticCostmap, random: () => number): Point {
  for (;;) {
    const cell = Math.floor(random() * costmap.cost.length);
    if ((costmap.cost[cell] ?? 255) < COST_INSCRIBED) return costmap.frame.centreOf(cell);
  }
}

/** Between each two pieces, rad, without sign. */
function turnsOf(points: readonly Point[]): number[] {
  const turns: number[] = [];
  for (let i = 2; i < points.length; i++) {
    const [a, b, c] = [points[i - 2], points[i - 1], points[i]];
    if (a === undefined || b === undefined || c === undefined) continue;
    if (distance(a, b) < 1e-6 || distance(b, c) < 1e-6) continue;
    turns.push(Math.abs(wrapAngle(Math.atan2(c.y - b.y, c.x - b.x) - Math.atan2(b.y - a.y, b.x - a.x))));
  }
  return turns;
}

function metresNear(costmap: StaticCostmap, points: readonly Point[]): number {
  let metres = 0;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    if (a === undefined || b === undefined) continue;
    const steps = Math.ceil(distance(a, b) / 0.05);
    for (let k = 0; k < steps; k++) {
      const p = { x: a.x + ((b.x - a.x) * (k + 0.5)) / steps, y: a.y + ((b.y - a.y) * (k + 0.5)) / steps };
      if ((costmap.wallDistance[costmap.frame.indexAt(p)] ?? 0) < NEAR) metres += distance(a, b) / steps;
    }
  }
  return metres;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
