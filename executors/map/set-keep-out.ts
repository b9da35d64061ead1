/** `setKeepOut`: virtual walls, no-go areas, and areas in which the robot goes slowly. */
import { z } from 'zod';
import { Refusal, shown } from '../../config/contracts/errors.js';
import { defineMethod, type MethodSpec } from '../method.js';
import type { AreaChange, Services } from '../services.js';
import { idParam, lineParam, polygonParam } from './areas-common.js';
import { drawing } from './drawing.js';

const TARGET = 'map.keepout_changed';
const MAX_EACH = 100;
/** Of a virtual wall that says nothing, m. */
const WALL_WIDTH = 0.1;

const list = <T extends z.ZodType>(item: T) => z.array(item).max(MAX_EACH, `at most ${MAX_EACH}`).optional();

const paramsSchema = z
  .strictObject({
    walls: list(
      z.strictObject({
        id: idParam.optional(),
        line: lineParam,
        width: z.number().min(0.02, 'metres, at least 0.02').max(1, 'metres, at most 1').optional(),
      }),
    ),
    areas: list(z.strictObject({ id: idParam.optional(), polygon: polygonParam })),
    speedAreas: list(
      z
        .strictObject({
          id: idParam.optional(),
          polygon: polygonParam.optional(),
          areaId: idParam.optional(),
          maxSpeed: z.number().min(0.05, 'm/s, at least 0.05').max(2, 'm/s, at most 2'),
        })
        .refine(
          ({ polygon, areaId }) => (polygon === undefined) !== (areaId === undefined),
          'allowed: exactly one of polygon, areaId',
        ),
    ),
    undo: z.literal(true).optional(),
  })
  .superRefine((params, ctx) => {
    const { undo, ...lists } = params;
    const given = Object.entries(lists).filter(([, value]) => value !== undefined);
    if ((undo === undefined) === given.length > 0) return;
    const message = 'allowed: at least one of walls, areas, speedAreas, or undo alone';
    ctx.addIssue({ code: 'custom', message });
  });
type Params = z.infer<typeof paramsSchema>;

function changeOf({ walls, areas, speedAreas, undo }: Params): AreaChange {
  if (undo === true) return { kind: 'keepout', edit: 'undo' };
  return {
    kind: 'keepout',
    edit: {
      walls:
        named(walls, 'w', 'walls')?.map(({ id, line, width }) => ({
          id,
          line,
          width: width ?? WALL_WIDTH,
        })) ?? null,
      areas: named(areas, 'n', 'areas')?.map(({ id, polygon }) => ({ id, polygon })) ?? null,
      speedAreas:
        named(speedAreas, 'v', 'speedAreas')?.map(({ id, polygon, areaId, maxSpeed }) => ({
          id,
          polygon: polygon ?? null,
          areaId: areaId ?? null,
          maxSpeed,
        })) ?? null,
    },
  };
}

/** Gives an id to each that has none. Throws `Refusal` INVALID_PARAMS for one that stands twice. */
function named<T extends { id?: string | undefined }>(
  items: readonly T[] | undefined,
  letter: string,
  field: string,
): (T & { id: string })[] | null {
  if (items === undefined) return null;
  const taken = new Set<string>();
  for (const [i, { id }] of items.entries()) {
    if (id === undefined) continue;
    if (taken.has(id)) {
      throw new Refusal(
        'INVALID_PARAMS',
        `${field}.${i}.id: found ${shown(id)} twice; ids must differ`,
        field,
      );
    }
    taken.add(id);
  }
  let n = 0;
  const fresh = () => {
    do n += 1;
    while (taken.has(`${letter}${n}`));
    return `${letter}${n}`;
  };
  return items.map((item) => ({ ...item, id: item.id ?? fresh() }));
}

export function setKeepOut(services: Services): MethodSpec {
  return defineMethod<Params>({
    name: 'setKeepOut',
    executor: 'map',
    summary:
      'Sets virtual walls, no-go areas and areas with a speed limit; a list that is given replaces the present one; or undoes the newest change.',
    params: paramsSchema,
    completionTarget: TARGET,
    preconditionText:
      'a map is in use, the motion process reports, nothing drives, nobody else changes the map; outlines are simple and on the map, and the way to the station stays open',
    ...drawing(services, TARGET, changeOf),
    compensation: { method: 'setKeepOut', params: { undo: true } },
  });
}
