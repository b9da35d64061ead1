/**
 * Changes of a map's areas as people ask for them: what comes out, or a `Refusal` that names the field. Pure. A room
 * keeps its id through everything but a merge, where one of the merged ids stays.
 */
import { Refusal, shown } from '../../../config/contracts/errors.js';
import { insidePolygon, type Point, type Pose } from '../../../config/contracts/geometry.js';
import { DEFAULT_INFLATION } from '../costmap/costs.js';
import { GridFrame } from '../costmap/grid-frame.js';
import type { Areas, MapBundle, NoGoArea, Room, SpeedArea, VirtualWall } from '../types.js';
import {
  checkApart,
  checkName,
  checkOnMap,
  checkOutline,
  checkRoomOutline,
  DrivableGround,
  fillInside,
  invalid,
} from './area-checks.js';
import { mapBundle } from './bundle.js';
import { outlineOf } from './outline.js';
import { signedArea, splitPolygon, wallStrips } from './polygons.js';
import { comparable } from './rooms.js';

/** Rooms are named by their ids. `goal`: where the robot goes when it is sent there; left out: the most open place. */
export type RoomEdit =
  | { kind: 'rename'; areaId: string; name: string }
  | { kind: 'aliases'; areaId: string; aliases: readonly string[] }
  /** The first id stays, unless a schedule uses another one. */
  | { kind: 'merge'; areaIds: readonly string[]; name: string | null }
  /** The part with the room's goal stays the room; the other one becomes a room called `name`. */
  | {
      kind: 'split';
      areaId: string;
      line: readonly Point[];
      name: string;
      aliases: readonly string[];
      goal: Pose | null;
    }
  | { kind: 'outline'; areaId: string; polygon: readonly Point[]; goal: Pose | null }
  | { kind: 'add'; name: string; aliases: readonly string[]; polygon: readonly Point[]; goal: Pose | null }
  | { kind: 'remove'; areaId: string };

/** A list that is given takes the place of the present one. */
export interface KeepOutEdit {
  walls: readonly VirtualWall[] | null;
  areas: readonly NoGoArea[] | null;
  /** `polygon` null: the ground of the room `areaId`, as it is now. */
  speedAreas:
    | readonly { id: string; polygon: readonly Point[] | null; areaId: string | null; maxSpeed: number }[]
    | null;
}

/** Which rooms schedules name, by id and by name, and which schedule does. */
export interface RoomsInUse {
  ids: ReadonlyMap<string, string>;
  /** As `comparable` makes them. */
  names: ReadonlyMap<string, string>;
}

export interface EditGround {
  bundle: MapBundle;
  /** Of the robot, m. */
  radius: number;
  inUse: RoomsInUse;
}

const MAX_ROOMS = 200;
/** Rooms with at most so much between them are next to each other, m: a wall, and the raggedness of a map. */
const WALL_BETWEEN = 0.4;

/** The areas after the change. Throws `Refusal`: INVALID_PARAMS, UNKNOWN_TARGET, AMBIGUOUS_TARGET, TARGET_UNREACHABLE, STATE_CONDITION_FAILED. */
export function editRooms(edit: RoomEdit, ground: EditGround): Areas {
  switch (edit.kind) {
    case 'rename':
      return rename(edit, ground);
    case 'aliases':
      return alias(edit, ground);
    case 'merge':
      return merge(edit, ground);
    case 'split':
      return split(edit, ground);
    case 'outline':
      return redraw(edit, ground);
    case 'add':
      return add(edit, ground);
    case 'remove':
      return remove(edit, ground);
  }
}

type Edit<K extends RoomEdit['kind']> = Extract<RoomEdit, { kind: K }>;

function rename({ areaId, name }: Edit<'rename'>, { bundle, inUse }: EditGround): Areas {
  const room = roomOf(bundle.areas, areaId, 'rename.areaId');
  checkName(name, bundle.areas.rooms, [areaId], 'rename.name');
  // A schedule goes on finding the room by the name that it knows.
  const kept = inUse.names.has(comparable(room.name)) ? [room.name] : [];
  return withRoom(bundle.areas, { ...room, name, aliases: without([...room.aliases, ...kept], [name]) });
}

