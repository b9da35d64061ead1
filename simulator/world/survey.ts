/**
 * The map of a world as an ideal survey would give it: a ROS `map_server` PGM and YAML, and `areas.yaml` beside
 * them. Walls and furniture (also what is too low for the lidar) are occupied, the inside of rooms is free, all
 * else is unknown. The dock is not drawn: it is lower than the lidar's plane, and the wall behind it is there.
 */
import { Document, isScalar, isSeq, visit } from 'yaml';
import type { Polygon, Pose } from '../../config/contracts/geometry.js';
import { insidePolygon } from '../../config/contracts/geometry.js';
import { type Layout, roomAt, type SurveyedMap } from './layout.js';

export interface MapBundle {
  /** `map.pgm`: P5, 8 bits, rows from the top; 0 occupied, 254 free, 205 unknown. */
  pgm: Uint8Array;
  /** `map.yaml` */
  mapYaml: string;
  /** `areas.yaml` */
  areasYaml: string;
}

/** Cells around the outermost wall. */
const MARGIN_CELLS = 4;
/** A cell is occupied when a surface passes this close to its centre, as a share of its size. */
const SURFACE_SHARE = 0.3;
const OCCUPIED = 0;
const UNKNOWN = 205;
const FREE = 254;

/**
 * The map bundle of a world. `resolution`: metres per cell; for a world made from a ROS map the map is handed
 * back as it is, and `resolution` is not used.
 */
export function worldToMap(world: { layout: Layout }, resolution = 0.05): MapBundle {
  const { layout } = world;
  const survey = layout.survey ?? surveyOf(layout, resolution);
  return { pgm: pgmOf(survey), mapYaml: mapYamlOf(survey), areasYaml: areasYamlOf(layout) };
}

function surveyOf(layout: Layout, resolution: number): SurveyedMap {
  if (!(resolution >= 0.01 && resolution <= 0.5)) {
    throw new RangeError(`resolution: found ${resolution}; it must be 0.01 … 0.5 metres per cell`);
  }
  const { minX, minY, maxX, maxY } = layout.bounds;
  const margin = MARGIN_CELLS * resolution;
  const originX = Math.floor((minX - margin) / resolution) * resolution;
  const originY = Math.floor((minY - margin) / resolution) * resolution;
  const width = Math.ceil((maxX + margin - originX) / resolution);
  const height = Math.ceil((maxY + margin - originY) / resolution);
  const cells = new Int8Array(width * height);
  const near = new Int32Array(1);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const x = originX + (column + 0.5) * resolution;
      const y = originY + (row + 0.5) * resolution;
      const occupied = layout.isOccupied(x, y) || surfaceNear(layout, x, y, SURFACE_SHARE * resolution, near);
      cells[row * width + column] = occupied ? 100 : roomAt(layout, x, y) >= 0 ? 0 : -1;
    }
  }
  return { resolution, width, height, origin: { x: originX, y: originY, theta: 0 }, cells };
}

function surfaceNear(layout: Layout, x: number, y: number, distance: number, out: Int32Array): boolean {
  return layout.seen.near(x, y, distance, out) > 0;
}

function pgmOf(map: SurveyedMap): Uint8Array {
  const header = new TextEncoder().encode(`P5\n${map.width} ${map.height}\n255\n`);
  const bytes = new Uint8Array(header.length + map.width * map.height);
  bytes.set(header);
  let i = header.length;
  for (let row = map.height - 1; row >= 0; row--) {
    for (let column = 0; column < map.width; column++) {
      bytes[i++] = shade(map.cells[row * map.width + column] ?? -1);
    }
  }
  return bytes;
}

/** As `map_server` reads it back: between clearly free and clearly occupied nothing is known. */
function shade(cell: number): number {
  if (cell >= 65) return OCCUPIED;
  return cell >= 0 && cell <= 20 ? FREE : UNKNOWN;
}

function mapYamlOf(map: SurveyedMap): string {
  const { x, y, theta } = map.origin;
  return yamlText({
    image: 'map.pgm',
    mode: 'trinary',
    resolution: map.resolution,
    origin: [round(x), round(y), theta],
    negate: 0,
    occupied_thresh: 0.65,
    free_thresh: 0.196,
  });
}

function areasYamlOf(layout: Layout): string {
  return yamlText({
    version: 1,
    rooms: layout.rooms.map((room) => ({
      id: room.id,
      name: room.name,
      aliases: room.aliases,
      polygon: polygonOut(room.polygon),
      goal: poseOut(room.goal),
    })),
    station: stationOf(layout),
    keepout: layout.cliffs
      .filter((c) => c.keepout)
      .map((c) => ({ id: c.id, polygon: polygonOut(c.polygon) })),
    speed_areas: [],
  });
}

/** YAML with points, poses and polygons on one line each. */
function yamlText(value: object): string {
  const document = new Document(value);
  visit(document, {
    Seq: (_key, node) => {
      const plain = node.items.every((item) => isScalar(item) || (isSeq(item) && item.items.every(isScalar)));
      if (plain) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function stationOf(layout: Layout): { room: string | null; pose: number[] } | null {
  if (layout.dock === null) return null;
  const { station } = layout.dock;
  const room = layout.rooms.find((r) => insidePolygon(station, r.polygon));
  return { room: room?.id ?? null, pose: poseOut(station) };
}

function polygonOut(polygon: Polygon): number[][] {
  return polygon.map((p) => [round(p.x), round(p.y)]);
}

function poseOut(pose: Pose): number[] {
  return [round(pose.x), round(pose.y), Math.round(pose.theta * 1e4) / 1e4];
}

function round(metres: number): number {
  return Math.round(metres * 1e3) / 1e3;
}
