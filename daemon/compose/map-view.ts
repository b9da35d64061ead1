/** A map as displays need it. */
import type { Point, Pose } from '../../config/contracts/geometry.js';
import { wallStrips } from '../../drivers/amr/map/polygons.js';
import type { MapBundle } from '../../drivers/amr/types.js';
import type { MapView } from '../runtime.js';

export function mapViewOf({ id, grid, areas }: MapBundle): MapView {
  const { walls = [] } = areas;
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
    keepout: [
      ...areas.keepout.map(({ id: area, polygon }) => ({ id: area, polygon: polygon.map(pair) })),
      ...walls.flatMap((wall) =>
        wallStrips(wall).map((strip) => ({ id: wall.id, polygon: strip.map(pair) })),
      ),
    ],
    walls: walls.map(({ id: wall, line, width }) => ({ id: wall, line: line.map(pair), width })),
    speed_areas: areas.speedAreas.map(({ id: area, polygon, maxSpeed }) => ({
      id: area,
      polygon: polygon.map(pair),
      max_speed: maxSpeed,
    })),
  };
}

const pair = ({ x, y }: Point): [number, number] => [x, y];
const triple = ({ x, y, theta }: Pose): [number, number, number] => [x, y, theta];
