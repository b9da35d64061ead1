import { compose, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED } from '../costmap/costs.js';
import type { StaticCostmap } from '../costmap/static-costmap.js';
import { DEFAULT_HEALTH, type HealthParams, LocalisationHealth } from './health.js';
import { LikelihoodField } from './likelihood-field.js';
import type { Odometry } from './odometry.js';
import { DEFAULT_FILTER, type Estimate, type FilterParams, ParticleFilter } from './particle-filter.js';
import { PlaceSearch, samePlace } from './place-search.js';
import { reachOf, type ScanPoints, thinOut } from './scan-points.js';

export interface LocalizerParams {
  filter: FilterParams;
  health: HealthParams;
  /** Rays of a scan that the filter uses. */
  beams: number;
  /** The filter takes in a scan when the robot has moved this far since the last, metres or radians. */
  minTravel: number;
  minTurn: number;
  /** Scans taken in without motion after a pose was set, to find its exact place. */
  settleScans: number;
}

export const DEFAULT_LOCALIZER: LocalizerParams = {
  filter: DEFAULT_FILTER,
  health: DEFAULT_HEALTH,
  beams: 120,
  minTravel: 0.03,
  minTurn: 0.03,
  settleScans: 15,
};

/** While turning faster than this, rad/s, what remains of a scan's smear makes it count for less. */
const SMEARED_TURN = 1;
/** A fit this much better without the measured motion makes so many particles doubt it. */
const SLIP_MARGIN = 0.005;
const SUSPECTED_SLIP_SHARE = 0.5;
/** Particles of a start without an idea. */
const GLOBAL_PARTICLES = 8000;
/** A lost pose is looked for nearby for this long, then everywhere, anew after this long, ms. */
const LOOK_AROUND_MS = 3000;
const LOOK_EVERYWHERE_MS = 15_000;
/** Another place that fits no more than this worse may be the right one. */
const RIVAL_MARGIN = 0.05;
/** Places that the filter goes on with after a search. */
const MOST_HYPOTHESES = 12;
/** A believed place that fits worse than this for so long, ms, is held against all others, and again after a while. */
const POOR_SCORE = 0.65;
const POOR_MS = 6000;
const SUSPECT_AGAIN_MS = 30_000;
const MUCH_BETTER = 0.15;
/** Share of a scan's rays that have to reach far for it to tell places apart. */
const FAR_SHARE = 0.25;

/**
 * Where the robot is on the map: a particle filter corrected by scans, and wheel odometry in between, so that a
 * pose is there at every control step.
 */
