/** A map as a picture for people: cells, rooms, closed and slow areas, the station, and ways planned on it. */
import { insidePolygon, type Point, type Polygon, type Pose } from '../../../config/contracts/geometry.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { Areas, OccupancyGrid } from '../types.js';
import { Canvas, type Colour, type Pixel } from './canvas.js';
import type { Picture } from './png-encode.js';

export interface MapPictureOptions {
  /** The longer side of the picture, pixels. */
  size: number;
  /** Drawn in order; poses of `base_link` in `map`. */
  paths?: readonly (readonly Pose[])[];
  /** Radius of the robot, m: drawn at both ends of a path. */
  robotRadius?: number;
}

export const DEFAULT_PICTURE_SIZE = 1200;

const UNKNOWN: Colour = [216, 217, 214];
const FREE: Colour = [255, 255, 255];
const OCCUPIED: Colour = [30, 33, 38];
const CLOSED: Colour = [214, 57, 57];
const SLOW: Colour = [235, 164, 40];
const STATION: Colour = [26, 140, 84];
const WAY: Colour = [24, 104, 219];
const GOAL: Colour = [176, 38, 176];
/** One after the other, so that rooms beside each other differ. */
const ROOMS: readonly Colour[] = [
  [77, 150, 224],
  [242, 153, 74],
  [98, 182, 105],
  [183, 121, 212],
  [228, 106, 128],
  [66, 178, 178],
  [190, 170, 60],
  [140, 140, 160],
];
const ROOM_OPACITY = 0.22;
const AREA_OPACITY = 0.4;
/** Around what is known of the map, cells. */
const BORDER = 4;
/** A small map is not blown up to more pixels a cell than this. */
const MAX_SCALE = 12;

export function mapPicture(grid: OccupancyGrid, areas: Areas, options: MapPictureOptions): Picture {
  const view = viewOf(grid, options.size);
  const canvas = new Canvas(view.width, view.height);
  drawCells(canvas, grid, view);
  areas.rooms.forEach((room, i) => {
    tint(canvas, view, room.polygon, ROOMS[i % ROOMS.length] ?? FREE, ROOM_OPACITY);
    outline(canvas, view, room.polygon, ROOMS[i % ROOMS.length] ?? FREE);
  });
  for (const area of areas.speedAreas) tint(canvas, view, area.polygon, SLOW, AREA_OPACITY);
  for (const area of areas.keepout) tint(canvas, view, area.polygon, CLOSED, AREA_OPACITY);
  if (areas.station !== null) marker(canvas, view, areas.station.pose, 0.12, STATION);
  for (const path of options.paths ?? []) drawPath(canvas, view, path, options.robotRadius ?? 0);
  return canvas;
}

/** Which part of the grid is shown, and how large. */
interface View {
  frame: GridFrame;
  left: number;
  /** Row above the topmost one that is shown. */
  top: number;
  /** Pixels a cell; below 1 for a map larger than the picture. */
  scale: number;
  width: number;
  height: number;
}

function viewOf(grid: OccupancyGrid, size: number): View {
  const box = knownBox(grid);
  const cells = Math.max(box.right - box.left, box.top - box.bottom);
  const most = Math.min(MAX_SCALE, size / cells);
  const scale = most >= 1 ? Math.floor(most) : most;
  return {
    frame: new GridFrame(grid),
    left: box.left,
    top: box.top,
    scale,
    width: Math.max(1, Math.round((box.right - box.left) * scale)),
    height: Math.max(1, Math.round((box.top - box.bottom) * scale)),
  };
}

/** The known cells and a border; the whole grid when nothing is known. `right` and `top` are exclusive. */
function knownBox({ width, height, cells }: OccupancyGrid) {
  const box = { left: width, right: 0, bottom: height, top: 0 };
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      if ((cells[row * width + column] ?? -1) < 0) continue;
      box.left = Math.min(box.left, column);
      box.right = Math.max(box.right, column + 1);
      box.bottom = Math.min(box.bottom, row);
      box.top = Math.max(box.top, row + 1);
    }
  }
  if (box.right === 0) return { left: 0, right: width, bottom: 0, top: height };
  return {
    left: Math.max(0, box.left - BORDER),
    right: Math.min(width, box.right + BORDER),
    bottom: Math.max(0, box.bottom - BORDER),
    top: Math.min(height, box.top + BORDER),
  };
}

