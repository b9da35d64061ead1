/** The room that people are given: where they are, and where they will be while the robot passes. */
import { distance, type Point } from '../../../config/contracts/geometry.js';
import type { PersonTrack } from '../tracking/types.js';
import type { GridFrame } from './grid-frame.js';

/** Surer than this that it is a person at all, 0…1. */
const SURE = 0.4;
/** Slower than this somebody stands, m/s. */
const WALKS = 0.15;
/** Looked ahead along a walk in these steps, s. */
const AHEAD = [0.5, 1, 1.5, 2] as const;

/**
 * Speed limits by the distance from the robot's middle to the middle of the person, m and m/s, nearest first. A person
 * should not have to step aside, nor wonder whether it has seen them.
 */
const SPEED_NEAR: readonly { within: number; limit: number }[] = [
  { within: 0.65, limit: 0.12 },
  { within: 1.1, limit: 0.2 },
];

/** Where somebody is and, if they walk, will be in the next two seconds: `map` frame, metres. */
export function placesOf({ x, y, vx, vy, confidence }: PersonTrack): Point[] {
  if (confidence < SURE) return [];
  if (Math.hypot(vx, vy) < WALKS) return [{ x, y }];
  return [0, ...AHEAD].map((s) => ({ x: x + s * vx, y: y + s * vy }));
}

/** The cells (row-major) that the planner keeps away from, where there is room. */
export function personCells(people: readonly PersonTrack[], frame: GridFrame): Int32Array {
  const cells = people.flatMap(placesOf).map((p) => frame.indexAt(p));
  return Int32Array.from(new Set(cells.filter((cell) => cell >= 0)));
}

/** The speed that the people near a place leave, m/s; null when nobody is near. */
export function speedNear(people: readonly PersonTrack[], at: Point): number | null {
  let nearest = Number.POSITIVE_INFINITY;
  for (const person of people) {
    for (const place of placesOf(person).slice(0, 2)) nearest = Math.min(nearest, distance(place, at));
  }
  return SPEED_NEAR.find(({ within }) => nearest < within)?.limit ?? null;
}
