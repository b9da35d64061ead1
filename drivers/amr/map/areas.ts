/** `areas.yaml`: the rooms, the station, no-go areas and speed limits that belong to a map. */
import { z } from 'zod';
import { insidePolygon, type Point, type Polygon, type Pose } from '../../../config/contracts/geometry.js';
import type { Areas, Room } from '../types.js';
import { MapError, schemaError } from './map-error.js';
import { parseYaml } from './map-server.js';
import { signedArea } from './polygons.js';

const MAX_ROOMS = 200;
const MAX_VERTICES = 1000;

const finite = z.number('a finite number is needed');
const id = z
  .string('text is needed; put numbers in quotes')
  .min(1, 'must not be empty')
  .max(64, 'at most 64 characters')
  .refine((s) => s.trim() !== '', 'must not be blank');
const point = z
  .tuple([finite, finite], 'two finite numbers [x, y] are needed')
  .transform(([x, y]): Point => ({ x, y }));
const pose = z
  .tuple([finite, finite, finite], 'three finite numbers [x, y, theta] are needed')
  .transform(([x, y, theta]): Pose => ({ x, y, theta }));
const polygon = z
  .array(point, 'a list of [x, y] is needed')
  .min(3, 'at least 3 vertices')
  .max(MAX_VERTICES, `at most ${MAX_VERTICES} vertices`)
  .refine((p) => Math.abs(signedArea(p)) > 1e-4, 'its area must be more than 1 cm²');

const areasSchema = z.strictObject({
  version: z.literal(1, 'only version 1 is known'),
  rooms: z
    .array(
      z.strictObject({
        id,
        name: id,
        aliases: z.array(id).max(50, 'at most 50 aliases').default([]),
        polygon,
        goal: pose,
      }),
    )
    .max(MAX_ROOMS, `at most ${MAX_ROOMS} rooms`)
    .default([]),
  station: z.strictObject({ room: id, pose }).nullable().default(null),
  keepout: z.array(z.strictObject({ id, polygon })).max(500, 'at most 500').default([]),
  walls: z
    .array(
      z.strictObject({
        id,
        line: z.array(point).min(2, 'at least 2 points').max(MAX_VERTICES, `at most ${MAX_VERTICES} points`),
        width: finite.gt(0, 'metres, above 0').max(2, 'metres, at most 2'),
      }),
    )
    .max(500, 'at most 500')
    .default([]),
  speed_areas: z
    .array(
      z.strictObject({
        id,
        polygon,
        max_speed: finite.gt(0, 'm/s, above 0').max(5, 'm/s, at most 5'),
      }),
    )
    .max(500, 'at most 500')
    .default([]),
});

export const NO_AREAS: Areas = { rooms: [], station: null, keepout: [], speedAreas: [] };

/** Parses and checks the YAML text. `file` is for messages. Throws `MapError`. */
export function parseAreas(text: string, file: string): Areas {
  const value = parseYaml(text, file);
  const parsed = areasSchema.safeParse(value);
  if (!parsed.success) throw schemaError(file, parsed.error, value);
  const { rooms, station, keepout, walls, speed_areas } = parsed.data;
  checkUnique(rooms, 'rooms', file);
  checkUnique(keepout, 'keepout', file);
  checkUnique(walls, 'walls', file);
  checkUnique(speed_areas, 'speed_areas', file);
  for (const [i, room] of rooms.entries()) checkGoal(room, i, file);
  if (station !== null && !rooms.some((r) => r.id === station.room)) {
    const known = rooms.map((r) => r.id).join(', ') || 'none';
    throw new MapError(file, 'station.room', `found ${JSON.stringify(station.room)}; the rooms are ${known}`);
  }
  return {
    rooms,
    station,
    keepout,
    ...(walls.length === 0 ? {} : { walls }),
    speedAreas: speed_areas.map((a) => ({ id: a.id, polygon: a.polygon, maxSpeed: a.max_speed })),
  };
}

/** The YAML text that `parseAreas` reads back to the same areas. */
export function areasText(areas: Areas): string {
  const points = (p: Polygon) => `[${p.map((v) => `[${v.x}, ${v.y}]`).join(', ')}]`;
  const posed = (p: Pose) => `[${p.x}, ${p.y}, ${p.theta}]`;
  const text = (s: string) => JSON.stringify(s);
  const list = (name: string, lines: string[]) =>
    lines.length === 0 ? [`${name}: []`] : [`${name}:`, ...lines.map((l) => `  - {${l}}`)];
  const station = areas.station;
  return [
    'version: 1',
    ...list(
      'rooms',
      areas.rooms.map(
        (r) =>
          `id: ${text(r.id)}, name: ${text(r.name)}, aliases: [${r.aliases.map(text).join(', ')}], ` +
          `polygon: ${points(r.polygon)}, goal: ${posed(r.goal)}`,
      ),
    ),
    station === null
      ? 'station: null'
      : `station: {room: ${text(station.room)}, pose: ${posed(station.pose)}}`,
    ...list(
      'keepout',
      areas.keepout.map((k) => `id: ${text(k.id)}, polygon: ${points(k.polygon)}`),
    ),
    // A map without any keeps the text, and with it the id, that it has always had.
    ...(areas.walls === undefined || areas.walls.length === 0
      ? []
      : list(
          'walls',
          areas.walls.map((w) => `id: ${text(w.id)}, line: ${points(w.line)}, width: ${w.width}`),
        )),
    ...list(
      'speed_areas',
      areas.speedAreas.map(
        (a) => `id: ${text(a.id)}, polygon: ${points(a.polygon)}, max_speed: ${a.maxSpeed}`,
      ),
    ),
    '',
  ].join('\n');
}

function checkUnique(items: readonly { id: string }[], field: string, file: string): void {
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    if (seen.has(item.id)) {
      throw new MapError(file, `${field}.${i}.id`, `found ${JSON.stringify(item.id)} twice; ids must differ`);
    }
    seen.add(item.id);
  }
}

/** A goal outside its room would make the robot arrive somewhere else than it was sent. */
function checkGoal(room: Room, index: number, file: string): void {
  if (insidePolygon(room.goal, room.polygon)) return;
  throw new MapError(
    file,
    `rooms.${index}.goal`,
    `found [${room.goal.x}, ${room.goal.y}]; it must lie inside the polygon of room ${JSON.stringify(room.id)}`,
  );
}
