import type { MotionAction, PlanResult } from '../../../config/contracts/amr.js';
import { assertNever } from '../../../config/contracts/errors.js';
import type { Point, Pose } from '../../../config/contracts/geometry.js';
import { DockController } from '../control/dock.js';
import { DriveController } from '../control/manual.js';
import { SpinController } from '../control/spin.js';
import { BackUpController, UndockController } from '../control/straight.js';
import type { Controller } from '../control/types.js';
import { FollowPersonController } from '../following/follow-person.js';
import { MeasureController } from '../maintenance/measure.js';
import type { PersonTrack } from '../tracking/types.js';
import type { NavigatorConfig } from './config.js';
import { FollowPathController } from './follow-path.js';
import type { LiveObstacles } from './live-obstacles.js';

export interface ControllerParts {
  config: NavigatorConfig;
  /** Null without a map. */
  ground: {
    obstacles: LiveObstacles;
    speedLimitAt(p: Point): number | null;
    isFree(p: Point): boolean;
    isKeepout(p: Point): boolean;
    /** Who is near, in the `map` frame. */
    people(): readonly PersonTrack[];
    plan(from: Pose, goal: Pose): Promise<PlanResult>;
  } | null;
}

/** The controller that carries out an action; null when there is no map and it needs one. */
export function createController(action: MotionAction, parts: ControllerParts): Controller | null {
  const { config, ground } = parts;
  switch (action.kind) {
    case 'followPath':
      if (ground === null) return null;
      return new FollowPathController(action, {
        config,
        ground: {
          ...ground,
          speedLimitAt: (p) => slower(ground.speedLimitAt(p), ground.obstacles.speedNearPeople(p)),
          isMapped: (p) => ground.obstacles.isMapped(p),
        },
        obstacles: ground.obstacles,
        plan: ground.plan,
      });
    case 'follow':
      if (ground === null) return null;
      return new FollowPersonController(action, {
        config,
        ground: { ...ground, isMapped: (p) => ground.obstacles.isMapped(p) },
        plan: ground.plan,
        people: ground.people,
      });
    case 'spin':
      return new SpinController(action.angle, action.tolerance, config.follower.turn);
    case 'backUp':
      return new BackUpController(action.distance, { ...config.backward, speed: Math.abs(action.speed) });
    case 'drive':
      return new DriveController(action.twist, action.ttlMs, config.limits.brake, ground);
    case 'dock':
      return ground === null
        ? null
        : new DockController(action.station, config.inflation.robotRadius, config.dock);
    case 'measure':
      return new MeasureController(action.legs, config.limits.wheelBase);
    case 'undock':
      return new UndockController(action.clearance, { ...config.backward, speed: config.undockSpeed });
    default:
      return assertNever(action);
  }
}

function slower(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
