import { mapBundle } from '../../../../drivers/amr/map/bundle.js';
import type { Areas, MapBundle, OccupancyGrid } from '../../../../drivers/amr/types.js';

export const EMPTY_AREAS: Areas = { rooms: [], station: null, keepout: [], speedAreas: [] };

/** A free grid with its lower-left corner at the map's origin. */
export function freeGrid(widthM: number, heightM: number, resolution = 0.05): OccupancyGrid {
  const width = Math.round(widthM / resolution);
  const height = Math.round(heightM / resolution);
  const cells = new Int8Array(width * height);
  return { width, height, resolution, origin: { x: 0, y: 0, theta: 0 }, cells };
}

/** Marks every cell whose centre lies in the box (metres) as occupied. */
export function wall(grid: OccupancyGrid, x0: number, y0: number, x1: number, y1: number): void {
  for (let y = 0; y < grid.height; y++) {
    for (let x = 0; x < grid.width; x++) {
      const cx = (x + 0.5) * grid.resolution;
      const cy = (y + 0.5) * grid.resolution;
      if (cx > x0 && cx < x1 && cy > y0 && cy < y1) grid.cells[y * grid.width + x] = 100;
    }
  }
}

export function outline(grid: OccupancyGrid, thickness = 0.1): void {
  const w = grid.width * grid.resolution;
  const h = grid.height * grid.resolution;
  wall(grid, 0, 0, w, thickness);
  wall(grid, 0, h - thickness, w, h);
  wall(grid, 0, 0, thickness, h);
  wall(grid, w - thickness, 0, w, h);
}

/**
 * A flat of 8 m × 6 m: a living room on the left, a bedroom (upper right) behind a door 0.62 m wide and a kitchen
 * (lower right) behind one of 0.8 m, some furniture, and a station on the left wall.
 */
export function flat(): MapBundle {
  const grid = freeGrid(8, 6);
  outline(grid);
  // Wall at x = 4.5 with the doors at y = 4.4 … 5.02 and y = 1.2 … 2.0.
  wall(grid, 4.5, 0, 4.6, 1.2);
  wall(grid, 4.5, 2, 4.6, 4.4);
  wall(grid, 4.5, 5, 4.6, 6);
  wall(grid, 4.6, 3, 8, 3.1);
  wall(grid, 2.2, 5.1, 3.6, 5.9);
  wall(grid, 1.8, 2.2, 2.4, 2.8);
  wall(grid, 6.8, 0.1, 7.9, 0.7);
  wall(grid, 6.2, 4.6, 7.9, 5.9);
  const areas: Areas = {
    rooms: [
      {
        id: '1',
        name: '거실',
        aliases: ['living room'],
        polygon: box(0, 0, 4.5, 6),
        goal: { x: 3.5, y: 3.5, theta: 1.57 },
      },
      {
        id: '2',
        name: '안방',
        aliases: ['bedroom'],
        polygon: box(4.5, 3, 8, 6),
        goal: { x: 5.5, y: 3.8, theta: 0 },
      },
      {
        id: '3',
        name: '주방',
        aliases: ['kitchen'],
        polygon: box(4.5, 0, 8, 3),
        goal: { x: 6, y: 1.8, theta: -1.57 },
      },
    ],
    station: { room: '1', pose: STATION },
    keepout: [],
    speedAreas: [],
  };
  return mapBundle(grid, areas);
}

/** On the left wall, which ends at x = 0.1; the station's face is at x = 0.16. */
export const STATION = { x: 0.33, y: 1.2, theta: Math.PI };

export function box(x0: number, y0: number, x1: number, y1: number) {
  return [
    { x: x0, y: y0 },
    { x: x1, y: y0 },
    { x: x1, y: y1 },
    { x: x0, y: y1 },
  ];
}
