/** Following a person, as its machine sees it. */
import type { BodyFacts } from '../body.js';

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
