/** Makes missions out of seeds. */
import type { Point, Pose } from '../../config/contracts/geometry.js';
import { seededRandom } from '../../config/contracts/ids.js';
import { ahead, type Terrain, terrainOf } from './terrain.js';
import { FAMILIES, type Family, HOMES, type Leg, type Mission, type Trouble } from './types.js';

/** As `simulator/world/visitors.ts` has them, m. */
const PERSON_RADIUS = 0.16;
const OBSTACLE_RADIUS = 0.15;

/** The mission of a seed; `family` narrows what it may be. */
export function planMission(seed: number, family: Family | null = null): Mission {
  const random = seededRandom(seed);
  // Families take turns, so that every two dozen seeds have all of them in all homes.
  const kind = family ?? FAMILIES[seed % FAMILIES.length] ?? 'clear';
  const home = HOMES[Math.floor(seed / FAMILIES.length) % HOMES.length] ?? 'two-bedroom';
  const draw = new Draw(terrainOf(home), random);
  return { seed, family: kind, home, legs: [...LEGS[kind](draw), draw.homeward()] };
}

/** Draws places, and keeps where the robot will be at the end of the last leg. */
class Draw {
  readonly terrain: Terrain;
  readonly random: () => number;
  at: Pose;

  constructor(terrain: Terrain, random: () => number) {
    this.terrain = terrain;
    this.random = random;
    this.at = ahead(terrain.station, -0.6);
  }

  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  /** A leg to a place drawn at random. */
  leg(troubles: Trouble[] = [], right: Leg['right'] = ['arrived'], before: Trouble[] = []): Leg {
    return this.to(this.terrain.place(this.random), troubles, right, before);
  }

  to(goal: Pose, troubles: Trouble[] = [], right: Leg['right'] = ['arrived'], before: Trouble[] = []): Leg {
    const shortest = this.terrain.wayLength(this.at, goal);
    if (right.includes('arrived')) this.at = goal;
    return { goal, shortest, right, troubles, before };
  }

  homeward(): Leg {
    const shortest = this.terrain.wayLength(this.at, ahead(this.terrain.station, -0.6));
    const before: Trouble[] = [
      { kind: 'clear_obstacles', afterMs: 0 },
      { kind: 'people_leave', afterMs: 0 },
    ];
    return { goal: null, shortest, right: ['arrived'], troubles: [], before };
  }

  /** Places along the way to a goal, by their share of it. */
  along(goal: Pose, share: number): Pose {
    const way = this.terrain.way(this.at, goal);
    return way[Math.floor(share * (way.length - 1))] ?? goal;
  }

  /** A place near a point where something of that radius can stand, far enough from both ends of the leg. */
  near(point: Point, spread: number, radius: number, ends: readonly Point[]): Point | null {
    for (let k = 0; k < 200; k++) {
      const at = { x: point.x + this.between(-spread, spread), y: point.y + this.between(-spread, spread) };
      if (this.terrain.isClear(at, radius + 0.02) && ends.every((end) => apart(at, end) > 0.75)) return at;
    }
    return null;
  }
}

const apart = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

const LEGS: Record<Family, (draw: Draw) => Leg[]> = {
  clear: (draw) => [draw.leg(), draw.leg(), draw.leg()],
  obstacles: (draw) => [obstacleLeg(draw), obstacleLeg(draw)],
  people: (draw) => [peopleLeg(draw), peopleLeg(draw)],
  doors: (draw) => [doorLeg(draw)],
  sensors: (draw) => [sensorLeg(draw), sensorLeg(draw)],
  wheels: (draw) => [wheelLeg(draw), wheelLeg(draw)],
  carried: (draw) => [draw.leg(), carriedLeg(draw)],
  battery: (draw) => [draw.leg(), batteryLeg(draw)],
  refused: (draw) => [
    draw.to(draw.terrain.impossible(draw.random), [], ['refused']),
    draw.to({ x: 400, y: 400, theta: 0 }, [], ['refused']),
    draw.leg(),
  ],
  stopped: (draw) => [stoppedLeg(draw), draw.leg()],
};

/** Things left in the way: some before the robot sets off, some right in front of it. */
function obstacleLeg(draw: Draw): Leg {
  const goal = draw.terrain.place(draw.random);
  const ends = [draw.at, goal];
  const troubles: Trouble[] = [];
  for (let k = 0; k < 3; k++) {
    const at = draw.near(draw.along(goal, draw.between(0.2, 0.8)), 0.4, OBSTACLE_RADIUS, ends);
    if (at !== null)
      troubles.push({ kind: 'obstacle', at, afterMs: draw.random() < 0.5 ? 0 : draw.between(1000, 8000) });
  }
  // It may bar the only way: then saying so is right.
  const leg = draw.to(goal, troubles, ['arrived', 'obstructed'], [{ kind: 'clear_obstacles', afterMs: 0 }]);
  return leg;
}

