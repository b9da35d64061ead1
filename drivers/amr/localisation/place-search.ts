/**
 * Looks over the whole map for every place that a scan may have been taken at. A particle filter that starts anywhere
 * may miss the right place and settle on the next best; in a home with rooms alike there may be several right ones. The
 * search is exhaustive on a grid of places and headings, so it says both: where else the robot could be, and that it
 * could be nowhere else. It is done in small pieces, a bounded one for each scan.
 */
import { compose, distance, type Pose, relativeTo, wrapAngle } from '../../../config/contracts/geometry.js';
import type { GridFrame } from '../costmap/grid-frame.js';
import { LikelihoodField } from './likelihood-field.js';
import { type ScanPoints, thinOut } from './scan-points.js';

/** A place that fits, and how well scans have fitted there since, 0…1. */
export interface Hypothesis {
  /** `base_link` in `map` when the wheels were at `odom`. */
  pose: Pose;
  score: number;
}

/** Distance of the places that are tried, metres, and the headings tried at each. */
const STEP = 0.2;
const HEADINGS = 60;
/** Rays that a place is tried with, and how far they may miss, metres: the grid is coarse. */
const COARSE_BEAMS = 36;
const COARSE_SIGMA = 0.25;
/** Tried for each scan: places, and of those that are kept, how many are refined. */
const TRIES = 6000;
const REFINED = 3;
/** The best places that are refined, and apart from each other by this, metres and radians. */
const KEPT = 80;
const APART = { xy: 0.4, theta: 0.5 };
/** Refined places that fit this much worse than the best are out of the question. */
const HOPELESS = 0.2;
/** Weight of the newest scan in what is known of a hypothesis. */
const NEWEST = 0.2;

export class PlaceSearch {
  readonly #field: LikelihoodField;
  readonly #score: (pose: Pose, beams: ScanPoints) => number | null;
  readonly #cells: Int32Array;
  readonly #coarse: Float64Array;
  #beams: ScanPoints | null = null;
  #few: ScanPoints | null = null;
  #odom: Pose = { x: 0, y: 0, theta: 0 };
  #next = 0;
  #found: Hypothesis[] = [];
  #toRefine: Hypothesis[] = [];
  #done = false;

  /** `cells`: where the robot's middle can be; `score`: how well a scan fits a pose, 0…1. */
  constructor(
    field: LikelihoodField,
    cells: Int32Array,
    score: (pose: Pose, beams: ScanPoints) => number | null,
  ) {
    this.#field = field;
    this.#cells = onGrid(cells, field.frame);
    this.#score = score;
    this.#coarse = LikelihoodField.table((d) => Math.exp(-(d * d) / (2 * COARSE_SIGMA * COARSE_SIGMA)));
    this.#coarse[255] = 0;
  }

  /** Whether the search is over: `hypotheses` are then all there are, best first. */
  get done(): boolean {
    return this.#done;
  }

  get running(): boolean {
    return this.#beams !== null && !this.#done;
  }

  /** Begins anew with this scan, taken when the wheels were at `odom`. */
  begin(beams: ScanPoints, odom: Pose): void {
    this.#beams = beams;
    this.#few = thinOut(beams, COARSE_BEAMS);
    this.#odom = odom;
    this.#next = 0;
    this.#found = [];
    this.#toRefine = [];
    this.#done = false;
  }

  stop(): void {
    this.#beams = null;
    this.#done = false;
  }

