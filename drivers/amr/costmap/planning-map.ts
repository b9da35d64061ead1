import type { InflationParams } from './costs.js';
import type { GridGeometry } from './grid-frame.js';

/** What a planner needs of a map. Arrays lie in shared memory, so a worker thread can have them without a copy. */
export interface PlanningMap {
  readonly mapId: string;
  readonly geometry: GridGeometry;
  readonly inflation: InflationParams;
  /** One byte per cell, row-major from the lower left; see `costs.ts`. */
  readonly cost: Uint8Array;
}