function alias({ areaId, aliases }: Edit<'aliases'>, { bundle, inUse }: EditGround): Areas {
  const room = roomOf(bundle.areas, areaId, 'aliases.areaId');
  for (const [i, one] of aliases.entries()) {
    checkName(one, bundle.areas.rooms, [areaId], `aliases.aliases.${i}`);
  }
  const keys = [room.name, ...aliases].map(comparable);
  const lost = room.aliases.find(
    (one) => inUse.names.has(comparable(one)) && !keys.includes(comparable(one)),
  );
  if (lost !== undefined) {
    const schedule = shown(inUse.names.get(comparable(lost)) ?? '');
    throw usedBy(
      'aliases.aliases',
      `schedule ${schedule} calls the room ${shown(lost)}: that name has to stay`,
    );
  }
  return withRoom(bundle.areas, { ...room, aliases: without(aliases, [room.name]) });
}

function merge({ areaIds, name }: Edit<'merge'>, ground: EditGround): Areas {
  const { areas, grid } = ground.bundle;
  const field = 'merge.areaIds';
  if (new Set(areaIds).size !== areaIds.length) throw invalid(field, 'the same room stands there twice');
  const rooms = areaIds.map((id, i) => roomOf(areas, id, `${field}.${i}`));
  const stays = staying(rooms, ground.inUse, field);
  if (name !== null) checkName(name, areas.rooms, areaIds, 'merge.name');
  const polygon = joined(rooms, areas, ground.bundle, field);
  checkRoomOutline(polygon, grid, field);
  const called = name ?? stays.name;
  const aliases = without(
    rooms.flatMap((room) => [room.name, ...room.aliases]),
    [called],
  );
  const merged: Room = { ...stays, name: called, aliases, polygon };
  const others = areas.rooms.filter((room) => !areaIds.includes(room.id));
  checkApart(merged, others, grid, field);
  const next = withRoom(
    { ...areas, rooms: areas.rooms.filter((room) => room.id === stays.id || !areaIds.includes(room.id)) },
    merged,
  );
  return withGoal(stationMoved(next, areaIds, stays.id), merged, ground, field);
}

/** The room whose id the others take: the first, or the one that a schedule uses. */
function staying(rooms: readonly Room[], { ids }: RoomsInUse, field: string): Room {
  const used = rooms.filter((room) => ids.has(room.id));
  const [first, second] = used.length > 0 ? used : rooms;
  if (first === undefined) throw invalid(field, 'no room stands there');
  if (used.length > 1 && second !== undefined) {
    const who = used.map((room) => `${shown(ids.get(room.id) ?? '')} uses ${shown(room.id)}`).join(', ');
    throw usedBy(field, `only one id can stay, and schedules use more than one of them: ${who}`);
  }
  return first;
}

/** One outline round all of them, with the walls between them; nothing of other rooms. */
function joined(rooms: readonly Room[], areas: Areas, { grid }: MapBundle, field: string): Point[] {
  const frame = new GridFrame(grid);
  const size = grid.width * grid.height;
  const mask = new Uint8Array(size);
  for (const room of rooms) fillInside(frame, room.polygon, (i) => mask.fill(1, i, i + 1));
  const others = new Uint8Array(size);
  for (const room of areas.rooms) {
    if (!rooms.includes(room)) fillInside(frame, room.polygon, (i) => others.fill(1, i, i + 1));
  }
  const closed = closeGaps(mask, grid.width, grid.height, Math.ceil(WALL_BETWEEN / 2 / grid.resolution));
  for (let i = 0; i < size; i++) if (others[i] === 1) closed[i] = 0;
  const outline = outlineOf(closed, frame, 0.75 * grid.resolution);
  const apart = rooms.find((room) => !insidePolygon(room.goal, outline));
  if (apart !== undefined) {
    const which = `${shown(apart.name)} (id ${shown(apart.id)})`;
    throw invalid(
      field,
      `${which} does not lie next to the others; at most ${WALL_BETWEEN} m may be between rooms`,
    );
  }
  return outline;
}

/** Morphological closing with a square of `reach` cells to each side. */
function closeGaps(mask: Uint8Array, width: number, height: number, reach: number): Uint8Array {
  return spread(spread(mask, width, height, reach, 1), width, height, reach, 0);
}

/** Marks with `value` whatever lies within `reach` of a cell that has it, first along rows, then along columns. */
function spread(mask: Uint8Array, width: number, height: number, reach: number, value: 0 | 1): Uint8Array {
  const pass = (from: Uint8Array, step: number, along: number) => {
    const out = Uint8Array.from(from);
    for (let i = 0; i < from.length; i++) {
      if (from[i] !== value) continue;
      const place = step === 1 ? i % width : Math.floor(i / width);
      const low = Math.max(-reach, -place);
      const high = Math.min(reach, along - 1 - place);
      for (let k = low; k <= high; k++) out[i + k * step] = value;
    }
    return out;
  };
  return pass(pass(mask, 1, width), width, height);
}

