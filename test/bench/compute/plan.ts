/** Planning across a large map. */
import type { Pose } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED } from '../../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle } from '../../../drivers/amr/map/bundle.js';
import { PlanEngine } from '../../../drivers/amr/planner/engine.js';
import { sharedPath } from '../../support/shared-path.js';
import type { Bench } from '../report.js';
import { median, round } from '../support/stats.js';
import { farPairs, largeMap } from './large-map.js';
import { pathfindingPeers } from './pathfinding-peer.js';

const LARGEST_SHARED = 'maps/nav2_bringup/warehouse.yaml';

interface Pair {
  from: Pose;
  goal: Pose;
}

export const planBench: Bench = {
  groups: ['plan'],
  method:
    'Whole plans (search over costs, pulled tight, smoothed, resampled) between far corners of a furnished building of ' +
    '1000 × 1000 cells of 5 cm: the median over five pairs and several runs. Peer: the faster of A* and jump point ' +
    'search of the npm package pathfinding for the same pairs on the same cells; it finds cells only, without costs.',
  async run({ quick, progress }) {
    const rounds = quick ? 3 : 9;
    const map = new StaticCostmap(largeMap());
    const ours = planTimes(map, farPairs(), rounds);
    const peers = pathfindingPeers(map).map(({ name, plan }) => {
      const times = farPairs().flatMap(({ from, goal }) =>
        Array.from({ length: quick ? 1 : 3 }, () => plan(from, goal)),
      );
      progress(`pathfinding ${name}: ${median(times).toFixed(0)} ms`);
      return { name, ms: median(times) };
    });
    const fastest = peers.reduce((a, b) => (b.ms < a.ms ? b : a));
    const ms = median(ours);
    const notes = [
      `slowest plan ${Math.max(...ours).toFixed(1)} ms; ` +
        peers.map((peer) => `pathfinding ${peer.name} ${peer.ms.toFixed(0)} ms`).join(', '),
    ];
    const shared = sharedPath(LARGEST_SHARED);
    notes.push(
      shared === null ? `../shared/data/${LARGEST_SHARED} is not there` : onSharedMap(shared, rounds),
    );
    return {
      figures: {
        plan: { ms_1000x1000: round(ms, 2), ratio_vs_pathfinding: round(fastest.ms / ms, 1) },
      },
      notes,
    };
  },
};

/** Milliseconds of each plan; the first round, in which code is compiled, does not count. */
function planTimes(map: StaticCostmap, pairs: readonly Pair[], rounds: number): number[] {
  const engine = new PlanEngine(map);
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const { from, goal } of pairs) {
      const began = performance.now();
      const plan = engine.plan(from, goal);
      const ms = performance.now() - began;
      if (!plan.ok) throw new Error(plan.message);
      if (round > 0) times.push(ms);
    }
  }
  return times;
}

/** The largest real map there is: plans between places that lie farthest apart in its free space. */
function onSharedMap(yaml: string, rounds: number): string {
  const map = new StaticCostmap(loadMapBundle(yaml));
  const pairs = reachablePairs(map);
  const times = planTimes(map, pairs, rounds);
  const { width, height } = map.geometry;
  return (
    `largest map of the shared data (warehouse, ${width} × ${height}): median ${median(times).toFixed(1)} ms, ` +
    `slowest ${Math.max(...times).toFixed(1)} ms, over ${pairs.length} pairs`
  );
}

function reachablePairs(map: StaticCostmap): Pair[] {
  const engine = new PlanEngine(map);
  const corners = [0.05, 0.35, 0.65, 0.95].flatMap((fx) =>
    [0.05, 0.5, 0.95].map((fy) => freeNear(map, fx, fy)),
  );
  const pairs = corners.flatMap((from, i) => corners.slice(i + 1).map((goal) => ({ from, goal })));
  const found = pairs.flatMap((pair) => {
    const plan = engine.plan(pair.from, pair.goal);
    return plan.ok ? [{ ...pair, length: plan.length }] : [];
  });
  if (found.length === 0) throw new Error('no two places of the map are connected');
  return found.sort((a, b) => b.length - a.length).slice(0, 8);
}

/** The free cell nearest to a place given as shares of width and height. */
function freeNear(map: StaticCostmap, fx: number, fy: number): Pose {
  const { width, height } = map.geometry;
  const [x, y] = [Math.round(fx * (width - 1)), Math.round(fy * (height - 1))];
  let best = { cell: 0, d: Number.POSITIVE_INFINITY };
  for (let cell = 0; cell < map.cost.length; cell++) {
    if ((map.cost[cell] ?? 255) >= COST_INSCRIBED) continue;
    const d = (Math.floor(cell / width) - y) ** 2 + ((cell % width) - x) ** 2;
    if (d < best.d) best = { cell, d };
  }
  const p = map.frame.toMap({ x: (best.cell % width) + 0.5, y: Math.floor(best.cell / width) + 0.5 });
  return { ...p, theta: 0 };
}
