/** What a mission is planned on: the home's own map, and what the robot can reach of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Point, Pose } from '../../config/contracts/geometry.js';
import { StaticCostmap } from '../../drivers/amr/costmap/static-costmap.js';
import { loadMapBundle } from '../../drivers/amr/map/bundle.js';
import { PlanEngine } from '../../drivers/amr/planner/engine.js';
import { createWorld, worldToMap } from '../../simulator/world/index.js';
import type { World } from '../../simulator/world/world.js';
import type { HomeName } from './types.js';

/** A goal is at least this far from walls and furniture, m. */
const ELBOW_ROOM = 0.3;

export interface Terrain {
  world: World;
  station: Pose;
  /** Length of the shortest way, m; null when there is none. */
  wayLength(from: Pose, to: Pose): number | null;
  /** The way itself. */
  way(from: Pose, to: Pose): Pose[];
  /** Whether something of that radius can stand there. */
  isClear(at: Point, radius: number): boolean;
  /** A place that the robot can be sent to from its station. */
  place(random: () => number): Pose;
  /** A place on the map where it cannot stand. */
  impossible(random: () => number): Pose;
}

/** The world file of a home; null for the one that comes with the simulator. */
export function worldFileOf(home: HomeName): string | null {
  if (home === 'two-bedroom') return null;
  return fileURLToPath(new URL(`../../simulator/worlds/${home}.yaml`, import.meta.url));
}

const known = new Map<HomeName, Terrain>();

export function terrainOf(home: HomeName): Terrain {
  const made = known.get(home) ?? survey(home);
  known.set(home, made);
  return made;
}

function survey(home: HomeName): Terrain {
  const world = createWorld(worldFileOf(home) ?? undefined);
  const dir = mkdtempSync(join(tmpdir(), 'da-terrain-'));
  const map = worldToMap(world);
  writeFileSync(join(dir, 'map.yaml'), map.mapYaml);
  writeFileSync(join(dir, 'map.pgm'), map.pgm);
  writeFileSync(join(dir, 'areas.yaml'), map.areasYaml);
  const bundle = loadMapBundle(join(dir, 'map.yaml'));
  rmSync(dir, { recursive: true });
  const costmap = new StaticCostmap(bundle);
  const engine = new PlanEngine(costmap);
  const station = bundle.areas.station?.pose;
  if (station === undefined) throw new Error(`${home} has no dock`);
  const start = ahead(station, -0.6);
  const way = (from: Pose, to: Pose) => {
    const plan = engine.plan(from, to);
    return plan.ok ? { length: plan.length, path: plan.path } : null;
  };
  const wallAt = (at: Point) => costmap.wallDistance[costmap.frame.indexAt(at)] ?? 0;
  const { minX, maxX, minY, maxY } = world.layout.bounds;
  const anywhere = (random: () => number): Pose => ({
    x: minX + random() * (maxX - minX),
    y: minY + random() * (maxY - minY),
    theta: (2 * random() - 1) * Math.PI,
  });
  return {
    world,
    station,
    wayLength: (from, to) => way(from, to)?.length ?? null,
    way: (from, to) => way(from, to)?.path ?? [],
    isClear: (at, radius) => wallAt(at) >= radius,
    place: (random) =>
      drawn(
        () => anywhere(random),
        (p) =>
          costmap.statusAt(p) === 'free' &&
          wallAt(p) >= ELBOW_ROOM &&
          Math.hypot(p.x - station.x, p.y - station.y) > 0.8 &&
          way(start, p) !== null,
      ),
    impossible: (random) =>
      drawn(
        () => anywhere(random),
        (p) => costmap.statusAt(p) === 'occupied',
      ),
  };
}

/** The same place so far ahead of (or behind) where it looks. */
export function ahead(pose: Pose, metres: number): Pose {
  return {
    x: pose.x + metres * Math.cos(pose.theta),
    y: pose.y + metres * Math.sin(pose.theta),
    theta: pose.theta,
  };
}

function drawn(draw: () => Pose, fits: (pose: Pose) => boolean): Pose {
  for (let k = 0; k < 20_000; k++) {
    const pose = draw();
    if (fits(pose)) return pose;
  }
  throw new Error('no such place in this home');
}
