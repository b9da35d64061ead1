/** The part of the device's published context that a planner needs. */
import { z } from 'zod';

const roomSchema = z.object({ id: z.string(), name: z.string(), aliases: z.array(z.string()).default([]) });
export type PlannerRoom = z.infer<typeof roomSchema>;

export const plannerContextSchema = z.object({
  contract_version: z.string(),
  device_id: z.string(),
  map: z.object({ available: z.boolean(), rooms: z.array(roomSchema) }),
  battery: z.object({ on_station: z.boolean().nullable() }),
});
export type PlannerContext = z.infer<typeof plannerContextSchema>;

/** A room named in a sentence: where, and which. */
export interface Mention {
  at: number;
  end: number;
  room: PlannerRoom;
}

/** Rooms in the order in which a sentence names them. Longer names win over shorter ones inside them. */
export function mentionedRooms(sentence: string, rooms: readonly PlannerRoom[]): Mention[] {
  const text = normalised(sentence);
  const names = rooms
    .flatMap((room) => [room.name, ...room.aliases].map((name) => ({ room, name: normalised(name) })))
    .filter(({ name }) => name !== '')
    .sort((a, b) => b.name.length - a.name.length);
  const found: Mention[] = [];
  for (const { room, name } of names) {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
      const end = at + name.length;
      if (!found.some((other) => at < other.end && other.at < end)) found.push({ at, end, room });
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

export function normalised(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
