/**
 * Missions: a robot in a simulated home is sent to places while the home does what homes do, and is judged by what
 * really happened. Everything about a mission follows from its seed.
 */
import type { Point, Pose } from '../../config/contracts/geometry.js';

export const FAMILIES = [
  'clear',
  'obstacles',
  'people',
  'doors',
  'sensors',
  'wheels',
  'carried',
  'battery',
  'refused',
  'stopped',
] as const;
export type Family = (typeof FAMILIES)[number];

export const HOMES = ['two-bedroom', 'narrow-flat', 'long-house'] as const;
export type HomeName = (typeof HOMES)[number];

/** What happens while a leg is driven, so long after it began. `words`: as `deviceagent sim inject` takes them. */
export type Trouble = { afterMs: number } & (
  | { kind: 'inject'; words: string[] }
  | { kind: 'obstacle'; at: Point }
  | { kind: 'clear_obstacles' }
  | { kind: 'walker'; from: Point; to: Point; speed: number }
  | { kind: 'people_leave' }
  | { kind: 'carry'; to: Pose }
  | { kind: 'estop'; releaseAfterMs: number }
);

/** How a leg may end and be right. */
export type Outcome = 'arrived' | 'obstructed' | 'refused' | 'low_battery' | 'stopped';

export interface Leg {
  /** Where to; null: home, onto the contacts. */
  goal: Pose | null;
  /** The shortest way on the map without anything in it, m; null where there is none. */
  shortest: number | null;
  right: Outcome[];
  troubles: Trouble[];
  /** What is put right before the leg begins. */
  before: Trouble[];
}

export interface Mission {
  seed: number;
  family: Family;
  home: HomeName;
  legs: Leg[];
}

export interface LegResult {
  goal: Pose | null;
  outcome: Outcome | 'failed';
  ok: boolean;
  /** What the robot said, and what really was. */
  says: string;
  /** Robot time, s. */
  seconds: number;
  /** At full speed over the shortest way, s; null when it did not arrive. */
  ideal: number | null;
  /** Really gone, m. */
  metres: number;
  troubled: boolean;
}

export interface MissionResult {
  seed: number;
  family: Family;
  home: HomeName;
  ok: boolean;
  legs: LegResult[];
  /** Touches that the robot's own motion brought about, each with what and where. */
  collisions: string[];
  /** On its contacts at the end, where it could be. */
  docked: boolean | null;
  /** Anything that no mission may show: events lost, an end that is none, an exception. */
  defects: string[];
  robotSeconds: number;
  wallSeconds: number;
}
