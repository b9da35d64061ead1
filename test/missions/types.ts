/** Vocabulary of the missions campaign. Metres, radians, world milliseconds. */
import type { Point } from '../../config/contracts/geometry.js';
import type { Home } from '../support/home.js';
import type { Belief } from './belief.js';
import type { Ground } from './ground.js';
import type { HazardStop, Recorder } from './recorder.js';

export const FAMILIES = [
  'plain',
  'obstacles',
  'people',
  'doors',
  'lidar',
  'wheels',
  'lines',
  'covered',
  'battery',
  'kidnap',
  'dark',
  'contact',
  'docking',
  'refused',
  'stopped',
] as const;
export type Family = (typeof FAMILIES)[number];

/** A home to drive in: where its world comes from. */
export interface Place {
  name: string;
  /** World file of another home than the simulator's first. */
  worldFile: string | null;
  /** `map_server` YAML of a world made from a map. */
  mapFile: string | null;
  cleanUp(): void;
}

/** What a mission needs while it runs. */
export interface Running {
  home: Home;
  ground: Ground;
  recorder: Recorder;
  belief: Belief;
  random: () => number;
}

/** What a mission's troubles act on. */
export interface Scene extends Running {
  /** Where the robot is being sent. */
  goal: Point;
}

/** Something that goes wrong on the way, once the robot has gone so far. */
export interface Trouble {
  what: string;
  afterM: number;
  /** Robot time until `end`, ms; null: it lasts. */
  lastsMs: number | null;
  begin(scene: Scene): Promise<void> | void;
  end?(scene: Scene): Promise<void> | void;
  /** The wheels have to stand within this time of it, ms, if they turned. */
  stopsWithinMs?: number;
  /** Reasons for which the move may end because of it. */
  excuses: readonly string[];
  /** The robot has lost its place for good, or was carried off: what it believes is watched. */
  carriesOff?: boolean;
}

export interface Leg {
  troubles: Trouble[];
  /** The end that is right once its trouble has begun; null: COMPLETED when there is a way. */
  expect: string | null;
  /** A place where nobody can stand, or off the map, instead of one with a way to it. */
  impossible?: boolean;
}

/** How one leg went. */
export interface LegResult {
  goal: Point;
  outcome: string;
  right: boolean;
  why: string;
  metres: number | null;
  idealS: number | null;
  tookS: number;
  troubles: string[];
}

export interface MissionResult {
  seed: number;
  family: Family;
  place: string;
  legs: LegResult[];
  /** Touches while our wheels turned; and touches by others while they stood still. */
  collisions: number;
  touchedByOthers: number;
  /** null: there was no way home, or the robot rightly refused to drive. */
  docked: boolean | null;
  dockOutcome: string;
  hazards: HazardStop[];
  /** Longest time that the robot was sure of a place it was not at, ms. */
  wronglySureMs: number;
  simulatedS: number;
  /** Of everything that happened in the world; equal for equal seeds. */
  trace: string;
  /** What was touched, lost events, and what broke. */
  problems: string[];
}
