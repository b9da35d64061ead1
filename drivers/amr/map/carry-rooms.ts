/** Rooms of a map that was made anew get the ids and names that the household gave them on the one before. Pure. */
import {
  compose,
  insidePolygon,
  type Point,
  type Polygon,
  relativeTo,
} from '../../../config/contracts/geometry.js';
import type { MappedGround } from '../../../config/contracts/mapping.js';
import type { Areas, Room } from '../types.js';
import { signedArea } from './polygons.js';
import { comparable } from './rooms.js';

/** Of the smaller of two rooms, so much has to lie on the other for them to be one. */
const SAME_SHARE = 0.5;
/** Points of an outline's inside that are looked at, m apart. */
const SAMPLE = 0.15;

/**
 * `bridge`: one place on both maps; null: nothing is known of where the old one lies, and no room is carried over. New
 * rooms never get an id that meant another place before: schedules name rooms by it.
 */
export function carryRooms(
  rooms: readonly Room[],
  before: Areas | null,
  bridge: MappedGround['bridge'],
): Room[] {
  const old = before === null || bridge === null ? [] : before.rooms.map((room) => moved(room, bridge));
  const pairs = rooms
    .flatMap((room, i) => old.map((was) => ({ i, was, share: sharedPart(room.polygon, was.polygon) })))
    .filter(({ share }) => share >= SAME_SHARE)
    .sort((a, b) => b.share - a.share);
  const names = new Map<number, Room>();
  const given = new Set<string>();
  for (const { i, was } of pairs) {
    if (names.has(i) || given.has(was.id)) continue;
    names.set(i, was);
    given.add(was.id);
  }
  const taken = new Set((before?.rooms ?? []).flatMap(namesOf));
  let n = 0;
  return rooms.map((room, i) => {
    const was = names.get(i);
    if (was !== undefined) return { ...room, id: was.id, name: was.name, aliases: was.aliases };
    do n += 1;
    while (taken.has(String(n)) || taken.has(comparable(`방 ${n}`)));
    return { ...room, id: String(n), name: `방 ${n}`, aliases: [`room ${n}`] };
  });
}

function namesOf({ id, name, aliases }: Room): string[] {
  return [id, name, ...aliases].map(comparable);
}

function moved(room: Room, { before, after }: NonNullable<MappedGround['bridge']>): Room {
  const polygon = room.polygon.map(({ x, y }) => compose(after, relativeTo(before, { x, y, theta: 0 })));
  return { ...room, polygon };
}

/** How much of the smaller one lies in the other, 0…1. */
function sharedPart(a: Polygon, b: Polygon): number {
  const [small, large] = Math.abs(signedArea(a)) <= Math.abs(signedArea(b)) ? [a, b] : [b, a];
  const inside = samples(small);
  return inside.length === 0 ? 0 : inside.filter((p) => insidePolygon(p, large)).length / inside.length;
}

function samples(polygon: Polygon): Point[] {
  const xs = polygon.map((p) => p.x);
  const ys = polygon.map((p) => p.y);
  const found: Point[] = [];
  for (let x = Math.min(...xs) + SAMPLE / 2; x < Math.max(...xs); x += SAMPLE) {
    for (let y = Math.min(...ys) + SAMPLE / 2; y < Math.max(...ys); y += SAMPLE) {
      if (insidePolygon({ x, y }, polygon)) found.push({ x, y });
    }
  }
  return found;
}