function split(edit: Edit<'split'>, ground: EditGround): Areas {
  const { areas, grid } = ground.bundle;
  const room = roomOf(areas, edit.areaId, 'split.areaId');
  checkName(edit.name, areas.rooms, [], 'split.name');
  for (const [i, one] of edit.aliases.entries()) checkName(one, areas.rooms, [], `split.aliases.${i}`);
  checkOnMap(edit.line, grid, 'split.line');
  const parts = splitPolygon(room.polygon, edit.line);
  if (parts === null) {
    throw invalid('split.line', `it must cross the outline of ${shown(room.name)} exactly twice`);
  }
  for (const part of parts) checkRoomOutline(part, grid, 'split.line');
  const [one, other] = parts;
  const stays = insidePolygon(room.goal, one) ? one : other;
  const rest = stays === one ? other : one;
  const added = newRoom(areas, { ...edit, polygon: rest });
  const next = { ...withRoom(areas, { ...room, polygon: stays }) };
  return withGoal(
    { ...next, rooms: [...next.rooms, added] },
    added,
    ground,
    'split.line',
    edit.goal,
    'split.goal',
  );
}

function redraw(edit: Edit<'outline'>, ground: EditGround): Areas {
  const { areas, grid } = ground.bundle;
  const room = roomOf(areas, edit.areaId, 'outline.areaId');
  checkRoomOutline(edit.polygon, grid, 'outline.polygon');
  const drawn = { ...room, polygon: edit.polygon };
  checkApart(drawn, areas.rooms, grid, 'outline.polygon');
  return withGoal(withRoom(areas, drawn), drawn, ground, 'outline.polygon', edit.goal, 'outline.goal');
}

function add(edit: Edit<'add'>, ground: EditGround): Areas {
  const { areas, grid } = ground.bundle;
  if (areas.rooms.length >= MAX_ROOMS) throw invalid('add', `a map has at most ${MAX_ROOMS} rooms`);
  checkName(edit.name, areas.rooms, [], 'add.name');
  for (const [i, one] of edit.aliases.entries()) checkName(one, areas.rooms, [], `add.aliases.${i}`);
  checkRoomOutline(edit.polygon, grid, 'add.polygon');
  const room = newRoom(areas, edit);
  checkApart(room, areas.rooms, grid, 'add.polygon');
  return withGoal(
    { ...areas, rooms: [...areas.rooms, room] },
    room,
    ground,
    'add.polygon',
    edit.goal,
    'add.goal',
  );
}

function remove({ areaId }: Edit<'remove'>, { bundle, inUse }: EditGround): Areas {
  const { areas } = bundle;
  const room = roomOf(areas, areaId, 'remove.areaId');
  const names = [room.name, ...room.aliases].map(comparable);
  const schedule =
    inUse.ids.get(areaId) ?? names.map((one) => inUse.names.get(one)).find((one) => one !== undefined);
  if (schedule !== undefined) throw usedBy('remove.areaId', `schedule ${shown(schedule)} uses the room`);
  if (areas.station?.room === areaId) {
    throw invalid('remove.areaId', 'the station stands in this room: merge it with another one instead');
  }
  return { ...areas, rooms: areas.rooms.filter((one) => one !== room) };
}

/** The lists after the change. Throws `Refusal` INVALID_PARAMS, UNKNOWN_TARGET. */
export function editKeepOut(edit: KeepOutEdit, { bundle, radius }: EditGround): Areas {
  const { areas, grid } = bundle;
  for (const [i, wall] of (edit.walls ?? []).entries()) checkOnMap(wall.line, grid, `walls.${i}.line`);
  for (const [i, area] of (edit.areas ?? []).entries())
    checkOutline(area.polygon, grid, `areas.${i}.polygon`);
  const speedAreas = edit.speedAreas?.map((one, i): SpeedArea => {
    const field = `speedAreas.${i}`;
    const polygon = one.polygon ?? roomOf(areas, one.areaId ?? '', `${field}.areaId`).polygon;
    checkOutline(polygon, grid, `${field}.polygon`);
    return { id: one.id, polygon, maxSpeed: one.maxSpeed };
  });
  const { walls: before = [], ...rest } = areas;
  const walls = edit.walls ?? before;
  const next: Areas = {
    ...rest,
    keepout: edit.areas ?? areas.keepout,
    ...(walls.length === 0 ? {} : { walls }),
    speedAreas: speedAreas ?? areas.speedAreas,
  };
  checkStationOpen(next, radius);
  return next;
}

