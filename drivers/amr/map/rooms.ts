import { Refusal, shown } from '../../../config/contracts/errors.js';
import { insidePolygon, type Point } from '../../../config/contracts/geometry.js';
import type { Areas, Room, RoomResolver, Station } from '../types.js';

const MAX_SUGGESTIONS = 5;

interface Entry {
  room: Room;
  id: string;
  /** Name and aliases as they are compared. */
  names: string[];
}

/** The rooms of the map in use. A name resolves to exactly one room or to a refusal, never to a guess. */
export class RoomCatalogue implements RoomResolver {
  readonly rooms: readonly Room[];
  readonly station: Station | null;
  readonly #entries: Entry[];

  constructor(areas: Pick<Areas, 'rooms' | 'station'>) {
    this.rooms = areas.rooms;
    this.station = areas.station;
    this.#entries = areas.rooms.map((room) => ({
      room,
      id: comparable(room.id),
      names: [room.name, ...room.aliases].map(comparable),
    }));
  }

  byId(id: string): Room | null {
    return this.rooms.find((r) => r.id === id) ?? null;
  }

  resolve(text: string, field = 'room'): Room {
    const key = comparable(text);
    const exact = this.#entries.filter((e) => key !== '' && (e.id === key || e.names.includes(key)));
    const only = exact[0];
    if (only !== undefined && exact.length === 1) return only.room;
    if (exact.length > 1) throw ambiguous(field, text, 'is the name of', exact);
    const partial = this.#entries.filter((e) => key !== '' && e.names.some((n) => n.includes(key)));
    if (partial.length > 0)
      throw ambiguous(field, text, 'is not the whole name of any room; meant may be', partial);
    throw new Refusal('UNKNOWN_TARGET', this.#unknownMessage(field, text, key), field);
  }

  roomAt(point: Point): Room | null {
    return this.rooms.find((r) => insidePolygon(point, r.polygon)) ?? null;
  }

  #unknownMessage(field: string, text: string, key: string): string {
    if (this.rooms.length === 0) return `${field}: no room ${shown(text)}; the map in use has no rooms`;
    const close = this.#entries.filter((e) => e.names.some((n) => key.includes(n) || edits(n, key) <= 1));
    const hint =
      close.length > 0 ? `did you mean ${listed(close)}?` : `the rooms are ${listed(this.#entries)}`;
    return `${field}: no room ${shown(text)}; ${hint}`;
  }
}

function ambiguous(field: string, text: string, why: string, entries: readonly Entry[]): Refusal {
  return new Refusal('AMBIGUOUS_TARGET', `${field}: ${shown(text)} ${why} ${listed(entries)}`, field);
}

function listed(entries: readonly Entry[]): string {
  const names = entries
    .slice(0, MAX_SUGGESTIONS)
    .map((e) => `${shown(e.room.name)} (id ${shown(e.room.id)})`);
  return names.join(', ') + (entries.length > MAX_SUGGESTIONS ? ', …' : '');
}

/** How names are compared: composed form, no outer or repeated white space, no case. */
export function comparable(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
}

/** Insertions, deletions and replacements from `a` to `b`; texts longer than 40 are not compared. */
function edits(a: string, b: string): number {
  const [s, t] = [[...a], [...b]];
  if (s.length > 40 || t.length > 40) return Number.POSITIVE_INFINITY;
  // One edit makes any two one-letter names alike: that would suggest everything.
  if (Math.min(s.length, t.length) < 2) return a === b ? 0 : Number.POSITIVE_INFINITY;
  let row = t.map((_, j) => j + 1);
  for (const [i, ch] of s.entries()) {
    let diagonal = i;
    let left = i + 1;
    row = t.map((other, j) => {
      const up = row[j] ?? 0;
      const value = Math.min(up + 1, left + 1, diagonal + (ch === other ? 0 : 1));
      diagonal = up;
      left = value;
      return value;
    });
  }
  return row[row.length - 1] ?? 0;
}
