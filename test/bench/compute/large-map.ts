/** A map of 1000 × 1000 cells: rooms behind doors, furniture in them, and a round room in the middle. */
import type { Pose } from '../../../config/contracts/geometry.js';
import { seededRandom } from '../../../config/contracts/ids.js';
import { mapBundle } from '../../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../../drivers/amr/types.js';

export const CELLS = 1000;
const RESOLUTION = 0.05;
/** Cells from wall to wall, and width of a door. */
const ROOM = 100;
const DOOR = 24;
const FURNITURE_PER_ROOM = 6;
/** The middle of the round room, and its radius: what a lidar sees there is the same whichever way it faces. */
export const MIDDLE: Pose = { x: 25, y: 25, theta: 0 };
export const ROUND_ROOM_M = 4;

export function largeMap(): MapBundle {
  const random = seededRandom(11);
  const cells = new Int8Array(CELLS * CELLS);
  const fill = (x0: number, y0: number, x1: number, y1: number, value: number) => {
    for (let y = y0; y < y1; y++) cells.fill(value, y * CELLS + x0, y * CELLS + x1);
  };
  for (let at = 0; at <= CELLS; at += ROOM) {
    const wall = Math.min(at, CELLS - 2);
    fill(wall, 0, wall + 2, CELLS, 100);
    fill(0, wall, CELLS, wall + 2, 100);
  }
  for (let row = 0; row < CELLS; row += ROOM) {
    for (let column = 0; column < CELLS; column += ROOM) {
      furnish(column, row);
      const door = () => 12 + Math.floor(random() * (ROOM - DOOR - 24));
      if (column > 0) opening(column, row + door(), true);
      if (row > 0) opening(column + door(), row, false);
    }
  }
  roundRoom(cells);
  const grid = {
    width: CELLS,
    height: CELLS,
    resolution: RESOLUTION,
    origin: { x: 0, y: 0, theta: 0 },
    cells,
  };
  return mapBundle(grid, { rooms: [], station: null, keepout: [], speedAreas: [] });

  function furnish(column: number, row: number): void {
    for (let i = 0; i < FURNITURE_PER_ROOM; i++) {
      const [w, h] = [6 + Math.floor(random() * 22), 6 + Math.floor(random() * 22)];
      // A way of 0.9 m stays free along the walls, so that no door is blocked.
      const x = column + 20 + Math.floor(random() * (ROOM - 40 - w));
      const y = row + 20 + Math.floor(random() * (ROOM - 40 - h));
      fill(x, y, x + w, y + h, 100);
    }
  }

  function opening(x: number, y: number, inVerticalWall: boolean): void {
    if (inVerticalWall) fill(x, y, x + 2, y + DOOR, 0);
    else fill(x, y, x + DOOR, y + 2, 0);
  }
}

/** A wall round `MIDDLE` with one door, and nothing inside. */
function roundRoom(cells: Int8Array): void {
  const radius = ROUND_ROOM_M / RESOLUTION;
  const middle = CELLS / 2;
  for (let y = middle - radius - 4; y <= middle + radius + 4; y++) {
    for (let x = middle - radius - 4; x <= middle + radius + 4; x++) {
      const [dx, dy] = [x + 0.5 - middle, y + 0.5 - middle];
      const d = Math.hypot(dx, dy);
      // Between the walls that meet the round one.
      const isDoor = dx > 0 && Math.abs(dx - dy) < DOOR * Math.SQRT1_2;
      if (d < radius) cells[y * CELLS + x] = 0;
      else if (d < radius + 2) cells[y * CELLS + x] = isDoor ? 0 : 100;
    }
  }
}

/** Poses in free corners of rooms far apart: start and goal of long plans. */
export function farPairs(): readonly { from: Pose; goal: Pose }[] {
  const inRoom = (column: number, row: number): Pose => ({
    x: (column * ROOM + 10) * RESOLUTION,
    y: (row * ROOM + 10) * RESOLUTION,
    theta: 0,
  });
  return [
    { from: inRoom(0, 0), goal: inRoom(9, 9) },
    { from: inRoom(9, 0), goal: inRoom(0, 9) },
    { from: inRoom(0, 5), goal: inRoom(9, 4) },
    { from: inRoom(4, 0), goal: inRoom(6, 9) },
    { from: inRoom(2, 7), goal: inRoom(7, 1) },
  ];
}