function pixelOf(view: View, point: Point): Pixel {
  const cell = view.frame.toGrid(point);
  return { x: (cell.x - view.left) * view.scale, y: (view.top - cell.y) * view.scale };
}

function pointAt(view: View, x: number, y: number): Point {
  return view.frame.toMap({
    x: view.left + (x + 0.5) / view.scale,
    y: view.top - (y + 0.5) / view.scale,
  });
}

function drawCells(canvas: Canvas, grid: OccupancyGrid, view: View): void {
  for (let y = 0; y < view.height; y++) {
    const below = cellsOf(y, view.scale);
    for (let x = 0; x < view.width; x++) {
      const beside = cellsOf(x, view.scale);
      const cell = highest(grid, {
        left: view.left + beside.first,
        right: view.left + beside.end,
        bottom: view.top - below.end,
        top: view.top - below.first,
      });
      canvas.set(x, y, colourOf(cell));
    }
  }
}

/** Which cells, counted from the edge of the picture, lie under a pixel; `end` is exclusive. */
function cellsOf(pixel: number, scale: number): { first: number; end: number } {
  const first = Math.floor(pixel / scale + 1e-9);
  return { first, end: Math.max(first + 1, Math.ceil((pixel + 1) / scale - 1e-9)) };
}

/** Of the cells that share a pixel the one with the most in it, so that thin walls do not vanish. */
function highest(grid: OccupancyGrid, box: ReturnType<typeof knownBox>): number {
  let most = -1;
  for (let row = Math.max(0, box.bottom); row < Math.min(grid.height, box.top); row++) {
    for (let column = Math.max(0, box.left); column < Math.min(grid.width, box.right); column++) {
      most = Math.max(most, grid.cells[row * grid.width + column] ?? -1);
    }
  }
  return most;
}

function colourOf(cell: number): Colour {
  if (cell < 0) return UNKNOWN;
  const part = cell / 100;
  return [0, 1, 2].map((c) => Math.round((FREE[c] ?? 0) + ((OCCUPIED[c] ?? 0) - (FREE[c] ?? 0)) * part)) as [
    number,
    number,
    number,
  ];
}

function tint(canvas: Canvas, view: View, polygon: Polygon, colour: Colour, opacity: number): void {
  const pixels = polygon.map((point) => pixelOf(view, point));
  const xs = pixels.map((p) => p.x);
  const ys = pixels.map((p) => p.y);
  const right = Math.min(view.width, Math.ceil(Math.max(...xs)));
  const bottom = Math.min(view.height, Math.ceil(Math.max(...ys)));
  for (let y = Math.max(0, Math.floor(Math.min(...ys))); y < bottom; y++) {
    for (let x = Math.max(0, Math.floor(Math.min(...xs))); x < right; x++) {
      if (insidePolygon(pointAt(view, x, y), polygon)) canvas.set(x, y, colour, opacity);
    }
  }
}

function outline(canvas: Canvas, view: View, polygon: Polygon, colour: Colour): void {
  const [first] = polygon;
  if (first === undefined) return;
  const closed = [...polygon, first].map((point) => pixelOf(view, point));
  canvas.polyline(closed, 1.5, colour);
}

/** A disc with a line in the direction it faces. `radius` in metres. */
function marker(canvas: Canvas, view: View, pose: Pose, radius: number, colour: Colour): void {
  const centre = pixelOf(view, pose);
  const size = Math.max(4, (radius / view.frame.resolution) * view.scale);
  const ahead = 2 * (size / view.scale) * view.frame.resolution;
  const nose = { x: pose.x + ahead * Math.cos(pose.theta), y: pose.y + ahead * Math.sin(pose.theta) };
  canvas.line(centre, pixelOf(view, nose), Math.max(2, size / 3), colour);
  canvas.disc(centre, size, colour);
}

function drawPath(canvas: Canvas, view: View, path: readonly Pose[], radius: number): void {
  const [start] = path;
  const goal = path.at(-1);
  if (start === undefined || goal === undefined) return;
  canvas.polyline(
    path.map((pose) => pixelOf(view, pose)),
    3,
    WAY,
  );
  marker(canvas, view, start, radius, WAY);
  marker(canvas, view, goal, radius, GOAL);
}
