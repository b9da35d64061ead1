/** From the seven ways of naming a target to goals on the map. Nothing is guessed. */
import { z } from 'zod';
import { Refusal, shown } from '../../config/contracts/errors.js';
import type { Room } from '../../drivers/amr/types.js';
import type { NavigationGoal } from '../../state-machines/motion-types.js';
import type { ExecutorSettings, RoomCatalogue } from '../services.js';

const MAX_STOPS = 20;
const text = z.string().min(1).max(64);
/** Metres and radians, in the map frame; a home is smaller than a kilometre. */
const coordinate = z.number().min(-1000).max(1000);

const TARGETS = [
  'positionId',
  'positionName',
  'position',
  'positionIds',
  'areaId',
  'targetRoom',
  'roomName',
] as const;

export const moveTargetSchema = z
  .strictObject({
    positionId: text.optional(),
    positionName: text.optional(),
    position: z.strictObject({ x: coordinate, y: coordinate, theta: coordinate }).optional(),
    positionIds: z.array(text).min(1).max(MAX_STOPS).optional(),
    areaId: text.optional(),
    targetRoom: text.optional(),
    roomName: text.optional(),
  })
  .superRefine((params, ctx) => {
    const given = TARGETS.filter((name) => params[name] !== undefined);
    if (given.length === 1) return;
    const found = given.length === 0 ? 'none of them' : given.join(' and ');
    ctx.addIssue({
      code: 'custom',
      message: `allowed: exactly one of ${TARGETS.join(', ')}; found ${found}`,
    });
  });
export type MoveTarget = z.infer<typeof moveTargetSchema>;

/** Throws `Refusal`: UNKNOWN_TARGET, AMBIGUOUS_TARGET, INVALID_PARAMS (off the map), TARGET_UNREACHABLE. */
export function resolveGoals(
  params: MoveTarget,
  rooms: RoomCatalogue,
  settings: ExecutorSettings,
): NavigationGoal[] {
  if (params.position !== undefined) {
    rooms.checkPose(params.position, 'position');
    return [
      {
        pose: params.position,
        areaId: rooms.roomAt(params.position)?.id ?? null,
        tolerance: settings.positionTolerance,
      },
    ];
  }
  return namedRooms(params, rooms).map(({ room, field }) => {
    rooms.checkPose(room.goal, field);
    return { pose: room.goal, areaId: room.id, tolerance: settings.roomTolerance };
  });
}

function namedRooms(params: MoveTarget, rooms: RoomCatalogue): { room: Room; field: string }[] {
  if (rooms.rooms.length === 0) {
    throw new Refusal('CAPABILITY_UNAVAILABLE', 'the map has no rooms: name them in areas.yaml');
  }
  if (params.positionIds !== undefined) {
    return params.positionIds.map((id, i) => byId(rooms, id, `positionIds.${i}`));
  }
  for (const field of ['positionId', 'areaId'] as const) {
    const id = params[field];
    if (id !== undefined) return [byId(rooms, id, field)];
  }
  for (const field of ['positionName', 'targetRoom', 'roomName'] as const) {
    const name = params[field];
    if (name !== undefined) return [{ room: rooms.resolve(name, field), field }];
  }
  throw new Refusal('INVALID_PARAMS', 'no target given');
}

function byId(rooms: RoomCatalogue, id: string, field: string): { room: Room; field: string } {
  const room = rooms.byId(id);
  if (room !== null) return { room, field };
  const known = rooms.rooms.map((one) => `${one.id} (${one.name})`).join(', ');
  throw new Refusal('UNKNOWN_TARGET', `${field}: found ${shown(id)}; allowed: ${known}`, field);
}
