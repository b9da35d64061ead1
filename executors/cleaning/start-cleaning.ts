/** `startCleaning`: purify where the robot stands. */
import { z } from 'zod';
import { AIR_GRADES } from '../../config/contracts/air.js';
import { Refusal } from '../../config/contracts/errors.js';
import { CLEANING_MODES, type CleaningResult } from '../../state-machines/cleaning-types.js';
import { factsNow } from '../body.js';
import { type Completion, defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { airOutput, airOutputSchema } from './air-output.js';
import { requireFan } from './fan.js';
import { cleaningSummary } from './summary.js';

const HOUR = 3_600_000;
const duration = z.int().min(1000).max(HOUR);

const paramsSchema = z
  .strictObject({
    mode: z.enum(CLEANING_MODES).default('auto'),
    cleanMinTimeMs: duration.default(60_000),
    maxTimeMs: duration.default(30 * 60_000),
    untilGrade: z.enum(AIR_GRADES).exclude(['very_bad']).optional(),
  })
  .superRefine((params, ctx) => {
    if (params.untilGrade === undefined || params.cleanMinTimeMs <= params.maxTimeMs) return;
    ctx.addIssue({
      code: 'custom',
      path: ['maxTimeMs'],
      message: `allowed: at least cleanMinTimeMs (${params.cleanMinTimeMs})`,
    });
  });
type Params = z.infer<typeof paramsSchema>;

const airSample = z.strictObject({
  observedAtMs: z.number().nullable(),
  freshnessMs: z.number().nullable(),
  usable: z.boolean(),
  grade: z.enum(AIR_GRADES).nullable(),
  pm2_5: z.number().nullable(),
  pm10: z.number().nullable(),
  co2: z.number().nullable(),
});
/** What a paused cleaning goes on with: the dwell done, the air as it was before, and the room it belongs to. */
const cleaningSoFar = z.object({
  ranMs: z.number().min(0),
  before: airSample.nullable(),
  held: z.boolean(),
  areaId: z.string().nullable(),
});

const TARGET = 'cleaning.stopped';

export function startCleaning(services: Services): MethodSpec {
  const available = () => {
    if (!requireFan(services).status().fanConnected) {
      throw new Refusal('CAPABILITY_UNAVAILABLE', 'the fan does not answer: check its cable and power');
    }
    if (services.motion.status().activity !== 'idle') {
      throw new Refusal('STATE_CONDITION_FAILED', 'the robot is moving: it purifies standing still');
    }
  };
  return defineMethod<Params>({
    name: 'startCleaning',
    executor: 'cleaning',
    summary: 'Purifies the air where the robot stands, for a time, and then until the air is good enough.',
    params: paramsSchema,
    output: z.strictObject({
      summary: z.string(),
      summary_ko: z.string(),
      summary_en: z.string(),
      before: airOutputSchema,
      after: airOutputSchema,
      duration_ms: z.number(),
      grade_reached: z.boolean().nullable(),
    }),
    resources: [{ resource: 'fan', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText: 'fan connected, robot not moving',
    available,
    precondition: available,
    cancel: { method: 'stopCleaning', proof: 'fan read back at rpm 0' },
    pause: {
      carry: ({ taskId, carried }) => {
        const soFar = requireFan(services).soFar(taskId);
        return soFar === null ? carried : { ...soFar };
      },
      outdated: ({ carried, preempted }) => elsewhere(services, carried, preempted),
    },
    compensation: null,
    timeoutMs: (params) =>
      (params.untilGrade === undefined ? params.cleanMinTimeMs : params.maxTimeMs) + 120_000,
    timeoutText: '(untilGrade ? maxTimeMs : cleanMinTimeMs) + 120000',
    stopGraceMs: 25_000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { mode, cleanMinTimeMs, maxTimeMs, untilGrade } = ctx.params;
        const areaId = areaNow(services);
        const carried = ctx.carried === null ? null : cleaningSoFar.parse(ctx.carried);
        const result = await requireFan(services).clean(
          {
            operation: ctx.taskId,
            mode,
            dwellMs: cleanMinTimeMs,
            maxTimeMs: untilGrade === undefined ? cleanMinTimeMs : maxTimeMs,
            untilGrade: untilGrade ?? null,
            areaId,
            fence: ctx.fence('fan'),
            ...(carried === null ? {} : { from: carried }),
          },
          ctx.signal,
          ctx.progress.bind(ctx),
        );
        return completion(services, result, areaId);
      }),
  });
}

/** A cleaning is of a place: what is left of it is of no use in another one. */
function elsewhere(
  services: Services,
  carried: Record<string, unknown> | null,
  preempted: boolean,
): string | null {
  if (carried === null) return null;
  const { areaId } = cleaningSoFar.parse(carried);
  const now = areaNow(services);
  // Without a map nobody knows; unless something else had the robot meanwhile, it stands where it stood.
  if (areaId === now && (areaId !== null || !preempted)) return null;
  const name = (id: string | null) =>
    id === null ? 'an unknown place' : (services.rooms()?.byId(id)?.name ?? id);
  return `the cleaning belonged to ${name(areaId)}, and the robot is in ${name(now)}`;
}

/** The room the robot stands in, where it knows. */
function areaNow(services: Services): string | null {
  const { pose, localized } = factsNow(services, services.clock.now());
  return pose === null || localized !== true ? null : (services.rooms()?.roomAt(pose)?.id ?? null);
}

function completion(services: Services, result: CleaningResult, areaId: string | null): Completion {
  const room = areaId === null ? null : (services.rooms()?.byId(areaId)?.name ?? null);
  const summary = cleaningSummary(result, room);
  return {
    stage: 'cleaning.stopped',
    evidence: {
      completion_target: TARGET,
      observed_at_ms: result.observedAtMs,
      rpm: result.rpm,
      peak_rpm: result.peakRpm,
      duration_ms: result.durationMs,
      grade_reached: result.gradeReached,
      area_id: areaId,
    },
    output: {
      summary: summary[services.settings.language],
      summary_ko: summary.ko,
      summary_en: summary.en,
      before: airOutput(result.before),
      after: airOutput(result.after),
      duration_ms: result.durationMs,
      grade_reached: result.gradeReached,
    },
  };
}
