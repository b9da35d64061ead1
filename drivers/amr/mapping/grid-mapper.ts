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
import { type Edge, improvePoses, turnedInformation } from './pose-graph.js';
import { type Match, refineMatch, searchMatch } from './scan-matcher.js';
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
const ODOMETRY_PRIOR = { xy: 40, theta: 40 };
const BLIND_PRIOR = { xy: 2, theta: 2 };
/** What odometry between two keyframes is worth, 1/m² and 1/rad². */
const ODOMETRY_INFORMATION = { xy: 1 / 0.1 ** 2, theta: 1 / 0.08 ** 2 };
const IMPROVE_STEPS = 8;
/** Keyframes drawn anew with each scan after a loop. */
const REDRAW_PORTION = 12;
/** Loops are looked for with every so many keyframes. */
const LOOK_EVERY = 2;

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
  #way = 0;
  #job: Generator<undefined, void> | null = null;
  #loopsWaiting = false;
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
    } else this.#sum.unmatched++;
    const pose = tracking ? match.pose : expected;
    const last = this.#last();
    this.#offset = relativeTo(last.pose, pose);
    this.#odometry = odometry;
    const keyframe = tracking && this.#isNew() && this.#keyframes.length < this.#params.maxKeyframes;
    const loopsClosed = keyframe ? this.#keep(near, sparse, pose, match) : 0;
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

  #expected(odometry: Pose | null): Pose {
    const pose = compose(this.#last().pose, this.#offset);
    if (odometry === null || this.#odometry === null) return pose;
    return compose(pose, relativeTo(this.#odometry, odometry));
  }

  #match(sparse: ScanPoints, expected: Pose, odometry: Pose | null): Match | null {
    const { search, blind, minScore } = this.#params;
    const known = odometry !== null && this.#odometry !== null;
    const moved = known ? relativeTo(this.#odometry ?? expected, odometry ?? expected) : null;
    const way = moved === null ? 0 : Math.hypot(moved.x, moved.y);
    const turn = moved === null ? 0 : Math.abs(moved.theta);
    const window =
      moved === null
        ? blind
        : {
            xy: search.xy + search.xyPerMetre * way,
            theta: search.theta + search.thetaPerRadian * turn + search.thetaPerMetre * way,
          };
    const field = this.#localField();
    const rough = searchMatch(field, sparse, expected, window, minScore / 2);
    if (rough === null) return null;
    const fine = refineMatch(field, sparse, rough, moved === null ? BLIND_PRIOR : ODOMETRY_PRIOR);
    return fine;
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
  #keep(points: ScanPoints, sparse: ScanPoints, pose: Pose, match: Match): number {
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
    const index = this.#keyframes.length - 1;
    if (index % LOOK_EVERY !== 0) return 0;
    const loops = this.#closer.look(this.#keyframes, index);
    this.#edges.push(...loops);
    this.#sum.loops += loops.length;
    if (loops.length > 0) this.#loopsWaiting = true;
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
