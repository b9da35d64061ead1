import type { PlanResult } from '../../../config/contracts/amr.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import type { PlanningMap } from '../costmap/planning-map.js';
import type { GridPlan, Planner } from '../types.js';
import { DEFAULT_PLANNER, PlanEngine, type PlannerParams } from './engine.js';

/** Plans in the caller's own thread: for fast simulation and tests, where nothing waits for the control loop. */
export class InlinePlanner implements Planner {
  readonly pending = 0;
  readonly #params: PlannerParams;
  #engine: PlanEngine | null = null;
  #plans = 0;

  constructor(params: PlannerParams = DEFAULT_PLANNER) {
    this.#params = params;
  }

  setMap(map: PlanningMap | null): void {
    this.#engine = map === null ? null : new PlanEngine(map, this.#params);
  }

  plan(from: Pose, goal: Pose, live: Int32Array, people?: Int32Array): Promise<PlanResult> {
    this.#plans++;
    return Promise.resolve(
      this.#engine === null ? NO_MAP : toPlanResult(this.#engine.plan(from, goal, live, people)),
    );
  }

  counters(): Record<string, number> {
    return { planner_plans: this.#plans };
  }

  close(): Promise<void> {
    this.#engine = null;
    return Promise.resolve();
  }
}

export const NO_MAP: PlanResult = { ok: false, reason: 'no_map', message: 'no map is loaded' };

export function toPlanResult(plan: GridPlan): PlanResult {
  return plan.ok ? { ok: true, path: plan.path, length: plan.length } : plan;
}
