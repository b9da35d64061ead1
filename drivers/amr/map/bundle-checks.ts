/** Whether the areas of a map belong to its ground: what `areas.yaml` alone cannot tell. */
import { shown } from '../../../config/contracts/errors.js';
import type { Point } from '../../../config/contracts/geometry.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { Areas, OccupancyGrid, Room } from '../types.js';
import { fillInside, SHARED_GROUND } from './area-checks.js';
import { MapError } from './map-error.js';
import { selfIntersection } from './polygons.js';

/** Throws `MapError` that names the field of `areas.yaml`. `file` is for messages. */
export function checkAreasOnMap(areas: Areas, grid: OccupancyGrid, file: string): void {
  const frame = new GridFrame(grid);
  for (const [i, room] of areas.rooms.entries()) {
    const field = `rooms.${i}.polygon`;
    const crossing = selfIntersection(room.polygon);
    if (crossing !== null) {
      throw new MapError(
        file,
        field,
        `the outline of ${named(room)} crosses or touches itself at ${at(crossing)}`,
      );
    }
    if (frame.indexAt(room.goal) < 0) {
      throw new MapError(file, `rooms.${i}.goal`, `found ${at(room.goal)}; it must lie on the map`);
    }
  }
  if (areas.station !== null && frame.indexAt(areas.station.pose) < 0) {
    throw new MapError(file, 'station.pose', `found ${at(areas.station.pose)}; it must lie on the map`);
  }
  checkRoomsApart(areas.rooms, frame, file);
}

/** A place belongs to one room: two rooms may share the ground of a wall's thickness, not more. */
function checkRoomsApart(rooms: readonly Room[], frame: GridFrame, file: string): void {
  const owner = new Int16Array(frame.width * frame.height);
  for (const [i, room] of rooms.entries()) {
    const shared = new Map<number, number>();
    fillInside(frame, room.polygon, (cell) => {
      const other = owner[cell] ?? 0;
      if (other === 0) owner[cell] = i + 1;
      else shared.set(other, (shared.get(other) ?? 0) + 1);
    });
    for (const [other, cells] of shared) {
      const area = cells * frame.resolution ** 2;
      const first = rooms[other - 1];
      if (area <= SHARED_GROUND || first === undefined) continue;
      const problem = `${named(room)} lies on ${area.toFixed(1)} m² of ${named(first)}; rooms must not overlap`;
      throw new MapError(file, `rooms.${i}.polygon`, problem);
    }
  }
}

function named(room: Room): string {
  return `room ${shown(room.name)} (id ${shown(room.id)})`;
}

function at({ x, y }: Point): string {
  return `[${Math.round(x * 1000) / 1000}, ${Math.round(y * 1000) / 1000}]`;
}
