import { DEFAULT_DOCK, type DockParams } from '../control/dock.js';
import { DEFAULT_FOLLOWER, type FollowerParams } from '../control/follower.js';
import { DEFAULT_LIMITS, type MotionLimits } from '../control/limits.js';
import { DEFAULT_PROGRESS, type ProgressParams } from '../control/progress.js';
import type { BackwardParams } from '../control/straight.js';
import { DEFAULT_INFLATION, type InflationParams } from '../costmap/costs.js';
import { DEFAULT_LIVE_LAYER, type LiveLayerParams } from '../costmap/live-layer.js';
import { DEFAULT_LOCALIZER, type LocalizerParams } from '../localisation/localizer.js';
import { LD19_TIMING, type ScanTiming } from '../localisation/scan-points.js';

/** How the robot deals with things in its way. */
export interface ObstacleParams {
  /** Kept free around the body where the robot drives, metres; less than the planner keeps, for its errors. */
  margin: number;
  /** A scan's point this near to a mapped obstacle is that obstacle, metres. */
  mapTolerance: number;
  /** Obstacles farther than this are not remembered, metres. */
  range: number;
  /** Live obstacles on the path up to this far ahead are driven round in time, metres. */
  lookAhead: number;
  /** The way must be barred this long before another one is looked for, ms: people walk on. */
  detourAfterMs: number;
  /** At least this long between two searches, ms, and at most so many for one action. */
  replanEveryMs: number;
  maxReplans: number;
  /** Barred for this long in all without getting nearer to the goal the action ends `blocked`, ms. */
  patienceMs: number;
  /** A scan older than this does not show what is in the way, ms; for how long it is waited for. */
  staleMs: number;
  staleEndsMs: number;
}

export interface NavigatorConfig {
  limits: MotionLimits;
  inflation: InflationParams;
  localizer: LocalizerParams;
  scanTiming: ScanTiming;
  liveLayer: LiveLayerParams;
  obstacles: ObstacleParams;
  follower: FollowerParams;
  progress: ProgressParams;
  dock: DockParams;
  /** For undocking and backing up. */
  backward: BackwardParams;
  undockSpeed: number;
}

/** For the reference robot (Create 2 class base, LD19 on top). */
export const DEFAULT_NAVIGATOR: NavigatorConfig = {
  limits: DEFAULT_LIMITS,
  inflation: DEFAULT_INFLATION,
  localizer: DEFAULT_LOCALIZER,
  scanTiming: LD19_TIMING,
  liveLayer: DEFAULT_LIVE_LAYER,
  obstacles: {
    margin: 0.015,
    mapTolerance: 0.15,
    range: 6,
    lookAhead: 2,
    detourAfterMs: 1500,
    replanEveryMs: 2000,
    maxReplans: 12,
    patienceMs: 8000,
    staleMs: 300,
    staleEndsMs: 2000,
  },
  follower: DEFAULT_FOLLOWER,
  progress: DEFAULT_PROGRESS,
  dock: DEFAULT_DOCK,
  backward: { speed: 0.12, brake: 0.5, stopShort: 0.05, patienceMs: 8000 },
  undockSpeed: 0.12,
};
