/**
 * Follows people by their legs: clusters of each scan are given to the tracks that expect them, what is left begins
 * new ones, and a track becomes a person once it has walked like one, or stood like one for long. Pure; bounded work
 * per scan. The idea of tracking legs with gating and confirmation: A. Leigh et al., "Person Tracking and Following
 * with 2D Laser Scanners", ICRA 2015; here on pairs, and nearest neighbour over all in place of their assignment.
 */
import type { Point } from '../../../config/contracts/geometry.js';
import { DEFAULT_CLUSTERS, type LegCluster, type LegPair, legClusters, legPairs } from './leg-clusters.js';
import { LEG_DEVIATION, PAIR_DEVIATION, PersonCandidate } from './person-candidate.js';
import type { PersonScan, PersonTrack } from './types.js';

/** Tracks at once; a home has fewer people, and a scan that shows more is not one of a home. */
const MAX_TRACKS = 16;
/** Squared standard deviations within which a measurement may belong to a track. */
const GATE = 9;
/** What one leg in the place of two costs in the choice. */
const ONE_LEG = 4;
/** Legs farther than this from a track are not looked at, m. */
const REACH = 1.2;
/** A pair this near to a person is theirs, or a chair beside them, but nobody new, m. */
const PERSONAL = 0.45;
/** Other legs this near make a pair look like a chair, m. */
const CROWD = 0.7;

interface Claim {
  track: PersonCandidate;
  cost: number;
  pair: LegPair | null;
  legs: readonly LegCluster[];
}

export class PersonTracker {
  #tracks: PersonCandidate[] = [];
  #nextId = 1;
  readonly #counters = { person_scans: 0, persons_confirmed: 0, person_tracks_dropped: 0 };

  /** Takes in one scan. `sensor`: where the lidar was, in the same frame as the points. */
  add(scan: PersonScan, sensor: Point): void {
    this.#counters.person_scans++;
    const legs = legClusters(scan.points, sensor);
    for (const track of this.#tracks) track.predict(scan.mono);
    const free = new Set(legs);
    this.#assign(legs, free);
    this.#tracks = this.#tracks.filter((track) => !track.isOver && !this.#doubles(track));
    this.#begin([...free], scan.mono);
  }

  /** Who is known to be a person, in the frame of the scans. */
  people(): PersonTrack[] {
    return this.#tracks.filter((track) => track.isPerson).map((track) => track.track());
  }

  /** The frame of the scans is another one now. */
  clear(): void {
    this.#tracks = [];
  }

  counters(): Record<string, number> {
    return { ...this.#counters, person_tracks: this.#tracks.length };
  }

  /** The best claims first; each leg belongs to one track. */
  #assign(legs: readonly LegCluster[], free: Set<LegCluster>): void {
    const claims = this.#tracks.flatMap((track) => claimsOf(track, legs));
    claims.sort((a, b) => a.cost - b.cost);
    const waiting = new Set(this.#tracks);
    for (const { track, pair, legs: claimed } of claims) {
      if (!waiting.has(track) || claimed.some((leg) => !free.has(leg))) continue;
      waiting.delete(track);
      for (const leg of claimed) free.delete(leg);
      const [leg] = claimed;
      const before = track.isPerson;
      if (pair !== null) track.seenPair(pair, isCrowded(pair, legs));
      else if (leg !== undefined) track.seenLeg(leg);
      if (!before && track.isPerson) this.#counters.persons_confirmed++;
    }
    for (const track of waiting) track.missed();
  }

  /** Two tracks on the same legs: the one that is less sure goes. */
  #doubles(track: PersonCandidate): boolean {
    return this.#tracks.some((other) => {
      if (other === track || !other.isPerson) return false;
      const better = !track.isPerson || other.unseenMs < track.unseenMs;
      const near = Math.hypot(other.filter.x - track.filter.x, other.filter.y - track.filter.y);
      return better && near < (track.isPerson ? 0.15 : 0.3);
    });
  }

  #begin(free: readonly LegCluster[], mono: number): void {
    for (const pair of legPairs(free)) {
      const taken = this.#tracks.some(
        ({ isPerson, filter }) => isPerson && Math.hypot(filter.x - pair.x, filter.y - pair.y) < PERSONAL,
      );
      if (taken) continue;
      if (this.#tracks.length >= MAX_TRACKS) {
        this.#counters.person_tracks_dropped++;
        continue;
      }
      this.#tracks.push(new PersonCandidate(this.#nextId++, pair, mono));
    }
  }
}

/** What of a scan a track may be: two legs, both in one, or one that hides the other. */
function claimsOf(track: PersonCandidate, legs: readonly LegCluster[]): Claim[] {
  const { filter } = track;
  const near = legs.filter((leg) => Math.hypot(leg.x - filter.x, leg.y - filter.y) <= REACH);
  const claims: Claim[] = [];
  const offer = (pair: LegPair, claimed: readonly LegCluster[]) => {
    const cost = filter.distance2(pair.x, pair.y, PAIR_DEVIATION);
    if (cost <= GATE) claims.push({ track, cost, pair, legs: claimed });
  };
  for (const [i, a] of near.entries()) {
    if (a.both) offer({ x: a.x, y: a.y, gap: a.width / 2, first: a, second: null }, [a]);
    else {
      const cost = filter.distance2(a.x, a.y, LEG_DEVIATION) + ONE_LEG;
      if (cost <= GATE) claims.push({ track, cost, pair: null, legs: [a] });
    }
    for (const b of near.slice(i + 1)) {
      if (a.both || b.both) continue;
      const gap = Math.hypot(a.x - b.x, a.y - b.y);
      if (gap < DEFAULT_CLUSTERS.minGap || gap > DEFAULT_CLUSTERS.maxGap) continue;
      offer({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, gap, first: a, second: b }, [a, b]);
    }
  }
  return claims;
}

function isCrowded(pair: LegPair, legs: readonly LegCluster[]): boolean {
  return legs.some(
    (leg) => leg !== pair.first && leg !== pair.second && Math.hypot(leg.x - pair.x, leg.y - pair.y) < CROWD,
  );
}
