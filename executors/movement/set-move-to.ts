/** `setMoveTo`: drive to a room, to several in turn, or to a position on the map. */
import { z } from 'zod';
import { measuredArrival } from '../../state-machines/navigation/judge.js';
import { factsNow, requireMotion, requireRooms } from '../body.js';
import { type Completion, defineMethod, type MethodSpec } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { stopCleaningFirst } from './stop-cleaning-first.js';
import { type MoveTarget, moveTargetSchema, resolveGoals } from './targets.js';

export const poseSchema = z.strictObject({ x: z.number(), y: z.number(), theta: z.number() });

const outputSchema = z.strictObject({ area_id: z.string().nullable(), pose: poseSchema });

/** What a paused journey goes on with: the goals that are left, and the rooms visited before. */
const journeySoFar = z.strictObject({
  index: z.int().min(0),
  visited: z.array(z.string().nullable()),
  held: z.boolean(),
});

const TARGET = 'movement.arrived';

export function setMoveTo(services: Services): MethodSpec {
  const { settings } = services;
  const goalsOf = (params: MoveTarget) => resolveGoals(params, requireRooms(services), settings);
  return defineMethod<MoveTarget>({
    name: 'setMoveTo',
    executor: 'movement',
    summary: 'Drives to a room, to several rooms in turn, or to a position on the map.',
    params: moveTargetSchema,
    output: outputSchema,
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'localised, not e-stopped, battery above the reserve, base and scan fresh, map not being edited, target known, on free space and outside keep-outs; leaves the station first when docked, stops a stationary cleaning first',
    admit: ({ params }) => {
      goalsOf(params);
    },
    available: (nowMs) => {
      requireRooms(services);
      requireMotion(services, nowMs, { reserve: true, localized: true });
    },
    precondition: ({ params, nowMs }) => {
      goalsOf(params);
      requireMotion(services, nowMs, { reserve: true, localized: true });
    },
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    pause: {
      carry: ({ taskId, carried }) => {
        const soFar = services.motion.soFar(taskId);
        return soFar === null ? carried : { ...soFar };
      },
    },
    compensation: null,
    timeoutMs: 300_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: true,
    alreadyDone: ({ params, nowMs }) => {
      const [goal, ...more] = goalsOf(params);
      if (goal === undefined || more.length > 0) return null;
      const seen = measuredArrival(factsNow(services, nowMs), goal, settings.stop.stillMs);
      return seen === null ? null : completion({ ...seen, areaId: goal.areaId });
    },
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const goals = goalsOf(ctx.params);
        const request = {
          operation: ctx.taskId,
          goals,
          fence: ctx.fence('motion'),
          maxSpeed: null,
          ...(ctx.carried === null ? {} : { from: journeySoFar.parse(ctx.carried) }),
          ...stopCleaningFirst(services, ctx),
        };
        const arrival = await services.motion.moveTo(request, ctx.signal, ctx.progress.bind(ctx));
        return completion(arrival, { visited: arrival.visited, recoveries: arrival.recoveries });
      }),
  });
}

function completion(
  arrival: {
    areaId: string | null;
    pose: { x: number; y: number; theta: number };
    observedAtMs: number;
    stoppedForMs: number;
    error: { xy: number; theta: number };
  },
  more: Record<string, unknown> = {},
): Completion {
  const { areaId, pose, error } = arrival;
  return {
    stage: 'navigation.arrived',
    evidence: {
      completion_target: TARGET,
      observed_at_ms: arrival.observedAtMs,
      area_id: areaId,
      pose,
      idle: true,
      stopped_for_ms: arrival.stoppedForMs,
      error_m: error.xy,
      error_rad: error.theta,
      ...more,
    },
    output: { area_id: areaId, pose },
  };
}
