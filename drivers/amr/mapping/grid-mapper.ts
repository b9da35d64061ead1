/**
 * Makes a map out of scans and odometry while the robot drives. Each scan is matched to what the newest keyframes saw,
 * so that neither slipping wheels nor walls alone carry the pose away; places that are seen again close loops, which
 * pull the whole way straight. The work for one scan is bounded: what a closed loop sets in motion is done in portions,
 * one with each scan that follows.
 */
import { compose, distance, type Pose, relativeTo, wrapAngle } from '../../../config/contracts/geometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';
import type { OccupancyGrid } from '../types.js';
import { LoopCloser, worthOf } from './loop-closer.js';
import { MapRaster } from './map-raster.js';
import { MatchField } from './match-field.js';
import { OdometryTrust } from './odometry-trust.js';
import { type Edge, improvePoses, turnedInformation } from './pose-graph.js';
import { type Match, type Prior, refineMatch, type SearchWindow, searchMatch } from './scan-matcher.js';
import { spacedPoints, withinRange } from './sparse-points.js';
import {
  DEFAULT_MAPPER,
  type Keyframe,
  type MapperParams,
  type MapperQuality,
  type MapperUpdate,
} from './types.js';

/** Scans with fewer points say nothing about the place. */
const MIN_POINTS = 20;
/** What odometry is trusted with: 1/m², 1/rad² in units of a fit. */
const ODOMETRY_PRIOR = { xy: 10, theta: 10 };
const BLIND_PRIOR = { xy: 2, theta: 2 };
/** The search is never wider, m and rad: its time is bounded. */
const WIDEST = { xy: 0.8, theta: 0.8 };
/** After so many scans that did not fit the search is twice as wide, and so on. */
const MISSED_PER_WINDOW = 5;
/** What odometry between two keyframes is worth, 1/m² and 1/rad². */
const ODOMETRY_INFORMATION = { xy: 1 / 0.1 ** 2, theta: 1 / 0.08 ** 2 };
const IMPROVE_STEPS = 8;
/** Keyframes drawn anew with each scan after a loop. */
const REDRAW_PORTION = 12;
/** A loop is looked for in a scan that needs no other work, or after so many keyframes at the latest. */
const LOOK_AFTER = 3;

export class GridMapper {
  readonly #params: MapperParams;
  readonly #keyframes: Keyframe[] = [];
  readonly #edges: Edge[] = [];
  readonly #closer: LoopCloser;
  #raster: MapRaster;
  #field: MatchField | null = null;
  /** The newest pose, in the frame of the newest keyframe, and the odometry it belongs to. */
  #offset: Pose = { x: 0, y: 0, theta: 0 };
  #odometry: Pose | null = null;
  /** Where a scan last fitted, in the frame of the newest keyframe, and how many have not since. */
  #seenAt: Pose = { x: 0, y: 0, theta: 0 };
  #missed = 0;
  readonly #trust = new OdometryTrust();
  #way = 0;
  #job: Generator<undefined, void> | null = null;
  #loopsWaiting = false;
  /** Keyframes since a loop was last looked for, and the way from which on the next may be. */
  #unlooked = 0;
  #lookFrom = 0;
  readonly #sum = { scans: 0, unmatched: 0, matched: 0, score: 0, loops: 0, drift: 0 };

  constructor(params: MapperParams = DEFAULT_MAPPER) {
    this.#params = params;
    this.#closer = new LoopCloser(params);
    this.#raster = new MapRaster(params.resolution, params.maxExtent);
  }

