import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distance, type Point, type Pose } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED, COST_LETHAL } from '../../../drivers/amr/costmap/costs.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle, mapBundle } from '../../../drivers/amr/map/bundle.js';
import { BucketQueue } from '../../../drivers/amr/planner/bucket-queue.js';
import { PlanEngine } from '../../../drivers/amr/planner/engine.js';
import { GridSearch } from '../../../drivers/amr/planner/grid-search.js';
import { InlinePlanner } from '../../../drivers/amr/planner/inline-planner.js';
import { lineCost } from '../../../drivers/amr/planner/line-cost.js';
import { PlanningGrid, stepCosts } from '../../../drivers/amr/planner/planning-grid.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { itWithShared } from '../../support/shared-data.js';
import { box, EMPTY_AREAS, flat, freeGrid, outline, wall } from './support/grids.js';

const pose = (x: number, y: number, theta = 0): Pose => ({ x, y, theta });

/** Rooms with random boxes in them. */
const cluttered = fc
  .array(
    fc.tuple(
      fc.double({ min: 0, max: 5, noNaN: true }),
      fc.double({ min: 0, max: 5, noNaN: true }),
      fc.double({ min: 0.05, max: 1.2, noNaN: true }),
      fc.double({ min: 0.05, max: 1.2, noNaN: true }),
    ),
    { minLength: 3, maxLength: 14 },
  )
  .map((boxes) => {
    const grid = freeGrid(6, 6);
    outline(grid);
    for (const [x, y, w, h] of boxes) wall(grid, x, y, x + w, y + h);
    return mapBundle(grid, EMPTY_AREAS);
  });

/** The cheapest way between two cells by plain Dijkstra over the same costs; `Infinity` when there is none. */
function cheapest(grid: PlanningGrid, costs: Float64Array, from: number, to: number): number {
  const best = new Float64Array(grid.cost.length).fill(Number.POSITIVE_INFINITY);
  const open = [from];
  best[from] = 0;
  while (open.length > 0) {
    const cell = open.shift() ?? 0;
    const [x, y] = [cell % grid.width, Math.floor(cell / grid.width)];
    for (const [dx, dy] of NEIGHBOURS) {
      const next = grid.frame.indexOf(x + dx, y + dy);
      if (next < 0 || grid.blocked(next)) continue;
      if (dx !== 0 && dy !== 0) {
        if (grid.blocked(grid.frame.indexOf(x + dx, y)) || grid.blocked(grid.frame.indexOf(x, y + dy)))
          continue;
      }
      const d = (best[cell] ?? 0) + Math.hypot(dx, dy) * (costs[grid.cost[next] ?? 255] ?? 0);
      if (d < (best[next] ?? 0) - 1e-9) {
        best[next] = d;
        open.push(next);
      }
    }
  }
  return best[to] ?? Number.POSITIVE_INFINITY;
}

const NEIGHBOURS = [-1, 0, 1]
  .flatMap((dx) => [-1, 0, 1].map((dy) => [dx, dy] as const))
  .filter(([a, b]) => a || b);

function costOfCells(grid: PlanningGrid, costs: Float64Array, cells: readonly number[]): number {
  let sum = 0;
  for (let i = 1; i < cells.length; i++) {
    const [a, b] = [cells[i - 1] ?? 0, cells[i] ?? 0];
    const straight = Math.abs(a - b) === 1 || Math.abs(a - b) === grid.width;
    sum += (straight ? 1 : Math.SQRT2) * (costs[grid.cost[b] ?? 255] ?? 0);
  }
  return sum;
}

/** Asserts that a straight walk along the path never enters a closed cell. */
function expectFree(bundle: MapBundle, path: readonly Point[], from = 0): void {
  const grid = new PlanningGrid(new StaticCostmap(bundle));
  const costs = stepCosts(0);
  for (let i = Math.max(1, from + 1); i < path.length; i++) {
    const a = grid.frame.toGrid(path[i - 1] ?? { x: 0, y: 0 });
    const b = grid.frame.toGrid(path[i] ?? { x: 0, y: 0 });
    expect(lineCost(grid, costs, a.x, a.y, b.x, b.y)).toBeLessThan(Number.POSITIVE_INFINITY);
  }
}

