/** Where the robot is on a map that grows: what the mapper matched last, carried on by the wheels. */
import { compose, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import type { Localizer } from '../localisation/localizer.js';
import type { Odometry } from '../localisation/odometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';
import type { LiveMapper } from './live-mapper.js';

/** What the navigator asks of whatever knows the robot's place. */
export type Whereabouts = Pick<
  Localizer,
  | 'pose'
  | 'poseAt'
  | 'localized'
  | 'doubted'
  | 'settled'
  | 'score'
  | 'spread'
  | 'addScan'
  | 'setPose'
  | 'setUnknown'
  | 'counters'
>;

/** Scans in a row that the mapper does not recognise before the place counts as lost: two seconds of turns. */
const LOST_AFTER = 20;

export class MappedPlace implements Whereabouts {
  readonly #mapper: LiveMapper;
  readonly #odometry: Odometry;
  #anchor: Pose;
  #place: Pose = { x: 0, y: 0, theta: 0 };
  #unmatched = 0;
  #matched = 0;
  #score: number | null = null;
  #grown = true;
  #lastOdometry: Pose = { x: 0, y: 0, theta: 0 };

  constructor(mapper: LiveMapper, odometry: Odometry) {
    this.#mapper = mapper;
    this.#odometry = odometry;
    this.#anchor = odometry.pose;
  }

  /** Scans that were recognised, the first included. */
  get scans(): number {
    return this.#matched;
  }

  /** Whether the map has changed since this was last asked. */
  takeGrown(): boolean {
    const grown = this.#grown || this.#mapper.busy;
    this.#grown = false;
    return grown;
  }

  pose(): Pose {
    return compose(this.#place, relativeTo(this.#anchor, this.#odometry.pose));
  }

  poseAt(mono: number): Pose {
    return compose(this.#place, relativeTo(this.#anchor, this.#odometry.poseAt(mono)));
  }

  /** Null before the first scan. */
  get localized(): boolean | null {
    return this.#matched === 0 ? null : this.#unmatched < LOST_AFTER;
  }

  get doubted(): boolean {
    return this.#unmatched > 2;
  }

  get settled(): boolean {
    return this.#matched > 0 && this.#unmatched === 0;
  }

  get score(): number | null {
    return this.#score;
  }

  spread(): { xy: number; theta: number } {
    return { xy: 0.05, theta: 0.03 };
  }

  addScan(points: ScanPoints, mono: number): void {
    const odometry = this.#odometry.poseAt(mono);
    const { tracking, score, keyframe } = this.#mapper.addScan(points, odometry);
    this.#score = score;
    this.#grown ||= keyframe;
    if (tracking) this.#matched += 1;
    this.#unmatched = tracking ? 0 : this.#unmatched + 1;
    this.#take(odometry);
  }

  /** Something else about the map has changed. */
  noteChange(): void {
    this.#grown = true;
  }

  /** After the map was pulled straight without a scan. */
  refresh(): void {
    this.#grown = true;
    this.#take(this.#lastOdometry);
  }

  /** Nobody else knows where it is on a map that is just being made. */
  setPose(): void {}
  setUnknown(): void {}

  counters(): Record<string, number> {
    return { scans_mapped: this.#matched, scans_unmatched: this.#unmatched };
  }

  #take(odometry: Pose): void {
    this.#lastOdometry = odometry;
    const pose = this.#mapper.pose();
    if (pose === null) return;
    this.#place = pose;
    this.#anchor = odometry;
  }
}
