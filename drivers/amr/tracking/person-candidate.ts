/** One thing with two legs that is followed from scan to scan until it is known to be a person, or not. */
import type { Point } from '../../../config/contracts/geometry.js';
import type { LegPair } from './leg-clusters.js';
import { PersonFilter } from './person-filter.js';
import type { PersonTrack } from './types.js';

/** Standard deviations of what is measured, m: of the middle between two legs, and of one leg as the middle. */
export const PAIR_DEVIATION = 0.07;
export const LEG_DEVIATION = 0.16;
/** Widest that a filter becomes sure to be, m: legs are not a point. */
const RADIUS = 0.2;
/** Places of the last so many ms say whether it walks. */
const MEMORY_MS = 1400;
/** Moved this far within that, in small steps, it walks: furniture does not. m, and the largest share of one step. */
const WALKED = 0.32;
const LARGEST_STEP = 0.14;
const STEP_SHARE = 0.35;
const WALKING_SPEED = 0.12;
const FEWEST_SEEN = 6;
/** Two legs as near to each other as those of somebody who stands, seen so often, may be a person: less sure. */
const STANDING_SEEN = 14;
const STANDING_GAP = 0.36;
const LEG_WIDTH = { least: 0.075, most: 0.2 };
const SURE = { walked: 0.9, standing: 0.5 } as const;
/** Out of sight: how fast it becomes unsure, ms, and when it is given up, ms. */
const FADES_MS = 3000;
const GIVEN_UP_MS = { person: 3000, other: 350 } as const;

interface Place extends Point {
  mono: number;
}

export class PersonCandidate {
  readonly id: number;
  readonly filter: PersonFilter;
  #seenAt: number;
  #mono: number;
  #seen = 1;
  #missed = 0;
  #standing = 0;
  #places: Place[];
  #sure: 'walked' | 'standing' | null = null;

  constructor(id: number, pair: LegPair, mono: number) {
    this.id = id;
    this.filter = new PersonFilter(pair.x, pair.y, PAIR_DEVIATION);
    this.#seenAt = mono;
    this.#mono = mono;
    this.#places = [{ x: pair.x, y: pair.y, mono }];
  }

  get isPerson(): boolean {
    return this.#sure !== null;
  }
  get sure(): 'walked' | 'standing' | null {
    return this.#sure;
  }
  get unseenMs(): number {
    return this.#mono - this.#seenAt;
  }

  /** To the time of a scan; longer gaps than a second tell nothing about where it went. */
  predict(mono: number): void {
    const dt = Math.max(0, Math.min(1, (mono - this.#mono) / 1000));
    this.filter.predict(dt);
    if (this.unseenMs > 300) this.filter.damp(dt);
    this.#mono = mono;
  }

  /** Seen with both legs. `crowded`: other legs stand so near that it may be a chair. */
  seenPair(pair: LegPair, crowded: boolean): void {
    this.filter.measure(pair.x, pair.y, PAIR_DEVIATION);
    this.#note({ x: pair.x, y: pair.y, mono: this.#mono });
    const looks = pair.second !== null && pair.gap <= STANDING_GAP && isLeg(pair.first) && isLeg(pair.second);
    this.#standing = looks && !crowded ? this.#standing + 1 : Math.max(0, this.#standing - 2);
    this.#judge();
  }

  /** One leg hides the other. */
  seenLeg(at: Point): void {
    this.filter.measure(at.x, at.y, LEG_DEVIATION);
    this.#note(null);
  }

  missed(): void {
    this.#missed++;
  }

  /** Nothing more is expected of it. */
  get isOver(): boolean {
    const limit = this.isPerson ? GIVEN_UP_MS.person : GIVEN_UP_MS.other;
    return this.unseenMs > limit || (!this.isPerson && this.#missed > this.#seen);
  }

  get confidence(): number {
    if (this.#sure === null) return 0;
    return SURE[this.#sure] * Math.exp(-this.unseenMs / FADES_MS);
  }

  /** In the frame of the scans. */
  track(): PersonTrack {
    const { x, y, vx, vy, spread } = this.filter;
    return {
      id: this.id,
      x,
      y,
      vx,
      vy,
      spread,
      radius: RADIUS,
      confidence: this.confidence,
      unseenMs: this.unseenMs,
    };
  }

  #note(place: Place | null): void {
    this.#seenAt = this.#mono;
    this.#seen++;
    if (place === null) return;
    this.#places.push(place);
    this.#places = this.#places.filter(({ mono }) => this.#mono - mono <= MEMORY_MS);
  }

  #judge(): void {
    if (this.#sure === 'walked') return;
    if (this.#walks()) this.#sure = 'walked';
    else if (this.#standing >= STANDING_SEEN) this.#sure = 'standing';
  }

  /** Whether it moved on steadily. A pair that jumps from one leg of a chair to the next has moved in one step. */
  #walks(): boolean {
    const [first] = this.#places;
    const last = this.#places[this.#places.length - 1];
    if (first === undefined || last === undefined || this.#places.length < FEWEST_SEEN) return false;
    const moved = Math.hypot(last.x - first.x, last.y - first.y);
    if (moved < WALKED || Math.hypot(this.filter.vx, this.filter.vy) < WALKING_SPEED) return false;
    const most = Math.max(LARGEST_STEP, STEP_SHARE * moved);
    return this.#places.every((p, i) => {
      const before = this.#places[i - 1];
      return before === undefined || Math.hypot(p.x - before.x, p.y - before.y) <= most;
    });
  }
}

function isLeg({ width }: { width: number }): boolean {
  return width >= LEG_WIDTH.least && width <= LEG_WIDTH.most;
}
