/** Finds places that were visited before, and how they lie to the robot now. */
import { compose, distance, type Pose, relativeTo, wrapAngle } from '../../../config/contracts/geometry.js';
import { MatchField } from './match-field.js';
import { type Edge, turnedInformation } from './pose-graph.js';
import { refineMatch, searchMatch } from './scan-matcher.js';
import type { Keyframe, MapperParams } from './types.js';

/** Points farther from the old place do not help to find it, m. */
const FIELD_HALF = 9;
/** Keyframes this near to the old place saw it too, m. */
const AROUND = 6;
/** A match may be this much worse than what would be accepted before it is refined. */
const ROUGH = 0.12;
/** What refinement may trust the search; it only keeps blind directions in place. */
const SEARCH_PRIOR = { xy: 5, theta: 20 };
/** A fit is worth so much information, 1/m² for each unit of its sharpness; the most, 1/m² and 1/rad². */
const WORTH = 0.5;
const MOST_INFORMATION = { xy: 1 / 0.02 ** 2, theta: 1 / 0.01 ** 2 };

/** Where the newest keyframe would lie if the place is the same. */
interface Sighting {
  keyframe: number;
  pose: Pose;
  edge: Edge;
}

export class LoopCloser {
  readonly #params: MapperParams;
  /** The last sighting, which the next one has to confirm. */
  #before: Sighting | null = null;
  rejected = 0;

  constructor(params: MapperParams) {
    this.#params = params;
  }

  /** What two sightings in a row agree on; empty otherwise. Looks at one old place at most. */
  look(keyframes: readonly Keyframe[], index: number): Edge[] {
    const before = this.#before;
    const place = this.#nearestOld(keyframes, index);
    if (place === null) return [];
    const { reach, turn } = this.#params.loops;
    const way = (keyframes[index]?.way ?? 0) - (keyframes[place]?.way ?? 0);
    const xy = Math.min(reach.most, reach.base + reach.perMetre * way);
    const found = this.match(keyframes, index, place, { xy, theta: turn });
    this.#before = found;
    if (found === null || before === null) return [];
    if (!this.#agree(keyframes, before, found)) {
      this.rejected++;
      return [];
    }
    return [before.edge, found.edge];
  }

  /** How keyframe `index` lies to an old place, by their scans; null when they do not fit together. */
  match(
    keyframes: readonly Keyframe[],
    index: number,
    place: number,
    window: { xy: number; theta: number },
  ): Sighting | null {
    const [now, old] = [keyframes[index], keyframes[place]];
    if (now === undefined || old === undefined) return null;
    const { loops, fieldResolution, fieldSigma } = this.#params;
    const field = new MatchField(old.pose, FIELD_HALF, fieldResolution, fieldSigma);
    for (const near of this.#around(keyframes, index, place)) field.add(near.sparse, near.pose);
    const rough = searchMatch(field, now.sparse, now.pose, window, loops.minScore - ROUGH);
    if (rough === null) return null;
    const match = refineMatch(field, now.sparse, rough, SEARCH_PRIOR);
    if (match.score < loops.minScore) return null;
    const edge: Edge = {
      from: place,
      to: index,
      relative: relativeTo(old.pose, match.pose),
      information: turnedInformation(worthOf(match.information), old.pose.theta),
      loop: true,
    };
    return { keyframe: index, pose: match.pose, edge };
  }

  /**
   * What was seen around an old place, before the robot came back: not only on the one way past it, which may have seen
   * it from the other side.
   */
  #around(keyframes: readonly Keyframe[], index: number, place: number): Keyframe[] {
    const [now, old] = [keyframes[index], keyframes[place]];
    if (now === undefined || old === undefined) return [];
    const { minWay, around } = this.#params.loops;
    return keyframes
      .filter((one) => now.way - one.way >= minWay && distance(one.pose, old.pose) <= AROUND)
      .map((one) => ({ one, away: distance(one.pose, old.pose) }))
      .sort((a, b) => a.away - b.away)
      .slice(0, around)
      .map(({ one }) => one);
  }

  /** The nearest keyframe with enough way between, if it is near enough to be the same place. */
  #nearestOld(keyframes: readonly Keyframe[], index: number): number | null {
    const now = keyframes[index];
    if (now === undefined) return null;
    const { minWay, reach } = this.#params.loops;
    let best: number | null = null;
    let nearest = Infinity;
    keyframes.forEach((old, i) => {
      const way = now.way - old.way;
      if (way < minWay) return;
      const away = distance(old.pose, now.pose);
      if (away >= nearest || away > Math.min(reach.most, reach.base + reach.perMetre * way)) return;
      nearest = away;
      best = i;
    });
    return best;
  }

  /** Whether both sightings place the robot's own way between them alike. */
  #agree(keyframes: readonly Keyframe[], a: Sighting, b: Sighting): boolean {
    const [first, second] = [keyframes[a.keyframe], keyframes[b.keyframe]];
    const [placeA, placeB] = [keyframes[a.edge.from], keyframes[b.edge.from]];
    if (first === undefined || second === undefined || placeA === undefined || placeB === undefined)
      return false;
    const driven = relativeTo(first.pose, second.pose);
    const seen = relativeTo(compose(placeA.pose, a.edge.relative), compose(placeB.pose, b.edge.relative));
    const { agree } = this.#params.loops;
    const apart = Math.hypot(driven.x - seen.x, driven.y - seen.y);
    return apart <= agree.xy && Math.abs(wrapAngle(driven.theta - seen.theta)) <= agree.theta;
  }
}

/** What a fit's sharpness is worth as information, within what a map of cells can know. */
export function worthOf(sharpness: Float64Array): Float64Array {
  const worth = sharpness.map((value) => value * WORTH);
  const most = [MOST_INFORMATION.xy, MOST_INFORMATION.xy, MOST_INFORMATION.theta];
  const scale = most.map((limit, k) => Math.min(1, Math.sqrt(limit / Math.max(1e-9, worth[4 * k] ?? 0))));
  return worth.map((value, i) => value * (scale[Math.floor(i / 3)] ?? 1) * (scale[i % 3] ?? 1));
}
