/** `stopMapping`: the new map is in use, or given up. An exploration that still drives is stopped first. */
import { z } from 'zod';
import type { MappingSaved } from '../../state-machines/mapping/types.js';
import { type Completion, defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { mappingOf, requireBegun, requireMapFile } from './mapping-common.js';

const TARGET = 'map.mapping_stopped';

const paramsSchema = z.strictObject({ save: z.boolean() });
type Params = z.infer<typeof paramsSchema>;

const outputSchema = z.strictObject({
  saved: z.boolean(),
  map_id: z.string().nullable(),
  previous_map_id: z.string().nullable(),
  rooms: z.number(),
});

export function stopMapping(services: Services): MethodSpec {
  const { map } = services;
  return defineMethod<Params>({
    name: 'stopMapping',
    executor: 'map',
    summary:
      'Ends mapping. `save`: the new map gets its rooms and is in use from now on; otherwise the map from before is in use again.',
    params: paramsSchema,
    output: outputSchema,
    resources: [],
    completionTarget: TARGET,
    preconditionText: 'a map is being made; what drives for it is stopped, with proof',
    available: () => {
      requireBegun(services);
      requireMapFile(services);
    },
    precondition: ({ params }) => {
      // Nothing to give up counts as given up: a restart may have been faster.
      if (params.save) requireBegun(services);
      requireMapFile(services);
    },
    cancel: null,
    // Which map was in use before is in the output: `copyMap` brings it back, also long after.
    compensation: null,
    timeoutMs: 60_000,
    stopGraceMs: 45_000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const mapping = mappingOf(services);
        const before = map.current()?.id ?? null;
        const { save } = ctx.params;
        if (!save && mapping.status().stage === 'idle') {
          const saved = {
            mapId: null,
            rooms: 0,
            observedAtMs: services.clock.now(),
            freeArea: null,
            stopped: null,
          };
          return completion(false, saved, before, true);
        }
        return completion(save, await mapping.end(save, ctx.signal), before, false);
      }),
  });
}

function completion(
  save: boolean,
  ended: Omit<MappingSaved, 'stopped'> & { stopped: MappingSaved['stopped'] | null },
  before: string | null,
  already: boolean,
): Completion {
  const { mapId, rooms, observedAtMs, freeArea, stopped } = ended;
  return {
    stage: TARGET,
    evidence: {
      completion_target: TARGET,
      observed_at_ms: observedAtMs,
      saved: save,
      map_id: save ? mapId : before,
      previous_map_id: before,
      rooms,
      free_area_m2: freeArea,
      stopped: stopped?.stopped ?? null,
      stopped_for_ms: stopped?.stoppedForMs ?? null,
      already,
    },
    output: { saved: save, map_id: save ? mapId : before, previous_map_id: before, rooms },
  };
}
