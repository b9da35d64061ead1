/** The people round the robot, from its scans and its odometry, and where they are on its map. */
import { compose, type Point, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import type { ScanPoints } from '../localisation/scan-points.js';
import { PersonTracker } from './person-tracker.js';
import type { PersonTrack, ScannedPoint } from './types.js';

/** What the map has where a beam ended, in the `map` frame. */
export interface KnownGround {
  /** `base_link` in `map` when the scan was taken; null while that is not known. */
  pose: Pose | null;
  isMapped(p: Point): boolean;
}

export class People {
  readonly #tracker = new PersonTracker();
  /** `odom` in `map` at the newest scan. */
  #odomInMap: Pose | null = null;

  /** Takes in a scan's points, in `base_link` when that was at `odom`. Without a pose nothing counts as mapped. */
  add(points: ScanPoints, odom: Pose, ground: KnownGround | null, mono: number): void {
    const pose = ground?.pose ?? null;
    this.#odomInMap = pose === null ? null : compose(pose, inverse(odom));
    const ends: ScannedPoint[] = [];
    for (let i = 0; i < points.count; i++) {
      const local = { x: points.x[i] ?? 0, y: points.y[i] ?? 0, theta: 0 };
      const { x, y } = compose(odom, local);
      const mapped = pose !== null && ground?.isMapped(compose(pose, local)) === true;
      ends.push({ x, y, range: Math.sqrt(local.x * local.x + local.y * local.y), mapped });
    }
    this.#tracker.add({ points: ends, mono }, odom);
  }

  /** In the `odom` frame, as of the newest scan. */
  inOdom(): readonly PersonTrack[] {
    return this.#tracker.people();
  }

  /** In the `map` frame, as of the newest scan; nobody while the robot does not know where it is. */
  inMap(): readonly PersonTrack[] {
    const frame = this.#odomInMap;
    return frame === null ? [] : this.inOdom().map((track) => moved(track, frame));
  }

  counters(): Record<string, number> {
    return this.#tracker.counters();
  }
}

function moved(track: PersonTrack, frame: Pose): PersonTrack {
  const at = compose(frame, { x: track.x, y: track.y, theta: 0 });
  const c = Math.cos(frame.theta);
  const s = Math.sin(frame.theta);
  const { vx, vy } = track;
  return { ...track, x: at.x, y: at.y, vx: c * vx - s * vy, vy: s * vx + c * vy };
}

function inverse(pose: Pose): Pose {
  return relativeTo(pose, { x: 0, y: 0, theta: 0 });
}