  /**
   * Takes in a scan. `points`: in `base_link` at the time of the scan. `odometry`: `base_link` in `odom` at that time;
   * null where there is none. Needs scans in the order of their times.
   */
  addScan(points: ScanPoints, odometry: Pose | null): MapperUpdate {
    this.#sum.scans++;
    const loopsClosed = this.#look();
    this.#work();
    const near = withinRange(points, this.#params.maxRange);
    const sparse = spacedPoints(points, this.#params.spacing, this.#params.maxRange);
    if (this.#keyframes.length === 0) return this.#first(near, sparse, odometry);
    const expected = this.#expected(odometry);
    const match = sparse.count < MIN_POINTS ? null : this.#match(sparse, expected, odometry);
    const tracking = match !== null && match.score >= this.#params.minScore;
    if (tracking) {
      this.#sum.matched++;
      this.#sum.score += match.score;
      this.#missed = 0;
    } else {
      this.#sum.unmatched++;
      this.#missed++;
    }
    const pose = tracking ? match.pose : expected;
    const last = this.#last();
    if (tracking) this.#compare(odometry, relativeTo(last.pose, pose));
    this.#offset = relativeTo(last.pose, pose);
    if (tracking) this.#seenAt = this.#offset;
    this.#odometry = odometry;
    const keyframe = tracking && this.#isNew() && this.#keyframes.length < this.#params.maxKeyframes;
    if (keyframe) this.#keep(near, sparse, pose, match);
    return { pose: this.pose(), score: match?.score ?? null, tracking, keyframe, loopsClosed };
  }

  /** `base_link` in the map at the last scan; null before the first. */
  pose(): Pose | null {
    return this.#keyframes.length === 0 ? null : compose(this.#last().pose, this.#offset);
  }

  /** The way of the robot, one pose a keyframe. */
  path(): Pose[] {
    return this.#keyframes.map((keyframe) => keyframe.pose);
  }

  /** The map so far; null before the first scan. */
  grid(): OccupancyGrid | null {
    return this.#raster.grid();
  }

  /** Mean entropy of the cells that were seen, bits: the lower the surer; null before the first scan. */
  entropy(): number | null {
    return this.#raster.entropy();
  }

  /** False while the wheels contradict the scans: then scans should not be straightened with them either. */
  get odometryBelieved(): boolean {
    return this.#trust.believed;
  }

  /** Work that is left over from a closed loop. */
  get busy(): boolean {
    return this.#job !== null;
  }

  /** Does all work that is left, matches places that lie close together once more, and draws the map anew. */
  finish(): void {
    while (this.#job !== null) this.#work();
    if (this.#keyframes.length === 0) return;
    for (const edge of this.#closeNeighbours()) this.#edges.push(edge);
    this.#job = this.#straighten();
    while (this.#job !== null) this.#work();
  }

  quality(): MapperQuality {
    const { scans, unmatched, matched, score, loops, drift } = this.#sum;
    return {
      scans,
      keyframes: this.#keyframes.length,
      unmatched,
      loopsClosed: loops,
      loopsRejected: this.#closer.rejected,
      meanScore: matched === 0 ? null : score / matched,
      way: this.#way,
      driftCorrected: drift,
      leftOut: this.#raster.leftOut,
    };
  }

  #first(points: ScanPoints, sparse: ScanPoints, odometry: Pose | null): MapperUpdate {
    if (sparse.count < MIN_POINTS) {
      this.#sum.unmatched++;
      return { pose: null, score: null, tracking: false, keyframe: false, loopsClosed: 0 };
    }
    this.#odometry = odometry;
    this.#insert({ pose: { x: 0, y: 0, theta: 0 }, way: 0, points, sparse });
    return { pose: this.pose(), score: null, tracking: true, keyframe: true, loopsClosed: 0 };
  }

  /** What the wheels say of the way from the last scan to this one, and what the scans say. */
  #compare(odometry: Pose | null, offset: Pose): void {
    if (odometry === null || this.#odometry === null) return;
    this.#trust.compare(relativeTo(this.#odometry, odometry), relativeTo(this.#offset, offset));
  }

  #expected(odometry: Pose | null): Pose {
    const pose = compose(this.#last().pose, this.#offset);
    if (odometry === null || this.#odometry === null || !this.#trust.believed) return pose;
    return compose(pose, relativeTo(this.#odometry, odometry));
  }

  /** Where odometry says it is, give or take; where that does not fit, near the place that last did. */
  #match(sparse: ScanPoints, expected: Pose, odometry: Pose | null): Match | null {
    const { search, blind, minScore } = this.#params;
    if (odometry !== null && this.#odometry !== null && this.#trust.believed) {
      const moved = relativeTo(this.#odometry, odometry);
      const way = Math.hypot(moved.x, moved.y);
      const match = this.#matchNear(sparse, expected, ODOMETRY_PRIOR, {
        xy: Math.min(WIDEST.xy, search.xy + search.xyPerMetre * way),
        theta: Math.min(
          WIDEST.theta,
          search.theta + search.thetaPerRadian * Math.abs(moved.theta) + search.thetaPerMetre * way,
        ),
      });
      if (match !== null && match.score >= minScore) return match;
    }
    // Wheels that slip, are lifted or dead, or are not there: a robot cannot have gone far since.
    const times = 1 + this.#missed / MISSED_PER_WINDOW;
    return this.#matchNear(sparse, compose(this.#last().pose, this.#seenAt), BLIND_PRIOR, {
      xy: Math.min(WIDEST.xy, times * blind.xy),
      theta: Math.min(WIDEST.theta, times * blind.theta),
    });
  }

  #matchNear(sparse: ScanPoints, at: Pose, prior: Prior, window: SearchWindow): Match | null {
    const field = this.#localField();
    const rough = searchMatch(field, sparse, at, window, this.#params.minScore / 2);
    return rough === null ? null : refineMatch(field, sparse, rough, prior);
  }

  /** What the newest keyframes saw, around the newest. */
  #localField(): MatchField {
    if (this.#field !== null) return this.#field;
    const { fieldResolution, fieldSigma, maxRange, window } = this.#params;
    const half = Math.min(maxRange, 10) + 1;
    const field = new MatchField(this.#last().pose, half, fieldResolution, fieldSigma);
    for (const keyframe of this.#keyframes.slice(-window)) field.add(keyframe.sparse, keyframe.pose);
    this.#field = field;
    return field;
  }

  #isNew(): boolean {
    const { travel, turn } = this.#params.keyframe;
    const moved = Math.hypot(this.#offset.x, this.#offset.y);
    return moved >= travel || Math.abs(this.#offset.theta) >= turn;
  }

  /** Makes the scan a part of the map. */
  #keep(points: ScanPoints, sparse: ScanPoints, pose: Pose, match: Match): void {
    const last = this.#last();
    this.#way += distance(last.pose, pose);
    const fit = worthOf(match.information);
    for (const [k, worth] of [
      ODOMETRY_INFORMATION.xy,
      ODOMETRY_INFORMATION.xy,
      ODOMETRY_INFORMATION.theta,
    ].entries())
      fit[4 * k] = (fit[4 * k] ?? 0) + worth;
    this.#edges.push({
      from: this.#keyframes.length - 1,
      to: this.#keyframes.length,
      relative: relativeTo(last.pose, pose),
      information: turnedInformation(fit, last.pose.theta),
      loop: false,
    });
    this.#insert({ pose, way: this.#way, points, sparse });
    this.#offset = { x: 0, y: 0, theta: 0 };
    this.#seenAt = this.#offset;
    this.#unlooked++;
  }

  /** Looks for a loop from the newest keyframe. How many places were recognised. */
  #look(): number {
    if (this.#unlooked === 0 || this.#way < this.#lookFrom) return 0;
    // With a new keyframe the field is made anew: that is enough for one scan.
    if ((this.#field === null || this.#job !== null) && this.#unlooked < LOOK_AFTER) return 0;
    this.#unlooked = 0;
    const loops = this.#closer.look(this.#keyframes, this.#keyframes.length - 1);
    if (loops.length === 0) return 0;
    this.#edges.push(...loops);
    this.#sum.loops += loops.length;
    this.#loopsWaiting = true;
    this.#lookFrom = this.#way + this.#params.loops.pause;
    return loops.length;
  }

  #insert(keyframe: Keyframe): void {
    this.#keyframes.push(keyframe);
    this.#raster.add(keyframe.points, keyframe.pose, this.#params.sensor);
    this.#field = null;
  }

  #last(): Keyframe {
    const last = this.#keyframes.at(-1);
    if (last === undefined) throw new Error('no scan was taken in yet');
    return last;
  }

  /** One portion of what a loop sets in motion. */
  #work(): void {
    if (this.#job === null && this.#loopsWaiting) {
      this.#loopsWaiting = false;
      this.#job = this.#straighten();
    }
    if (this.#job?.next().done === true) this.#job = null;
  }

  *#straighten(): Generator<undefined, void> {
    const before = this.path();
    const poses = [...before];
    for (let k = 0; k < IMPROVE_STEPS && !improvePoses(poses, this.#edgesUpTo(poses.length)); k++) yield;
    this.#takeOver(before, poses);
    const raster = new MapRaster(this.#params.resolution, this.#params.maxExtent);
    for (let i = 0; i < this.#keyframes.length; ) {
      yield;
      for (const keyframe of this.#keyframes.slice(i, i + REDRAW_PORTION)) {
        raster.add(keyframe.points, keyframe.pose, this.#params.sensor);
      }
      i += REDRAW_PORTION;
    }
    this.#raster = raster;
  }

  #edgesUpTo(count: number): Edge[] {
    return this.#edges.filter((edge) => edge.from < count && edge.to < count);
  }

  /** Moves the keyframes to their new poses, and those that came meanwhile along with the last of them. */
  #takeOver(before: readonly Pose[], poses: readonly Pose[]): void {
    const [was, is] = [before.at(-1), poses.at(-1)];
    this.#keyframes.forEach((keyframe, i) => {
      const moved = poses[i];
      if (moved !== undefined) {
        this.#sum.drift = Math.max(this.#sum.drift, distance(moved, keyframe.pose));
        keyframe.pose = moved;
      } else if (was !== undefined && is !== undefined) {
        keyframe.pose = compose(is, relativeTo(was, keyframe.pose));
      }
    });
    this.#field = null;
  }

  /** Loops between places that lie close together now: they pull double walls into one. */
  *#closeNeighbours(): Generator<Edge, void> {
    const known = new Set(this.#edges.filter((edge) => edge.loop).map((edge) => `${edge.from}:${edge.to}`));
    const { minWay } = this.#params.loops;
    for (const [index, now] of this.#keyframes.entries()) {
      if (index % 3 !== 0) continue;
      let place: number | null = null;
      let nearest = 1;
      for (const [i, old] of this.#keyframes.entries()) {
        if (now.way - old.way < minWay) break;
        const away =
          distance(old.pose, now.pose) + 0.3 * Math.abs(wrapAngle(old.pose.theta - now.pose.theta));
        if (away < nearest) [nearest, place] = [away, i];
      }
      if (place === null || known.has(`${place}:${index}`)) continue;
      const found = this.#closer.match(this.#keyframes, index, place, { xy: 0.3, theta: 0.12 });
      if (found !== null) yield found.edge;
    }
  }
}