describe('planned paths', () => {
  it('never touch closed cells, and are no shorter than the straight line, in any room', () => {
    fc.assert(
      fc.property(
        cluttered,
        fc.infiniteStream(fc.double({ min: 0.3, max: 5.7, noNaN: true })),
        (bundle, coords) => {
          const next = () => coords.next().value as number;
          const [from, goal] = [pose(next(), next()), pose(next(), next(), 1)];
          const plan = new PlanEngine(new StaticCostmap(bundle)).plan(from, goal);
          if (!plan.ok) return;
          expect(plan.path[0]).toMatchObject({ x: from.x, y: from.y });
          expect(plan.path[plan.path.length - 1]).toEqual(goal);
          expect(plan.length).toBeGreaterThanOrEqual(distance(from, goal) - 1e-9);
          expectFree(bundle, plan.path, plan.escape);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('cost at most 1.1 times what an exhaustive search finds, and exist whenever it finds one', () => {
    const costs = stepCosts(3);
    fc.assert(
      fc.property(cluttered, fc.nat(), fc.nat(), (bundle, a, b) => {
        const grid = new PlanningGrid(new StaticCostmap(bundle));
        const free = [...grid.cost.keys()].filter((i) => !grid.blocked(i));
        const [from, to] = [free[a % free.length] ?? 0, free[b % free.length] ?? 0];
        const best = cheapest(grid, costs, from, to);
        const found = new GridSearch(grid, costs).search(from, to);
        if (best === Number.POSITIVE_INFINITY) expect(found).toBeNull();
        else expect(costOfCells(grid, costs, found ?? [])).toBeLessThanOrEqual(1.1 * best + 1e-6);
      }),
      { numRuns: 60 },
    );
  });

  it('are at most 1.1 times as long as the shortest grid path when nearness to walls costs nothing', () => {
    const costs = stepCosts(0);
    fc.assert(
      fc.property(cluttered, fc.nat(), fc.nat(), (bundle, a, b) => {
        const costmap = new StaticCostmap(bundle);
        const grid = new PlanningGrid(costmap);
        const free = [...grid.cost.keys()].filter((i) => !grid.blocked(i));
        const [from, to] = [free[a % free.length] ?? 0, free[b % free.length] ?? 0];
        const best = cheapest(grid, costs, from, to) * 0.05;
        const at = (cell: number) => ({ ...grid.frame.centreOf(cell), theta: 0 });
        const plan = new PlanEngine(costmap, { obstacleWeight: 0, spacing: 0.1 }).plan(at(from), at(to));
        if (plan.ok) expect(plan.length).toBeLessThanOrEqual(1.1 * best + 0.01);
        else expect(best).toBe(Number.POSITIVE_INFINITY);
      }),
      { numRuns: 40 },
    );
  });

  it('go through the middle of the narrow door', () => {
    const plan = new PlanEngine(new StaticCostmap(flat())).plan(pose(1, 1.2), pose(5.5, 3.8));
    if (!plan.ok) throw new Error(plan.message);
    const inDoor = plan.path.filter((p) => p.x > 4.45 && p.x < 4.65);
    expect(inDoor.length).toBeGreaterThan(0);
    for (const p of inDoor) expect(Math.abs(p.y - 4.7)).toBeLessThan(0.08);
  });

  it('keep out of keep-out areas', () => {
    const bundle = flat();
    const barred = { ...bundle.areas, keepout: [{ id: 'k', polygon: box(4.4, 4.3, 4.7, 5.1) }] };
    const plan = new PlanEngine(new StaticCostmap(mapBundle(bundle.grid, barred))).plan(
      pose(1, 1),
      pose(5.5, 3.8),
    );
    expect(plan).toMatchObject({ ok: false, reason: 'unreachable' });
  });

  it('lead out of an obstacle’s clearance by the short way, not through the wall', () => {
    const bundle = flat();
    const costmap = new StaticCostmap(bundle);
    // Pressed against the wall between the living room and the kitchen, on the living room's side.
    const from = pose(4.33, 3, 0);
    expect(costmap.costAt(from)).toBe(COST_INSCRIBED);
    const plan = new PlanEngine(costmap).plan(from, pose(6, 1.8));
    if (!plan.ok) throw new Error(plan.message);
    expect(plan.escape).toBeGreaterThan(0);
    for (const p of plan.path.slice(0, plan.escape + 1)) expect(costmap.costAt(p)).toBeLessThan(COST_LETHAL);
    expectFree(bundle, plan.path, plan.escape);
  });

  it('say why there is none', () => {
    const engine = new PlanEngine(new StaticCostmap(flat()));
    const why = (from: Pose, goal: Pose, live?: Int32Array) => {
      const plan = engine.plan(from, goal, live);
      return plan.ok ? 'ok' : [plan.reason, plan.message];
    };
    expect(why(pose(1, 1), pose(50, 1))).toEqual(['off_map', 'the goal (50.00, 1.00) is off the map']);
    expect(why(pose(-1, 1), pose(1, 1))).toEqual(['off_map', 'the start (-1.00, 1.00) is off the map']);
    expect(why(pose(1, 1), pose(2.1, 2.5))[1]).toContain('no room for the robot because of the map');
    const index = new PlanningGrid(new StaticCostmap(flat())).frame.indexAt(pose(3, 3.5));
    expect(why(pose(1, 1), pose(3, 3.5), Int32Array.of(index))).toEqual([
      'goal_occupied',
      'the goal (3.00, 3.50) has no room for the robot because of an obstacle seen now',
    ]);
    // The same goal is fine again once nothing stands there.
    expect(why(pose(1, 1), pose(3, 3.5))).toBe('ok');
  });

  it('tell a door that somebody stands in now from one that is none, and say where', () => {
    const costmap = new StaticCostmap(flat());
    const engine = new PlanEngine(costmap);
    const inDoor = { x: 4.55, y: 4.7 };
    const live = Int32Array.of(costmap.frame.indexAt(inDoor));
    const barred = engine.plan(pose(1, 1.2), pose(5.5, 3.8), live);
    expect(barred).toMatchObject({ ok: false, reason: 'obstructed' });
    if (barred.ok || barred.where === undefined) throw new Error('no place');
    expect(distance(barred.where, inDoor)).toBeLessThan(0.35);
    expect(barred.message).toContain('an obstacle seen now');
    // Once he has gone there is a way again.
    expect(engine.plan(pose(1, 1.2), pose(5.5, 3.8))).toMatchObject({ ok: true });
    const bundle = flat();
    const closed = { ...bundle.areas, keepout: [{ id: 'k', polygon: box(4.4, 4.3, 4.7, 5.1) }] };
    const none = new PlanEngine(new StaticCostmap(mapBundle(bundle.grid, closed)));
    expect(none.plan(pose(1, 1), pose(5.5, 3.8), live)).toMatchObject({ ok: false, reason: 'unreachable' });
  });

  it('go round what stands there now, and back once it has gone', () => {
    const costmap = new StaticCostmap(flat());
    const engine = new PlanEngine(costmap);
    const [from, goal] = [pose(1, 1.2), pose(4, 1.2)];
    const direct = engine.plan(from, goal);
    const live = Int32Array.of(costmap.frame.indexAt({ x: 2.5, y: 1.25 }), -5, 10_000_000);
    const round = engine.plan(from, goal, live);
    const again = engine.plan(from, goal);
    if (!direct.ok || !round.ok || !again.ok) throw new Error('no plan');
    expect(Math.min(...round.path.map((p) => distance(p, { x: 2.5, y: 1.25 })))).toBeGreaterThan(0.2);
    expect(round.length).toBeGreaterThan(direct.length);
    expect(again.path).toEqual(direct.path);
  });

  it('may be of no length at all', () => {
    const plan = new PlanEngine(new StaticCostmap(flat())).plan(pose(1, 1), pose(1, 1, 2));
    expect(plan).toMatchObject({ ok: true, length: 0 });
  });

  it('work on a turned map as on a straight one', () => {
    const straight = flat();
    const turned = mapBundle({ ...straight.grid, origin: { x: 0, y: 0, theta: 0.6 } }, EMPTY_AREAS);
    const costmap = new StaticCostmap(turned);
    const at = (x: number, y: number) => ({ ...costmap.frame.toMap({ x: x / 0.05, y: y / 0.05 }), theta: 0 });
    // Inside their cells: on an edge, rounding decides which of two cells a place belongs to.
    const plan = new PlanEngine(costmap).plan(at(1.02, 1.22), at(5.52, 3.82));
    const other = new PlanEngine(new StaticCostmap(mapBundle(straight.grid, EMPTY_AREAS))).plan(
      pose(1.02, 1.22),
      pose(5.52, 3.82),
    );
    if (!plan.ok || !other.ok) throw new Error('no plan');
    expect(plan.length).toBeCloseTo(other.length, 6);
  });

  itWithShared('connect the rooms of a real house', 'maps/aws_small_house/map.yaml', (path) => {
    const bundle = loadMapBundle(path);
    const engine = new PlanEngine(new StaticCostmap(bundle));
    const plan = engine.plan(pose(-3, 1), pose(6, -1));
    if (!plan.ok) throw new Error(plan.message);
    expect(plan.length).toBeGreaterThan(9);
    expectFree(bundle, plan.path, plan.escape);
  });

  itWithShared('cross the warehouse', 'maps/nav2_bringup/warehouse.yaml', (path) => {
    const bundle = loadMapBundle(path);
    const plan = new PlanEngine(new StaticCostmap(bundle)).plan(pose(-12, -22), pose(12, 20));
    if (!plan.ok) throw new Error(plan.message);
    expect(plan.length).toBeLessThan(1.4 * distance(pose(-12, -22), pose(12, 20)));
    expectFree(bundle, plan.path, plan.escape);
  });
});

describe('the queue of the searches', () => {
  it('gives the smallest distance first, also when they go down again, and each node once per time it was added', () => {
    const step = fc.oneof(fc.record({ by: fc.integer({ min: -60, max: 200 }) }), fc.constant(null));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const queue = new BucketQueue(4096);
        const waiting: { distance: number; node: number }[] = [];
        let last = 10_000;
        steps.forEach((one, node) => {
          if (one !== null) {
            const distance = Math.max(9_000, Math.min(12_000, last + one.by));
            queue.push(distance, node);
            waiting.push({ distance, node });
            return;
          }
          const got = queue.pop();
          if (waiting.length === 0) {
            expect(got).toBe(-1);
            return;
          }
          last = Math.min(...waiting.map((w) => w.distance));
          expect(queue.distance).toBe(last);
          const at = waiting.findIndex((w) => w.node === got && w.distance === last);
          expect(at).toBeGreaterThanOrEqual(0);
          waiting.splice(at, 1);
        });
        for (let left = waiting.length; left > 0; left--) expect(queue.pop()).toBeGreaterThanOrEqual(0);
        expect(queue.pop()).toBe(-1);
      }),
      { numRuns: 200 },
    );
  });

  it('loses no node whose distance lies farther off than it holds', () => {
    const queue = new BucketQueue(16);
    queue.push(100, 1);
    queue.push(1_000, 2);
    queue.push(3, 3);
    queue.push(101, 4);
    expect([queue.pop(), queue.pop(), queue.pop(), queue.pop(), queue.pop()].sort()).toEqual([
      -1, 1, 2, 3, 4,
    ]);
    queue.push(7, 5);
    expect([queue.pop(), queue.distance]).toEqual([5, 7]);
  });
});

describe('costs with live obstacles', () => {
  it('depend on the last ones alone, whatever was laid down before', () => {
    const costmap = new StaticCostmap(flat());
    const cells = fc.array(fc.integer({ min: -10, max: costmap.cost.length + 10 }), { maxLength: 6 });
    const grid = new PlanningGrid(costmap);
    fc.assert(
      fc.property(cells, cells, (first, last) => {
        grid.setLive(Int32Array.from(first));
        grid.setLive(Int32Array.from(last));
        const fresh = new PlanningGrid(costmap);
        fresh.setLive(Int32Array.from(last));
        expect(Buffer.from(grid.cost).equals(Buffer.from(fresh.cost))).toBe(true);
        expect(Buffer.from(grid.links).equals(Buffer.from(fresh.links))).toBe(true);
        expect(Buffer.from(grid.blockCost).equals(Buffer.from(fresh.blockCost))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the inline planner', () => {
  it('answers no_map until it has one', async () => {
    const planner = new InlinePlanner();
    expect(await planner.plan(pose(0, 0), pose(1, 1), new Int32Array(0))).toMatchObject({ reason: 'no_map' });
    planner.setMap(new StaticCostmap(flat()));
    expect(await planner.plan(pose(1, 1), pose(3, 3.5), new Int32Array(0))).toMatchObject({ ok: true });
    expect(planner.pending).toBe(0);
  });
});