  /** One bounded piece of the search; true when it has just ended. */
  step(): boolean {
    if (!this.running) return false;
    const all = this.#cells.length * HEADINGS;
    if (this.#next < all) {
      this.#tryPlaces(Math.min(all, this.#next + TRIES));
      if (this.#next >= all) this.#toRefine = apart(this.#found.splice(0)).slice(0, KEPT);
      return false;
    }
    const batch = this.#toRefine.splice(0, REFINED);
    if (batch.length === 0) return this.#finish();
    this.#found.push(...batch.map((one) => this.#refined(one)));
    return false;
  }

  /** All places, carried along with the wheels; best first. */
  hypotheses(odom: Pose): Hypothesis[] {
    const moved = relativeTo(this.#odom, odom);
    return this.#found.map(({ pose, score }) => ({ pose: compose(pose, moved), score }));
  }

  /** Another scan, taken at `odom`: each place is judged by how well it goes on fitting. */
  judge(beams: ScanPoints, odom: Pose): void {
    if (!this.#done) return;
    const moved = relativeTo(this.#odom, odom);
    for (const one of this.#found) {
      const score = this.#score(compose(one.pose, moved), beams);
      if (score !== null) one.score += NEWEST * (score - one.score);
    }
    this.#found.sort((a, b) => b.score - a.score);
  }

  #tryPlaces(until: number): void {
    const { frame } = this.#field;
    const few = this.#few;
    if (few === null) return;
    let worst = this.#found.length < 4 * KEPT ? 0 : (this.#found.at(-1)?.score ?? 0);
    for (; this.#next < until; this.#next++) {
      const cell = this.#cells[Math.floor(this.#next / HEADINGS)] ?? 0;
      const x = (cell % frame.width) + 0.5;
      const y = Math.floor(cell / frame.width) + 0.5;
      const theta = ((this.#next % HEADINGS) * 2 * Math.PI) / HEADINGS;
      const score = this.#field.sum(x, y, theta, few.x, few.y, few.count, this.#coarse) / few.count;
      if (score <= worst) continue;
      const at = frame.toMap({ x, y });
      this.#found.push({ pose: { ...at, theta: wrapAngle(theta + frame.origin.theta) }, score });
      if (this.#found.length > 8 * KEPT) {
        this.#found = apart(this.#found).slice(0, 4 * KEPT);
        worst = this.#found.length < 4 * KEPT ? 0 : (this.#found.at(-1)?.score ?? 0);
      }
    }
    if (this.#next >= this.#cells.length * HEADINGS) return;
    this.#found.sort((a, b) => b.score - a.score);
  }

  /** Moved to where it fits best nearby, by ever smaller steps. */
  #refined(start: Hypothesis): Hypothesis {
    const beams = this.#beams;
    if (beams === null) return start;
    let best = { pose: start.pose, score: this.#score(start.pose, beams) ?? 0 };
    for (let [xy, turn] = [0.12, 0.06]; xy > 0.01; xy /= 2, turn /= 2) {
      for (let moved = true, rounds = 0; moved && rounds < 6; rounds++) {
        moved = false;
        for (const step of STEPS) {
          const { x, y, theta } = best.pose;
          const pose = {
            x: x + xy * step.x,
            y: y + xy * step.y,
            theta: wrapAngle(theta + turn * step.theta),
          };
          const score = this.#score(pose, beams) ?? 0;
          if (score <= best.score) continue;
          best = { pose, score };
          moved = true;
        }
      }
    }
    return best;
  }

  #finish(): boolean {
    const refined = apart(this.#found);
    const best = refined[0]?.score ?? 0;
    this.#found = refined.filter(({ score }) => score >= best - HOPELESS);
    this.#done = true;
    return true;
  }
}

const STEPS: readonly Pose[] = [
  { x: 1, y: 0, theta: 0 },
  { x: -1, y: 0, theta: 0 },
  { x: 0, y: 1, theta: 0 },
  { x: 0, y: -1, theta: 0 },
  { x: 0, y: 0, theta: 1 },
  { x: 0, y: 0, theta: -1 },
];

/** Whether two poses stand for one place. */
export function samePlace(a: Pose, b: Pose): boolean {
  return distance(a, b) < APART.xy && Math.abs(wrapAngle(a.theta - b.theta)) < APART.theta;
}

/** Best first, and of those that stand for one place only the best. */
function apart(all: readonly Hypothesis[]): Hypothesis[] {
  const kept: Hypothesis[] = [];
  for (const one of [...all].sort((a, b) => b.score - a.score)) {
    if (kept.every((other) => !samePlace(other.pose, one.pose))) kept.push(one);
  }
  return kept;
}

/** The cells on the grid of places that are tried; all of them on a map that is coarser. */
function onGrid(cells: Int32Array, frame: GridFrame): Int32Array {
  const every = Math.max(1, Math.round(STEP / frame.resolution));
  return cells.filter(
    (cell) => (cell % frame.width) % every === 0 && Math.floor(cell / frame.width) % every === 0,
  );
}
