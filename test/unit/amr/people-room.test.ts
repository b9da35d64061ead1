import { describe, expect, it } from 'vitest';
import { distance, type Point } from '../../../config/contracts/geometry.js';
import { personCells, placesOf, speedNear } from '../../../drivers/amr/costmap/people-room.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { PlanEngine } from '../../../drivers/amr/planner/engine.js';
import type { PersonTrack } from '../../../drivers/amr/tracking/types.js';
import { flat } from './support/grids.js';

function person(change: Partial<PersonTrack> = {}): PersonTrack {
  return {
    id: 1,
    x: 2,
    y: 2,
    vx: 0,
    vy: 0,
    confidence: 0.9,
    unseenMs: 0,
    spread: 0.05,
    radius: 0.16,
    ...change,
  };
}

describe('the room that people are given', () => {
  it('is where they stand, and where they will be while they walk', () => {
    expect(placesOf(person())).toEqual([{ x: 2, y: 2 }]);
    const places = placesOf(person({ vx: 0.8 }));
    expect(places.at(-1)).toEqual({ x: 3.6, y: 2 });
    expect(placesOf(person({ confidence: 0.2 }))).toEqual([]);
  });

  it('slows the robot down, the more the nearer it passes', () => {
    const near = speedNear([person()], { x: 2.5, y: 2 }) ?? 1;
    const by = speedNear([person()], { x: 3, y: 2 }) ?? 1;
    expect(near).toBeLessThan(by);
    expect(speedNear([person()], { x: 4, y: 2 })).toBeNull();
    // Coming on, they are where they will be in half a second.
    expect(speedNear([person({ vx: 1 })], { x: 3.3, y: 2 })).not.toBeNull();
  });

  it('makes a way keep farther off where there is room, and closes none', () => {
    const bundle = flat();
    const costmap = new StaticCostmap(bundle);
    const engine = new PlanEngine(costmap);
    const [from, goal] = [
      { x: 1, y: 1.2, theta: 0 },
      { x: 3, y: 3.5, theta: 0 },
    ];
    const alone = engine.plan(from, goal);
    if (!alone.ok) throw new Error(alone.message);
    const middle = alone.path[Math.floor(alone.path.length / 2)] ?? from;
    const cells = personCells([person({ x: middle.x + 0.3, y: middle.y })], costmap.frame);
    const round = engine.plan(from, goal, new Int32Array(0), cells);
    if (!round.ok) throw new Error(round.message);
    const nearest = (path: readonly Point[]) =>
      Math.min(...path.map((p) => distance(p, { x: middle.x + 0.3, y: middle.y })));
    expect(nearest(round.path)).toBeGreaterThan(nearest(alone.path));
    // And they are gone with the next plan.
    expect(engine.plan(from, goal)).toEqual(alone);
    const everywhere = Int32Array.from({ length: costmap.cost.length }, (_, i) => i).filter(
      (i) => i % 7 === 0,
    );
    expect(engine.plan(from, goal, new Int32Array(0), everywhere).ok).toBe(true);
  });
});
