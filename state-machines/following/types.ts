/** Following a person, as executors see it and as its machine does. */
import type { Pose } from '../../config/contracts/geometry.js';
import type { BodyFacts } from '../body.js';
import type { Operation } from '../motion-types.js';

export interface FollowRequest extends Operation {
  maxDurationMs: number;
}

/** A session that ended by itself, with the wheels at rest. */
export interface Following {
  ended: 'time_over' | 'person_lost';
  /** Robot time at which there was somebody to follow. */
  startedAtMs: number;
  followedMs: number;
  pose: Pose | null;
  observedAtMs: number;
  stoppedForMs: number;
}

export interface FollowingContext {
  /** Robot time at which somebody was found first; null before. */
  startedAt: number | null;
  /** Robot time since which the battery counts as low. */
  batteryLow: boolean;
}

export type FollowingEvent =
  /** What the motion process says that it does. */
  { type: 'NOTE'; at: number; note: string | null } | { type: 'FACTS'; at: number; facts: BodyFacts };

export type FollowingEffect =
  | { kind: 'stage'; stage: string }
  | { kind: 'started' }
  /** To be stopped, and ended LOW_BATTERY. */
  | { kind: 'low_battery' };
