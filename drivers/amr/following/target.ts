/** Whom the robot follows: chosen once, kept by their track, found again near where they went out of sight. */
import { distance, type Point, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import type { PersonTrack } from '../tracking/types.js';

/**
 * Where a camera saw a person, for the choice between tracks: the middle of the box as a bearing in `base_link`, rad,
 * and when. Nothing about who it is. A profile without a camera gives none.
 */
export interface CameraHint {
  readonly bearing: number;
  readonly mono: number;
}

export interface TargetParams {
  /** Nobody farther off is followed, m. */
  reach: number;
  /** In front means within this bearing, rad; later anybody near will do. */
  front: number;
  frontOnlyMs: number;
  /** Unseen for longer the person is out of sight, ms. */
  sightMs: number;
  /** Found again within so many metres of where they should be: at once, and per second out of sight. */
  again: number;
  againPerSecond: number;
  againMost: number;
}

export const DEFAULT_TARGET: TargetParams = {
  reach: 3,
  front: 1,
  frontOnlyMs: 4000,
  sightMs: 600,
  again: 0.6,
  againPerSecond: 0.8,
  againMost: 2.5,
};

/** A hint counts for this long, ms, and for tracks within this bearing of it, rad. */
const HINT_MS = 1000;
const HINT_WIDTH = 0.3;
/** How far a person is taken to walk on after they went out of sight, s. */
const WALKS_ON_S = 1.5;
/** Other people that are remembered as not being the one. */
const MOST_OTHERS = 32;

export class Target {
  readonly #params: TargetParams;
  #id: number | null = null;
  #last: PersonTrack | null = null;
  #seenAt = 0;
  readonly #others = new Set<number>();

  constructor(params: TargetParams = DEFAULT_TARGET) {
    this.#params = params;
  }

  get chosen(): boolean {
    return this.#id !== null;
  }
  /** Where they are, or were last seen; `map` frame. */
  get last(): PersonTrack | null {
    return this.#last;
  }

  /** Out of sight for so long, ms. */
  lostMs(mono: number): number {
    return this.#id === null ? 0 : Math.max(0, mono - this.#seenAt);
  }

  /** Takes in who is there now. `lookedForMs`: since the search began. */
  update(
    people: readonly PersonTrack[],
    pose: Pose,
    mono: number,
    lookedForMs: number,
    hint: CameraHint | null,
  ): void {
    const seen = people.filter((track) => track.unseenMs <= this.#params.sightMs);
    const own = seen.find((track) => track.id === this.#id) ?? null;
    if (own !== null) {
      this.#see(own, mono);
      for (const { id } of seen) if (id !== this.#id && this.#others.size < MOST_OTHERS) this.#others.add(id);
      return;
    }
    const found =
      this.#id === null ? this.#choose(seen, pose, mono, lookedForMs, hint) : this.#again(seen, mono);
    if (found === null) return;
    this.#id = found.id;
    this.#others.delete(found.id);
    this.#see(found, mono);
  }

  #see(track: PersonTrack, mono: number): void {
    this.#last = track;
    this.#seenAt = mono - track.unseenMs;
  }

  /** The nearest in front; with a camera, the one it sees. */
  #choose(
    seen: readonly PersonTrack[],
    pose: Pose,
    mono: number,
    lookedForMs: number,
    hint: CameraHint | null,
  ): PersonTrack | null {
    const { reach, front, frontOnlyMs } = this.#params;
    const hinted = hint !== null && mono - hint.mono <= HINT_MS ? hint.bearing : null;
    const ranked = seen
      .map((track) => {
        const p = relativeTo(pose, { x: track.x, y: track.y, theta: 0 });
        return { track, away: Math.hypot(p.x, p.y), bearing: Math.atan2(p.y, p.x) };
      })
      .filter(
        ({ away, bearing }) => away <= reach && (Math.abs(bearing) <= front || lookedForMs >= frontOnlyMs),
      )
      .map((one) => {
        const seenToo = hinted !== null && Math.abs(one.bearing - hinted) <= HINT_WIDTH;
        return { ...one, cost: one.away + Math.abs(one.bearing) - (seenToo ? 10 : 0) };
      });
    ranked.sort((a, b) => a.cost - b.cost);
    return ranked[0]?.track ?? null;
  }

  /** Somebody who was never beside them, where they may have come to. */
  #again(seen: readonly PersonTrack[], mono: number): PersonTrack | null {
    const last = this.#last;
    if (last === null) return null;
    const { again, againPerSecond, againMost } = this.#params;
    const seconds = this.lostMs(mono) / 1000;
    const within = Math.min(againMost, again + againPerSecond * seconds);
    const t = Math.min(seconds, WALKS_ON_S);
    const expected: Point = { x: last.x + last.vx * t, y: last.y + last.vy * t };
    const near = seen
      .filter((track) => !this.#others.has(track.id))
      .map((track) => ({ track, off: Math.min(distance(track, expected), distance(track, last)) }))
      .filter(({ off }) => off <= within)
      .sort((a, b) => a.off - b.off);
    return near[0]?.track ?? null;
  }
}
