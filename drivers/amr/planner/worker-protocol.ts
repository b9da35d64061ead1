/** Messages between `PlannerClient` and its worker thread. */
import type { PlanResult } from '../../../config/contracts/amr.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import type { PlanningMap } from '../costmap/planning-map.js';
import type { PlannerParams } from './engine.js';

export type ToPlannerWorker =
  /** `map.cost` lies in shared memory. */
  | { t: 'map'; map: PlanningMap; params: PlannerParams }
  | { t: 'plan'; n: number; from: Pose; goal: Pose; live: Int32Array; people: Int32Array };

export type FromPlannerWorker = { t: 'planned'; n: number; result: PlanResult };
