/** A simulated room whose people and furniture a tracker sees through a lidar with noise, ten times a second. */
import { PersonTracker } from '../../../drivers/amr/tracking/person-tracker.js';
import type { PersonTrack, ScannedPoint } from '../../../drivers/amr/tracking/types.js';
import type { Person } from '../../../simulator/world/visitors.js';
import type { World } from '../../../simulator/world/world.js';
import { squareWorld } from '../simulator/homes.js';

const RAYS = 450;
const SCAN_MS = 100;

export class Scene {
  readonly world: World;
  readonly tracker = new PersonTracker();
  /** Every id that was ever said to be a person. */
  readonly said = new Set<number>();
  /** Largest distance between a person's track that was seen and the person, m. */
  worst = 0;

  constructor(extra = '', pose: [number, number, number] = [2, 2, 0]) {
    this.world = squareWorld(pose, extra);
  }

  person(x: number, y: number, options: Parameters<World['visitors']['addPerson']>[1] = {}): Person {
    return this.world.visitors.addPerson({ x, y }, options);
  }

  /** `move`: where the robot is put before each scan. */
  run(ms: number, move: (timeMs: number) => void = () => {}): PersonTrack[] {
    for (let t = 0; t < ms; t += SCAN_MS) {
      this.world.step(SCAN_MS);
      move(this.world.timeMs);
      this.tracker.add({ points: this.scan(), mono: this.world.timeMs }, this.world.body.pose);
      for (const track of this.people) {
        this.said.add(track.id);
        const off = Math.min(
          ...this.world.visitors.people.map((p) => Math.hypot(p.x - track.x, p.y - track.y)),
        );
        if (track.unseenMs === 0 && Number.isFinite(off)) this.worst = Math.max(this.worst, off);
      }
    }
    return this.people;
  }

  get people(): PersonTrack[] {
    return this.tracker.people();
  }

  /** The track nearest to somebody; null when none is within 0.5 m. */
  trackOf(person: Person): PersonTrack | null {
    const near = this.people
      .map((track) => ({ track, off: Math.hypot(track.x - person.x, track.y - person.y) }))
      .filter(({ off }) => off < 0.5)
      .sort((a, b) => a.off - b.off);
    return near[0]?.track ?? null;
  }

  /** The walls of the room are on the map; what stands in it is not. */
  scan(): ScannedPoint[] {
    const { lidar, body, visitors } = this.world;
    const points: ScannedPoint[] = [];
    for (let i = 0; i < RAYS; i++) {
      const bearing = ((i + 0.5) / RAYS) * 2 * Math.PI - Math.PI;
      const { range } = lidar.measure(body.pose, bearing, visitors.things);
      if (range === 0) continue;
      const angle = body.pose.theta + bearing;
      const x = body.pose.x + range * Math.cos(angle);
      const y = body.pose.y + range * Math.sin(angle);
      const mapped = Math.min(x - 0.05, y - 0.05, 4.05 - x, 4.05 - y) < 0.15;
      points.push({ x, y, range, mapped });
    }
    return points;
  }
}

/** Four legs of this radius on the corners of a square. */
export function fourLegs(x: number, y: number, side: number, radius: number): string {
  const h = side / 2;
  const leg = (dx: number, dy: number, i: number) =>
    `{id: leg${i}_${Math.round(100 * x)}_${Math.round(100 * y)}, at: [${(x + dx).toFixed(3)}, ${(y + dy).toFixed(3)}], radius: ${radius}}`;
  return [leg(-h, -h, 1), leg(h, -h, 2), leg(h, h, 3), leg(-h, h, 4)].join(', ');
}