/** A robot that cannot get home any more strands. */
function checkStationOpen({ station, keepout, walls = [] }: Areas, radius: number): void {
  if (station === null) return;
  const { x, y, theta } = station.pose;
  // Where it stands on its contacts, and the way back from there to where it turns.
  const way = [0, 0.2, 0.4, 0.6].map((back) => ({
    x: x - back * Math.cos(theta),
    y: y - back * Math.sin(theta),
  }));
  const closed = [
    ...keepout.map(({ polygon }, i) => ({ polygon, field: `areas.${i}` })),
    ...walls.flatMap((wall, i) => wallStrips(wall).map((polygon) => ({ polygon, field: `walls.${i}` }))),
  ];
  for (const { polygon, field } of closed) {
    const near = way.some((p) => insidePolygon(p, polygon) || nearOutline(p, polygon, radius));
    if (near) throw invalid(field, 'it would bar the robot from its station');
  }
}

function nearOutline(p: Point, polygon: readonly Point[], within: number): boolean {
  return polygon.some((a, i) => {
    const b = polygon[(i + 1) % polygon.length] ?? a;
    const length = (b.x - a.x) ** 2 + (b.y - a.y) ** 2;
    const t = length === 0 ? 0 : ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / length;
    const s = Math.min(1, Math.max(0, t));
    return Math.hypot(p.x - a.x - s * (b.x - a.x), p.y - a.y - s * (b.y - a.y)) < within;
  });
}

function roomOf(areas: Areas, id: string, field: string): Room {
  const room = areas.rooms.find((one) => one.id === id);
  if (room !== undefined) return room;
  const known = areas.rooms.map((one) => `${one.id} (${one.name})`).join(', ') || 'none';
  throw new Refusal('UNKNOWN_TARGET', `${field}: found ${shown(id)}; allowed: ${known}`, field);
}

function withRoom(areas: Areas, room: Room): Areas {
  return { ...areas, rooms: areas.rooms.map((one) => (one.id === room.id ? room : one)) };
}

/** Gives a room its goal: the one that was asked for, its own where that still serves, or the most open place. */
function withGoal(
  areas: Areas,
  room: Room,
  { bundle, radius }: EditGround,
  outlineField: string,
  wanted: Pose | null = null,
  goalField = outlineField,
): Areas {
  const ground = new DrivableGround(mapBundle(bundle.grid, areas), radius, DEFAULT_INFLATION);
  if (wanted !== null) {
    ground.checkGoal({ goal: wanted, polygon: room.polygon }, goalField);
    return withRoom(areas, { ...room, goal: wanted });
  }
  if (insidePolygon(room.goal, room.polygon)) {
    try {
      ground.checkGoal(room, goalField);
      return areas;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  const goal = ground.placeIn(room.polygon);
  if (goal === null) {
    throw new Refusal(
      'TARGET_UNREACHABLE',
      `${outlineField}: the robot finds no place to stand in ${shown(room.name)} that a way leads to`,
      outlineField,
    );
  }
  return withRoom(areas, { ...room, goal });
}

function newRoom(
  areas: Areas,
  { name, aliases, polygon }: { name: string; aliases: readonly string[]; polygon: readonly Point[] },
): Room {
  const taken = new Set(areas.rooms.flatMap((room) => [room.id, room.name, ...room.aliases]).map(comparable));
  let n = areas.rooms.length + 1;
  while (taken.has(String(n))) n += 1;
  // Outside until `withGoal` finds the place.
  const goal = { x: Number.NaN, y: Number.NaN, theta: 0 };
  const turned = signedArea(polygon) < 0 ? polygon.toReversed() : polygon;
  return { id: String(n), name, aliases: without(aliases, [name]), polygon: turned, goal };
}

function stationMoved(areas: Areas, from: readonly string[], to: string): Areas {
  const { station } = areas;
  return station !== null && from.includes(station.room)
    ? { ...areas, station: { ...station, room: to } }
    : areas;
}

/** Each name once, as it was first written, and none that stands in `taken`. */
function without(names: readonly string[], taken: readonly string[]): string[] {
  const seen = new Set(taken.map(comparable));
  return names.filter((one) => {
    const key = comparable(one);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function usedBy(field: string, problem: string): Refusal {
  return new Refusal('STATE_CONDITION_FAILED', `${field}: ${problem}`, field);
}