export class Localizer {
  readonly #costmap: StaticCostmap;
  readonly #odometry: Odometry;
  readonly #params: LocalizerParams;
  readonly #filter: ParticleFilter;
  readonly #health: LocalisationHealth;
  /** The last estimate and the odometry pose it belongs to. */
  #estimate: Estimate | null = null;
  #anchor: Pose = { x: 0, y: 0, theta: 0 };
  #predictedTo: Pose = { x: 0, y: 0, theta: 0 };
  #settling = 0;
  /** While lost: when to look again over the whole map, and whether that has begun. */
  #lookAgainAt: number | null = null;
  #everywhere = false;
  #freeCells: Int32Array | null = null;
  /** Over the whole map, while lost and when a belief that fits badly for long may be wrong. */
  #search: PlaceSearch | null = null;
  #poorSince: number | null = null;
  #searchedAt = Number.NEGATIVE_INFINITY;
  readonly #field: LikelihoodField;
  readonly #counters = {
    scans_matched: 0,
    scans_checked: 0,
    slips_suspected: 0,
    times_lost: 0,
    searches: 0,
    rivals_seen: 0,
  };

  constructor(
    costmap: StaticCostmap,
    odometry: Odometry,
    random: () => number,
    params: LocalizerParams = DEFAULT_LOCALIZER,
  ) {
    this.#costmap = costmap;
    this.#odometry = odometry;
    this.#params = params;
    this.#field = new LikelihoodField(costmap);
    this.#filter = new ParticleFilter(this.#field, params.filter, random);
    this.#health = new LocalisationHealth(params.health);
  }

  /** `base_link` in `map` at the newest wheel sample; null before a pose was set. */
  pose(): Pose | null {
    if (this.#estimate === null) return null;
    return compose(this.#estimate.pose, relativeTo(this.#anchor, this.#odometry.pose));
  }

  /** The same at a moment within the last second. */
  poseAt(mono: number): Pose | null {
    if (this.#estimate === null) return null;
    return compose(this.#estimate.pose, relativeTo(this.#anchor, this.#odometry.poseAt(mono)));
  }

  get estimate(): Estimate | null {
    return this.#estimate;
  }

  get localized(): boolean | null {
    return this.#estimate === null ? null : this.#health.localized;
  }

  /** Scans contradict the pose, though it is not given up yet. */
  get doubted(): boolean {
    return this.#health.doubted;
  }

  /** The pose is confirmed and nothing is being looked for: another scan from the same place says nothing new. */
  get settled(): boolean {
    return this.#health.localized === true && !this.#health.doubted && this.#settling === 0;
  }

  get score(): number | null {
    return this.#health.score;
  }

  /** Deviations of the estimate: the longer axis in metres, and radians. */
  spread(): { xy: number; theta: number } | null {
    if (this.#estimate === null) return null;
    const { xx, xy, yy, theta } = this.#estimate.covariance;
    const larger = (xx + yy) / 2 + Math.hypot((xx - yy) / 2, xy);
    return { xy: Math.sqrt(larger), theta: Math.sqrt(theta) };
  }

  counters(): Record<string, number> {
    return { ...this.#counters, particles: this.#filter.count };
  }

  /** The robot is here, within these deviations. */
  setPose(pose: Pose, spread: { xy: number; theta: number }): void {
    this.#filter.init(pose, spread.xy, spread.theta);
    this.#health.reset();
    this.#anchor = this.#odometry.pose;
    this.#predictedTo = this.#odometry.pose;
    this.#settling = this.#params.settleScans;
    this.#everywhere = false;
    this.#lookAgainAt = null;
    this.#search?.stop();
    this.#poorSince = null;
    this.#estimate = this.#filter.estimate();
  }

  /** The robot may be anywhere on free ground. Scans and some turning will tell. */
  setUnknown(): void {
    this.#health.reset();
    this.#health.doubt();
    this.#everywhere = true;
    this.#lookAgainAt = null;
    this.#search?.stop();
    this.#scatter();
  }

  /** Takes in the points of a scan stamped at `mono` ms, in `base_link` at that time. */
  addScan(points: ScanPoints, mono: number): void {
    if (this.#estimate === null) return;
    const beams = thinOut(points, this.#params.beams);
    const odom = this.#odometry.poseAt(mono);
    if (this.#settling > 0) this.#settle(beams, odom);
    else if (this.#hasMoved(odom)) this.#match(beams, odom, 1);
    const there = compose(this.#estimate.pose, relativeTo(this.#anchor, odom));
    this.#lookOverMap(beams, odom, there, mono);
    this.#observe(this.#filter.score(there, beams), beams, mono, this.#isRivalled(beams, odom));
  }

  /** The search over the whole map: begun when it is needed, a piece with each scan, its result taken in. */
  #lookOverMap(beams: ScanPoints, odom: Pose, there: Pose, mono: number): void {
    const lost = this.#health.localized === false;
    if (lost ? !this.#everywhere : !this.#fitsPoorly(mono)) return;
    this.#search ??= new PlaceSearch(this.#field, this.#free(), (pose, points) =>
      this.#filter.score(pose, points),
    );
    const search = this.#search;
    const due = lost ? !search.running && !search.done : mono - this.#searchedAt > SUSPECT_AGAIN_MS;
    if (due) {
      search.begin(beams, odom);
      this.#searchedAt = mono;
    }
    if (search.step() && lost) this.#startAtHypotheses(odom);
    else search.judge(beams, odom);
    if (!lost && search.done) this.#suspect(beams, odom, there);
  }

  /** Believed, but scans have fitted badly for a while: furniture was moved, or this is the wrong room. */
  #fitsPoorly(mono: number): boolean {
    const { score } = this.#health;
    const poor = this.#health.localized === true && score !== null && score < POOR_SCORE;
    this.#poorSince = poor ? (this.#poorSince ?? mono) : null;
    return this.#poorSince !== null && mono - this.#poorSince >= POOR_MS;
  }

  /** Another place fits much better than the one that is believed: it is not known where the robot is. */
  #suspect(beams: ScanPoints, odom: Pose, there: Pose): void {
    const score = this.#filter.score(there, beams);
    const better = this.#search
      ?.hypotheses(odom)
      .some((other) => !samePlace(other.pose, there) && score !== null && other.score > score + MUCH_BETTER);
    if (better !== true) return;
    this.#health.doubt();
    this.#counters.times_lost++;
    this.#everywhere = true;
    this.#lookAgainAt = null;
    this.#poorSince = null;
    this.#startAtHypotheses(odom);
  }

  #startAtHypotheses(odom: Pose): void {
    const poses = (this.#search?.hypotheses(odom) ?? []).slice(0, MOST_HYPOTHESES).map(({ pose }) => pose);
    if (poses.length === 0) return;
    this.#filter.initAtEach(poses, 0.08, 0.05);
    this.#predictedTo = odom;
    this.#anchor = odom;
    this.#settling = this.#params.settleScans;
    this.#estimate = this.#filter.estimate();
  }

  /** While everywhere is possible: whether another place than the estimate fits about as well, or may yet. */
  #isRivalled(beams: ScanPoints, odom: Pose): boolean {
    if (this.#health.localized !== false || !this.#everywhere) return false;
    const search = this.#search;
    if (this.#estimate === null || search === null || !search.done) return true;
    const there = compose(this.#estimate.pose, relativeTo(this.#anchor, odom));
    const own = this.#filter.score(there, beams) ?? 0;
    const rival = search.hypotheses(odom).find(({ pose }) => !samePlace(pose, there));
    const rivalled = rival !== undefined && rival.score > own - RIVAL_MARGIN;
    if (rivalled) this.#counters.rivals_seen++;
    return rivalled;
  }

  #free(): Int32Array {
    this.#freeCells ??= freeCells(this.#costmap);
    return this.#freeCells;
  }

  #hasMoved(odom: Pose): boolean {
    const moved = relativeTo(this.#predictedTo, odom);
    return (
      Math.hypot(moved.x, moved.y) >= this.#params.minTravel || Math.abs(moved.theta) >= this.#params.minTurn
    );
  }

  /**
   * Draws a wide cloud together, also while standing: believing the scans little at first and more and more, and
   * stirring the cloud by a part of its own width, so that it does not end on the best of its first guesses.
   */
  #settle(beams: ScanPoints, odom: Pose): void {
    const done = 1 - this.#settling / this.#params.settleScans;
    this.#settling--;
    const spread = this.spread();
    if (spread !== null && spread.xy < this.#params.health.maxSpread) {
      this.#filter.roughen(Math.max(0.004, 0.3 * spread.xy), Math.max(0.003, 0.3 * spread.theta));
    }
    this.#match(beams, odom, 0.2 + 0.8 * Math.max(0, done));
  }

  #match(beams: ScanPoints, odom: Pose, belief: number): void {
    this.#counters.scans_matched++;
    const delta = relativeTo(this.#predictedTo, odom);
    if (this.#looksSlipped(beams, odom)) {
      this.#counters.slips_suspected++;
      this.#filter.predict(delta, SUSPECTED_SLIP_SHARE);
    } else this.#filter.predict(delta);
    this.#predictedTo = odom;
    const turning = Math.abs(this.#odometry.twist()?.w ?? 0);
    const trust = turning <= SMEARED_TURN ? 1 : SMEARED_TURN / turning;
    this.#filter.update(beams, belief * trust);
    this.#estimate = this.#filter.estimate();
    this.#anchor = odom;
  }

  /** The scan fits better where the robot was than where the wheels say it is: spinning wheels, a held robot. */
  #looksSlipped(beams: ScanPoints, odom: Pose): boolean {
    if (this.#estimate === null) return false;
    const was = this.#filter.score(this.#estimate.pose, beams);
    const should = this.#filter.score(compose(this.#estimate.pose, relativeTo(this.#anchor, odom)), beams);
    return was !== null && should !== null && was > should + SLIP_MARGIN;
  }

  #observe(score: number | null, beams: ScanPoints, mono: number, rivalled: boolean): void {
    this.#counters.scans_checked++;
    const before = this.#health.localized;
    const { share } = this.#estimate ?? { share: 1 };
    const reach = this.#health.localized === false ? reachOf(beams, FAR_SHARE) : 0;
    const spread = this.spread()?.xy ?? 0;
    this.#health.observe({ score, beams: beams.count, spread, share, reach, rivalled }, mono);
    const { localized } = this.#health;
    if (localized === false && before !== false) this.#counters.times_lost++;
    if (localized !== false) {
      if (before === false) this.#search?.stop();
      this.#lookAgainAt = null;
      return;
    }
    this.#lookForIt(mono);
  }

  /** Lost: first around the last belief, then over the whole map; again and again while scans come in. */
  #lookForIt(mono: number): void {
    if (this.#estimate === null) return;
    this.#settling = Math.max(this.#settling, 1);
    this.#lookAgainAt ??= mono + LOOK_AROUND_MS;
    // A search that is under way is not begun anew: large maps take longer.
    if (this.#everywhere && this.#search?.running === true) this.#lookAgainAt = mono + LOOK_EVERYWHERE_MS;
    if (mono < this.#lookAgainAt) {
      // Once a cloud over the whole map has drawn together, its neighbourhood is searched as well.
      const near = (this.spread()?.xy ?? 0) <= this.#params.health.maxSpread;
      const reach = this.#everywhere ? 0.2 : 0.4;
      if (near) this.#filter.inject(this.#estimate.pose, 0.1, reach, reach);
      return;
    }
    this.#lookAgainAt = mono + LOOK_EVERYWHERE_MS;
    this.#everywhere = true;
    this.#counters.searches++;
    this.#search?.stop();
    this.#scatter();
  }

  /** Particles over all free ground. */
  #scatter(): void {
    const free = this.#free();
    if (free.length === 0) return;
    this.#filter.initAnywhere(free, GLOBAL_PARTICLES);
    this.#anchor = this.#odometry.pose;
    this.#predictedTo = this.#odometry.pose;
    this.#settling = this.#params.settleScans;
    this.#estimate = this.#filter.estimate();
  }
}

function freeCells(costmap: StaticCostmap): Int32Array {
  const free: number[] = [];
  for (let i = 0; i < costmap.cost.length; i++) if ((costmap.cost[i] ?? 255) < COST_INSCRIBED) free.push(i);
  return Int32Array.from(free);
}
