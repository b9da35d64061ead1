/** Whether areas that somebody drew can be used on this map: each refusal names the field and says what is wrong. */
import { Refusal, shown } from '../../../config/contracts/errors.js';
import { insidePolygon, type Point, type Polygon, type Pose } from '../../../config/contracts/geometry.js';
import { COST_INSCRIBED } from '../costmap/costs.js';
import { fillPolygon } from '../costmap/fill-polygon.js';
import { GridFrame } from '../costmap/grid-frame.js';
import { StaticCostmap } from '../costmap/static-costmap.js';
import type { Areas, MapBundle, OccupancyGrid, Room } from '../types.js';
import { selfIntersection, signedArea } from './polygons.js';
import { comparable } from './rooms.js';

/** m²: less is no room, and no area that anybody meant to draw. */
const SMALLEST_ROOM = 0.5;
const SMALLEST_AREA = 0.01;
/** Rooms may share the ground of a wall's thickness, not more, m². */
export const SHARED_GROUND = 0.15;

/** Throws `Refusal` INVALID_PARAMS. `least`: the smallest area, m². */
export function checkOutline(
  polygon: Polygon,
  grid: OccupancyGrid,
  field: string,
  least = SMALLEST_AREA,
): void {
  const crossing = selfIntersection(polygon);
  if (crossing !== null) {
    throw invalid(field, `the outline crosses or touches itself at ${at(crossing)}`);
  }
  const area = Math.abs(signedArea(polygon));
  if (area < least) throw invalid(field, `found ${area.toFixed(3)} m²; at least ${least} m² are needed`);
  checkOnMap(polygon, grid, field);
}

/** Throws `Refusal` INVALID_PARAMS. A vertex may lie on the map's edge, half a cell beyond at most. */
export function checkOnMap(points: readonly Point[], grid: OccupancyGrid, field: string): void {
  const frame = new GridFrame(grid);
  for (const [i, p] of points.entries()) {
    const { x, y } = frame.toGrid(p);
    if (x < -0.5 || y < -0.5 || x > grid.width + 0.5 || y > grid.height + 0.5) {
      throw invalid(`${field}.${i}`, `${at(p)} is off the map`);
    }
  }
}

/** Throws `Refusal` AMBIGUOUS_TARGET: one name must stand for one room. */
export function checkName(
  name: string,
  rooms: readonly Room[],
  except: readonly string[],
  field: string,
): void {
  const key = comparable(name);
  for (const room of rooms) {
    if (except.includes(room.id)) continue;
    if ([room.id, room.name, ...room.aliases].some((taken) => comparable(taken) === key)) {
      const has = `${shown(room.name)} (id ${shown(room.id)})`;
      throw new Refusal('AMBIGUOUS_TARGET', `${field}: ${shown(name)} already stands for ${has}`, field);
    }
  }
}

/** Throws `Refusal` INVALID_PARAMS when a room lies on another one's ground. */
export function checkApart(room: Room, others: readonly Room[], grid: OccupancyGrid, field: string): void {
  const frame = new GridFrame(grid);
  const mine = maskOf(room.polygon, frame);
  for (const other of others) {
    if (other.id === room.id) continue;
    let shared = 0;
    fillInside(frame, other.polygon, (i) => {
      shared += mine[i] ?? 0;
    });
    const area = shared * grid.resolution ** 2;
    if (area > SHARED_GROUND) {
      const them = `${shown(other.name)} (id ${shown(other.id)})`;
      throw invalid(field, `it would lie on ${area.toFixed(1)} m² of ${them}; rooms must not overlap`);
    }
  }
}

/** Throws `Refusal` INVALID_PARAMS. */
export function checkRoomOutline(polygon: Polygon, grid: OccupancyGrid, field: string): void {
  checkOutline(polygon, grid, field, SMALLEST_ROOM);
}

/** The ground as the planner sees it, for goals: what is free, and what of it hangs together. */
export class DrivableGround {
  readonly #costmap: StaticCostmap;
  readonly #reached: Uint8Array;

  /** `radius`: of the robot, m. Reached is what hangs together with the station, or with a room's goal. */
  constructor(bundle: MapBundle, radius: number, inflation: StaticCostmap['inflation']) {
    this.#costmap = new StaticCostmap(bundle, { ...inflation, robotRadius: radius });
    this.#reached = this.#spread(seedsOf(bundle.areas));
  }

