/** `saveMap`: keeps the map under a name, the one in use or the one that is being made. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { nameParam } from './areas-common.js';
import { requireMapFile } from './mapping-common.js';

const TARGET = 'map.saved';

const paramsSchema = z.strictObject({ name: nameParam });
type Params = z.infer<typeof paramsSchema>;

const outputSchema = z.strictObject({ map_id: z.string(), rooms: z.number() });

export function saveMap(services: Services): MethodSpec {
  const { map } = services;
  const isMapping = () => services.amr.state()?.mapping != null;
  const available = () => {
    requireMapFile(services);
    const { stage } = services.mapping?.status() ?? { stage: 'idle' };
    if (isMapping() && stage !== 'ready') {
      throw new Refusal('STATE_CONDITION_FAILED', 'the robot still explores: it is saved once it stands');
    }
    if (!isMapping() && map.current() === null) {
      throw new Refusal('STATE_CONDITION_FAILED', 'there is no map to save');
    }
  };
  return defineMethod<Params>({
    name: 'saveMap',
    executor: 'map',
    summary:
      'Keeps the map in use, or the one that is being made as it is by now, under a name by which copyMap finds it. Ends nothing, and puts no other map in use.',
    params: paramsSchema,
    output: outputSchema,
    resources: [],
    completionTarget: TARGET,
    preconditionText: 'a map is in use, or one is being made and the robot does not explore',
    available,
    precondition: available,
    cancel: null,
    compensation: null,
    timeoutMs: 30_000,
    stopGraceMs: 15_000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { name } = ctx.params;
        const growing = isMapping();
        const saved =
          growing && services.mapping !== null
            ? await services.mapping.keep(name, ctx.signal)
            : await map.name(name);
        const mapId = saved.mapId ?? '';
        const kept = map.kept().some(({ id }) => id === mapId);
        if (!kept) throw new Error(`the map ${mapId} was saved and is not among those that are kept`);
        return {
          stage: TARGET,
          evidence: {
            completion_target: TARGET,
            observed_at_ms: saved.observedAtMs,
            map_id: mapId,
            rooms: saved.rooms,
            growing,
            kept,
          },
          output: { map_id: mapId, rooms: saved.rooms },
        };
      }),
  });
}
