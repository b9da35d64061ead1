/** `setAreas`: names and outlines of rooms; one change at a time, and it can be taken back. */
import { z } from 'zod';
import type { RoomEdit } from '../../drivers/amr/map/area-edits.js';
import { defineMethod, type MethodSpec } from '../method.js';
import type { AreaChange, Services } from '../services.js';
import { goalParam, idParam, lineParam, nameParam, polygonParam } from './areas-common.js';
import { drawing } from './drawing.js';

const TARGET = 'map.areas_changed';
const MAX_ALIASES = 50;

const aliases = z.array(nameParam).max(MAX_ALIASES, `at most ${MAX_ALIASES} aliases`);

const paramsSchema = z
  .strictObject({
    rename: z.strictObject({ areaId: idParam, name: nameParam }).optional(),
    aliases: z.strictObject({ areaId: idParam, aliases }).optional(),
    merge: z
      .strictObject({
        areaIds: z.array(idParam).min(2, 'at least 2 rooms').max(20, 'at most 20 rooms'),
        name: nameParam.optional(),
      })
      .optional(),
    split: z
      .strictObject({
        areaId: idParam,
        line: lineParam,
        name: nameParam,
        aliases: aliases.optional(),
        goal: goalParam.optional(),
      })
      .optional(),
    outline: z
      .strictObject({ areaId: idParam, polygon: polygonParam, goal: goalParam.optional() })
      .optional(),
    add: z
      .strictObject({
        name: nameParam,
        aliases: aliases.optional(),
        polygon: polygonParam,
        goal: goalParam.optional(),
      })
      .optional(),
    remove: z.strictObject({ areaId: idParam }).optional(),
    undo: z.literal(true).optional(),
  })
  .superRefine((params, ctx) => {
    const given = Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .map(([name]) => name);
    if (given.length === 1) return;
    const found = given.length === 0 ? 'none of them' : given.join(' and ');
    const allowed = 'rename, aliases, merge, split, outline, add, remove, undo';
    ctx.addIssue({ code: 'custom', message: `allowed: exactly one of ${allowed}; found ${found}` });
  });
type Params = z.infer<typeof paramsSchema>;

function changeOf(params: Params): AreaChange {
  return { kind: 'areas', edit: editOf(params) };
}

function editOf({ rename, aliases, merge, split, outline, add, remove }: Params): RoomEdit | 'undo' {
  if (rename !== undefined) return { kind: 'rename', ...rename };
  if (aliases !== undefined) return { kind: 'aliases', ...aliases };
  if (merge !== undefined) return { kind: 'merge', areaIds: merge.areaIds, name: merge.name ?? null };
  if (split !== undefined)
    return { kind: 'split', ...split, aliases: split.aliases ?? [], goal: split.goal ?? null };
  if (outline !== undefined) return { kind: 'outline', ...outline, goal: outline.goal ?? null };
  if (add !== undefined) return { kind: 'add', ...add, aliases: add.aliases ?? [], goal: add.goal ?? null };
  return remove === undefined ? 'undo' : { kind: 'remove', ...remove };
}

export function setAreas(services: Services): MethodSpec {
  return defineMethod<Params>({
    name: 'setAreas',
    executor: 'map',
    summary:
      'Changes the rooms of the map: one of rename, aliases, merge, split, outline, add, remove, or undo of the newest change.',
    params: paramsSchema,
    completionTarget: TARGET,
    preconditionText:
      'a map is in use, the motion process reports, nothing drives, nobody else changes the map; names stand for one room, outlines are simple, on the map and apart, goals inside and reachable; what schedules use stays',
    ...drawing(services, TARGET, changeOf),
    compensation: { method: 'setAreas', params: { undo: true } },
  });
}