/** Somebody walks to and fro across the way. */
function peopleLeg(draw: Draw): Leg {
  const goal = draw.terrain.place(draw.random);
  const troubles: Trouble[] = [];
  for (let k = 0; k < 2; k++) {
    const middle = draw.along(goal, draw.between(0.3, 0.7));
    const from = draw.near(middle, 1, PERSON_RADIUS, [draw.at]);
    const to = draw.near(middle, 1.5, PERSON_RADIUS, [draw.at]);
    if (from === null || to === null || apart(from, to) < 0.5) continue;
    troubles.push({
      kind: 'walker',
      from,
      to,
      speed: draw.between(0.3, 1.2),
      afterMs: draw.between(0, 4000),
    });
  }
  return draw.to(goal, troubles, ['arrived', 'obstructed'], [{ kind: 'people_leave', afterMs: 0 }]);
}

/** Something stands in the middle of the way, wherever it is narrowest, and may be taken away again. */
function doorLeg(draw: Draw): Leg {
  const goal = draw.terrain.place(draw.random);
  const way = draw.terrain.way(draw.at, goal);
  const narrow = way.filter(
    (p) => !draw.terrain.isClear(p, 0.42) && apart(p, goal) > 0.8 && apart(p, draw.at) > 1,
  );
  const at = narrow[Math.floor(draw.random() * narrow.length)] ?? draw.along(goal, 0.5);
  const troubles: Trouble[] = [{ kind: 'obstacle', at, afterMs: 0 }];
  if (draw.random() < 0.5) troubles.push({ kind: 'clear_obstacles', afterMs: draw.between(5000, 30_000) });
  return draw.to(goal, troubles, ['arrived', 'obstructed']);
}

/** Bytes are damaged, cables pulled and put back, the lidar covered. */
function sensorLeg(draw: Draw): Leg {
  const at = draw.between(500, 8000);
  const mended = at + draw.between(500, 4000);
  const inject = (afterMs: number, ...words: string[]): Trouble => ({ kind: 'inject', words, afterMs });
  const kinds = [
    () => [inject(at, 'noise', 'lidar', '0.1'), inject(mended + 20_000, 'noise', 'lidar', '0')],
    () => [inject(at, 'noise', 'base', '0.1'), inject(mended + 20_000, 'noise', 'base', '0')],
    () => [inject(at, 'unplug', 'lidar'), inject(mended, 'plug', 'lidar')],
    () => [inject(at, 'unplug', 'base'), inject(mended, 'plug', 'base')],
    () => [inject(at, 'block-lidar', '120'), inject(mended, 'block-lidar', '0')],
  ];
  const troubles = kinds[Math.floor(draw.random() * kinds.length)]?.() ?? [];
  const calm: Trouble[] = [
    inject(0, 'noise', 'lidar', '0'),
    inject(0, 'noise', 'base', '0'),
    inject(0, 'plug', 'lidar'),
    inject(0, 'plug', 'base'),
    inject(0, 'block-lidar', '0'),
  ];
  return draw.to(draw.terrain.place(draw.random), troubles, ['arrived'], calm);
}

/** Wheels are held for a while; bumper and cliff sensors report what is not there. */
function wheelLeg(draw: Draw): Leg {
  const at = draw.between(1000, 6000);
  const inject = (afterMs: number, ...words: string[]): Trouble => ({ kind: 'inject', words, afterMs });
  const kinds = [
    () => [inject(at, 'block-wheels', 'on'), inject(at + draw.between(500, 3000), 'block-wheels', 'off')],
    () => [inject(at, 'bump', 'left'), inject(at + 4000, 'bump', 'right')],
    () => [inject(at, 'cliff')],
  ];
  const troubles = kinds[Math.floor(draw.random() * kinds.length)]?.() ?? [];
  return draw.to(draw.terrain.place(draw.random), troubles, ['arrived'], [inject(0, 'block-wheels', 'off')]);
}

/** Carried to another place while it stands, without being told. */
function carriedLeg(draw: Draw): Leg {
  const to = draw.terrain.place(draw.random);
  draw.at = to;
  return draw.leg([], ['arrived'], [{ kind: 'carry', to, afterMs: 0 }]);
}

/** The battery falls on the way: it says so and goes home. */
function batteryLeg(draw: Draw): Leg {
  const words = ['battery', String(Math.round(draw.between(8, 14)))];
  const trouble: Trouble = { kind: 'inject', words, afterMs: draw.between(1000, 4000) };
  return draw.leg([trouble], ['low_battery', 'arrived']);
}

/** Somebody presses the stop button and releases it some seconds later. */
function stoppedLeg(draw: Draw): Leg {
  const trouble: Trouble = {
    kind: 'estop',
    afterMs: draw.between(1500, 6000),
    releaseAfterMs: draw.between(1500, 5000),
  };
  return draw.leg([trouble], ['stopped', 'arrived']);
}