  /** Throws `Refusal`: INVALID_PARAMS for a goal outside its room, TARGET_UNREACHABLE where the robot cannot get. */
  checkGoal(room: Pick<Room, 'goal' | 'polygon'>, field: string): void {
    const { goal, polygon } = room;
    if (!insidePolygon(goal, polygon)) throw invalid(field, `${at(goal)} must lie inside the room`);
    const status = this.#costmap.statusAt(goal);
    if (status === 'off_map') throw invalid(field, `${at(goal)} is off the map`);
    if (status !== 'free') {
      throw new Refusal(
        'TARGET_UNREACHABLE',
        `${field}: the robot cannot stand at ${at(goal)}: ${status}`,
        field,
      );
    }
    if (this.#reached[this.#costmap.frame.indexAt(goal)] !== 1) {
      throw new Refusal('TARGET_UNREACHABLE', `${field}: no way leads to ${at(goal)}`, field);
    }
  }

  /** The most open place in an outline that the robot can get to, looking along +x; null when there is none. */
  placeIn(polygon: Polygon): Pose | null {
    const { frame, wallDistance } = this.#costmap;
    let best = -1;
    let widest = 0;
    const centre = middleOf(polygon);
    fillInside(frame, polygon, (i) => {
      if (this.#reached[i] !== 1) return;
      const p = frame.centreOf(i);
      // In the open it does not matter how far the next wall is: the middle is where people expect it.
      const open = Math.min(0.8, wallDistance[i] ?? 0) - 0.02 * Math.hypot(p.x - centre.x, p.y - centre.y);
      if (best >= 0 && open <= widest) return;
      [best, widest] = [i, open];
    });
    if (best < 0) return null;
    const { x, y } = frame.centreOf(best);
    return { x: round(x), y: round(y), theta: 0 };
  }

  #spread(seeds: readonly Point[]): Uint8Array {
    const { frame, cost } = this.#costmap;
    const free = (i: number) => i >= 0 && (cost[i] ?? 255) < COST_INSCRIBED;
    const reached = new Uint8Array(cost.length);
    const starts = seeds.map((p) => frame.indexAt(p)).filter(free);
    const stack = starts.length > 0 ? [starts[0] ?? 0] : largestFree(cost, frame);
    for (const i of stack) reached[i] = 1;
    for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
      const x = cell % frame.width;
      const y = (cell - x) / frame.width;
      for (const [dx, dy] of NEIGHBOURS) {
        const next = frame.indexOf(x + dx, y + dy);
        if (!free(next) || reached[next] === 1) continue;
        reached[next] = 1;
        stack.push(next);
      }
    }
    return reached;
  }
}

const NEIGHBOURS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

/** Where the robot surely gets: in front of its station, then the goals of rooms. */
function seedsOf({ station, rooms }: Areas): Point[] {
  const ahead = [0.4, 0.6, 0.8, 1].map((back) =>
    station === null
      ? null
      : {
          x: station.pose.x - back * Math.cos(station.pose.theta),
          y: station.pose.y - back * Math.sin(station.pose.theta),
        },
  );
  return [...ahead.filter((p) => p !== null), ...rooms.map((room) => room.goal)];
}

/** A map without a station and rooms: the largest free region of it, given by one of its cells. */
function largestFree(cost: Uint8Array, frame: GridFrame): number[] {
  const seen = new Uint8Array(cost.length);
  let best: number[] = [];
  let most = 0;
  for (let start = 0; start < cost.length; start++) {
    if (seen[start] === 1 || (cost[start] ?? 255) >= COST_INSCRIBED) continue;
    const stack = [start];
    seen[start] = 1;
    let size = 0;
    for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
      size += 1;
      const x = cell % frame.width;
      const y = (cell - x) / frame.width;
      for (const [dx, dy] of NEIGHBOURS) {
        const next = frame.indexOf(x + dx, y + dy);
        if (next < 0 || seen[next] === 1 || (cost[next] ?? 255) >= COST_INSCRIBED) continue;
        seen[next] = 1;
        stack.push(next);
      }
    }
    if (size > most) [best, most] = [[start], size];
  }
  return best;
}

/** Cells whose centre lies in an outline. */
export function fillInside(frame: GridFrame, polygon: Polygon, visit: (index: number) => void): void {
  const seen = new Set<number>();
  fillPolygon(frame, polygon, (i) => {
    if (seen.has(i)) return;
    seen.add(i);
    if (insidePolygon(frame.centreOf(i), polygon)) visit(i);
  });
}

export function maskOf(polygon: Polygon, frame: GridFrame): Uint8Array {
  const mask = new Uint8Array(frame.width * frame.height);
  fillInside(frame, polygon, (i) => {
    mask[i] = 1;
  });
  return mask;
}

function middleOf(polygon: Polygon): Point {
  const xs = polygon.map((p) => p.x);
  const ys = polygon.map((p) => p.y);
  return { x: (Math.min(...xs) + Math.max(...xs)) / 2, y: (Math.min(...ys) + Math.max(...ys)) / 2 };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

export function at({ x, y }: Point): string {
  return `[${round(x)}, ${round(y)}]`;
}

export function invalid(field: string, problem: string): Refusal {
  return new Refusal('INVALID_PARAMS', `${field}: ${problem}`, field);
}
