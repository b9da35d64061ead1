import { compose, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED } from '../costmap/costs.js';
import type { StaticCostmap } from '../costmap/static-costmap.js';
import { DEFAULT_HEALTH, type HealthParams, LocalisationHealth } from './health.js';
import { LikelihoodField } from './likelihood-field.js';
import type { Odometry } from './odometry.js';
import { DEFAULT_FILTER, type Estimate, type FilterParams, ParticleFilter } from './particle-filter.js';
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
  readonly #counters = { scans_matched: 0, scans_checked: 0, slips_suspected: 0, times_lost: 0, searches: 0 };

  constructor(
    costmap: StaticCostmap,
    odometry: Odometry,
    random: () => number,
    params: LocalizerParams = DEFAULT_LOCALIZER,
  ) {
    this.#costmap = costmap;
    this.#odometry = odometry;
    this.#params = params;
    this.#filter = new ParticleFilter(new LikelihoodField(costmap), params.filter, random);
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
    this.#estimate = this.#filter.estimate();
  }

  /** The robot may be anywhere on free ground. Scans and some turning will tell. */
  setUnknown(): void {
    this.#health.reset();
    this.#health.doubt();
    this.#everywhere = true;
    this.#lookAgainAt = null;
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
    this.#observe(this.#filter.score(there, beams), beams, mono);
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

  #observe(score: number | null, beams: ScanPoints, mono: number): void {
    this.#counters.scans_checked++;
    const before = this.#health.localized;
    const { share } = this.#estimate ?? { share: 1 };
    const reach = this.#health.localized === false ? reachOf(beams, FAR_SHARE) : 0;
    const spread = this.spread()?.xy ?? 0;
    this.#health.observe({ score, beams: beams.count, spread, share, reach }, mono);
    const { localized } = this.#health;
    if (localized === false && before !== false) this.#counters.times_lost++;
    if (localized !== false) {
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
    this.#scatter();
  }

  /** Particles over all free ground. */
  #scatter(): void {
    this.#freeCells ??= freeCells(this.#costmap);
    if (this.#freeCells.length === 0) return;
    this.#filter.initAnywhere(this.#freeCells, GLOBAL_PARTICLES);
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
