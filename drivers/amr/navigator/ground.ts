import type { StaticCostmap } from '../costmap/static-costmap.js';
import type { Whereabouts } from '../explore/mapped-place.js';
import type { MapBundle } from '../types.js';
import type { LiveObstacles } from './live-obstacles.js';

/** What belongs to one map. */
export interface Ground {
  bundle: MapBundle;
  costmap: StaticCostmap;
  localizer: Whereabouts;
  obstacles: LiveObstacles;
}
