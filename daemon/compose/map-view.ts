/** A map as displays need it. */
import type { Point, Pose } from '../../config/contracts/geometry.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { MapView } from '../runtime.js';

export function mapViewOf({ id, grid, areas }: MapBundle): MapView {
  return {
    id,
    resolution: grid.resolution,
    width: grid.width,
    height: grid.height,
    origin: { ...grid.origin },
    cells: grid.cells,
    rooms: areas.rooms.map((room) => ({
      id: room.id,
      name: room.name,
      aliases: [...room.aliases],
      polygon: room.polygon.map(pair),
      goal: triple(room.goal),
    })),
    station: areas.station === null ? null : triple(areas.station.pose),
    keepout: areas.keepout.map(({ id: area, polygon }) => ({ id: area, polygon: polygon.map(pair) })),
  };
}

const pair = ({ x, y }: Point): [number, number] => [x, y];
const triple = ({ x, y, theta }: Pose): [number, number, number] => [x, y, theta];
