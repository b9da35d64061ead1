/** `startMapping`: a new map, by hand or by exploring. The task of an exploration lasts as long as that drives. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import type { Explored, MappingMode, MappingStarted } from '../../state-machines/mapping/types.js';
import { factsNow, requireMotion } from '../body.js';
import { type Completion, defineMethod, type MethodSpec } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { mappingOf, requireMapFile } from './mapping-common.js';

const TARGET = 'map.mapping_started';
const START_MS = 20_000;
/** An exploration goes home by itself before this. */
const EXPLORE_MS = 3_600_000;

const paramsSchema = z.strictObject({ mode: z.enum(['manual', 'explore']) });
type Params = z.infer<typeof paramsSchema>;

const outputSchema = z.strictObject({
  mode: z.enum(['manual', 'explore']),
  free_area_m2: z.number().nullable(),
  frontiers_left: z.number().nullable(),
  returned: z.enum(['station', 'start', 'nowhere']).nullable(),
});

export function startMapping(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    const mapping = mappingOf(services);
    requireMapFile(services);
    requireMotion(services, nowMs, { reserve: true, localized: false });
    const { stage } = mapping.status();
    if (stage !== 'idle') {
      throw new Refusal(
        'STATE_CONDITION_FAILED',
        'a map is being made already: save it or give it up with stopMapping',
      );
    }
    const { activity } = services.motion.status();
    if (activity !== 'idle') {
      throw new Refusal('STATE_CONDITION_FAILED', 'the robot drives: a map begins where it stands');
    }
    if (factsNow(services, nowMs).docked === null) {
      throw new Refusal('CAPABILITY_UNAVAILABLE', 'the base does not report: check its cable and power');
    }
  };
  return defineMethod<Params>({
    name: 'startMapping',
    executor: 'map',
    summary:
      'Begins a new map where the robot stands. `manual`: it grows while somebody drives; `explore`: the robot drives itself until everything is known, and home again.',
    params: paramsSchema,
    output: outputSchema,
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'the profile names a map file, no map is being made, nothing drives, not e-stopped, battery above the reserve, base and scan fresh; an exploration leaves the station first',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: {
      method: 'stopMapping',
      proof: 'wheel speed 0 for 0.3 s; what is mapped is kept until stopMapping',
    },
    compensation: { method: 'stopMapping', params: { save: false } },
    timeoutMs: ({ mode }) => (mode === 'explore' ? EXPLORE_MS : START_MS),
    timeoutText: '`explore` ? 3600000 : 20000',
    stopGraceMs: 12_000,
    risk: 'low',
    idempotent: false,
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const mapping = mappingOf(services);
        const { mode } = ctx.params;
        const begun = await mapping.begin(mode, ctx.signal);
        ctx.progress(TARGET, { mode, docked: begun.docked });
        if (mode === 'manual') return completion(mode, begun, null);
        const request = { operation: ctx.taskId, fence: ctx.fence('motion') };
        return completion(mode, begun, await mapping.explore(request, ctx.signal, ctx.progress.bind(ctx)));
      }),
  });
}

function completion(mode: MappingMode, begun: MappingStarted, explored: Explored | null): Completion {
  return {
    stage: explored === null ? TARGET : 'map.explored',
    evidence: {
      completion_target: TARGET,
      observed_at_ms: explored?.observedAtMs ?? begun.observedAtMs,
      started_at_ms: begun.observedAtMs,
      mode,
      rt_boot_id: begun.rtBootId,
      pose: begun.pose,
      docked_at_start: begun.docked,
      ...(explored === null
        ? {}
        : {
            complete: explored.left === 0,
            frontiers_visited: explored.visited,
            unreachable: explored.unreachable,
            frontiers_left: explored.left,
            free_area_m2: explored.freeArea,
            returned: explored.returned,
            not_returned_because: explored.why,
          }),
    },
    output: {
      mode,
      free_area_m2: explored?.freeArea ?? null,
      frontiers_left: explored?.left ?? null,
      returned: explored?.returned ?? null,
    },
  };
}
