/**
 * A two-bedroom home as the local API shows it: an occupancy grid with rooms, furniture and a station, and the
 * scan that a lidar at some pose in it would see. Metres, radians, `map` frame.
 */
import type { Scan } from '../../../config/contracts/amr.js';
import type { Pose } from '../../../config/contracts/geometry.js';
import type { MapView } from '../../../daemon/runtime.js';

type Box = [x0: number, y0: number, x1: number, y1: number];

const RESOLUTION = 0.05;
const ORIGIN = { x: -0.5, y: -0.5, theta: 0 };
const WIDTH = 220;
const HEIGHT = 164;
const WALL = 0.1;

const ROOMS: { id: string; name: string; aliases: string[]; box: Box; goal: [number, number, number] }[] = [
  { id: '1', name: '현관', aliases: ['entrance'], box: [0, 0, 2, 2.2], goal: [1, 1.1, 1.57] },
  { id: '2', name: '거실', aliases: ['living room'], box: [0, 2.2, 5.2, 7], goal: [2.1, 3.4, 0] },
  { id: '3', name: '주방', aliases: ['kitchen'], box: [5.2, 4.2, 10, 7], goal: [6.2, 5.2, 0] },
  {
    id: '4',
    name: '안방',
    aliases: ['bedroom', 'main bedroom'],
    box: [5.2, 0, 10, 4.2],
    goal: [6.7, 1.7, 0],
  },
  { id: '5', name: '작은방', aliases: ['small room'], box: [2, 0, 5.2, 2.2], goal: [3.9, 1.1, -1.57] },
];

const DOORS: Box[] = [
  [0.6, 2.1, 1.5, 2.3],
  [3.5, 2.1, 4.4, 2.3],
  [5.1, 2.6, 5.3, 3.6],
  [5.1, 4.8, 5.3, 6.4],
];

const FURNITURE: Box[] = [
  [0.1, 4, 1, 6.2],
  [1.9, 4.8, 2.9, 5.5],
  [4.9, 6.5, 5.1, 6.9],
  [7.9, 0.9, 9.9, 2.9],
  [9.3, 3.1, 9.9, 3.7],
  [5.4, 6.4, 9.9, 6.9],
  [7, 4.8, 8.3, 5.6],
  [2.15, 0.1, 3.1, 0.75],
  [0.1, 0.1, 0.5, 0.9],
];

export const STATION: [number, number, number] = [3.4, 6.7, 1.57];

function inside([x0, y0, x1, y1]: Box, x: number, y: number): boolean {
  return x >= x0 && x < x1 && y >= y0 && y < y1;
}

function occupancyAt(x: number, y: number): number {
  const room = ROOMS.find(({ box }) => inside(box, x, y));
  const shell: Box = [-WALL, -WALL, 10 + WALL, 7 + WALL];
  if (!inside(shell, x, y)) return -1;
  if (DOORS.some((door) => inside(door, x, y))) return 0;
  if (room === undefined) return 100;
  const [x0, y0, x1, y1] = room.box;
  const half = WALL / 2;
  if (!inside([x0 + half, y0 + half, x1 - half, y1 - half], x, y)) return 100;
  return FURNITURE.some((box) => inside(box, x, y)) ? 100 : 0;
}

function rasterise(): Int8Array {
  const cells = new Int8Array(WIDTH * HEIGHT);
  for (let row = 0; row < HEIGHT; row++) {
    for (let column = 0; column < WIDTH; column++) {
      const x = ORIGIN.x + (column + 0.5) * RESOLUTION;
      const y = ORIGIN.y + (row + 0.5) * RESOLUTION;
      cells[row * WIDTH + column] = occupancyAt(x, y);
    }
  }
  return cells;
}

const corners = ([x0, y0, x1, y1]: Box): [number, number][] => [
  [x0, y0],
  [x1, y0],
  [x1, y1],
  [x0, y1],
];

export function homeMap(): MapView {
  return {
    id: 'home-1',
    resolution: RESOLUTION,
    width: WIDTH,
    height: HEIGHT,
    origin: ORIGIN,
    cells: rasterise(),
    rooms: ROOMS.map(({ id, name, aliases, box, goal }) => ({
      id,
      name,
      aliases,
      polygon: corners(box),
      goal,
    })),
    station: STATION,
    keepout: [{ id: 'k1', polygon: corners([3.9, 5.9, 5.1, 6.9]) }],
    walls: [],
    speed_areas: [],
  };
}

export function roomAt(x: number, y: number): { id: string; name: string } | null {
  return ROOMS.find(({ box }) => inside(box, x, y)) ?? null;
}

/** What an LD19-like lidar at `pose` sees: 360 rays, 12 m at most, a centimetre of ripple. */
export function scanAt(pose: Pose, at: number): Scan {
  const ranges = Array.from({ length: 360 }, (_, i) => {
    const angle = pose.theta - Math.PI + (i * Math.PI) / 180;
    for (let r = 0.15; r < 12; r += 0.02) {
      const x = pose.x + r * Math.cos(angle);
      const y = pose.y + r * Math.sin(angle);
      if (occupancyAt(x, y) !== 0) return r + 0.01 * Math.sin(i * 7.3);
    }
    return Number.NaN;
  });
  return { at, angleMin: -Math.PI, angleIncrement: Math.PI / 180, rangeMin: 0.02, rangeMax: 12, ranges };
}

/** Way points from the living room through the bedroom's door, as a planner would smooth them. */
export const PATH_TO_BEDROOM: Pose[] = [
  [2.1, 3.4],
  [2.6, 3.36],
  [3.1, 3.3],
  [3.6, 3.22],
  [4.1, 3.15],
  [4.6, 3.1],
  [5.1, 3.08],
  [5.5, 3],
  [5.9, 2.75],
  [6.2, 2.45],
  [6.45, 2.1],
  [6.7, 1.7],
].map(([x = 0, y = 0], i, all) => {
  const [nx = x + 1, ny = y] = all[i + 1] ?? [];
  return { x, y, theta: Math.atan2(ny - y, nx - x) };
});
