/** `startFollowMe` and `stopFollowMe`: a session in which the robot goes after the person in front of it. */

import { z } from 'zod';
import type { Following } from '../../state-machines/motion-types.js';
import { requireAbility } from '../abilities.js';
import { factsNow, requireMotion, requireRooms } from '../body.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion, withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { poseSchema } from './set-move-to.js';
import { stopCleaningFirst } from './stop-cleaning-first.js';

const DEFAULT_MS = 10 * 60_000;
const LONGEST_MS = 50 * 60_000;
const paramsSchema = z.strictObject({
  maxDurationMs: z
    .int()
    .min(1000, `milliseconds, 1000 to ${LONGEST_MS}`)
    .max(LONGEST_MS, `milliseconds, 1000 to ${LONGEST_MS}`)
    .default(DEFAULT_MS),
});
type Params = z.infer<typeof paramsSchema>;

const STARTED = 'follow.started';
const STOPPED = 'follow.stopped';
const ENDED = ['time_over', 'person_lost'] as const satisfies readonly Following['ended'][];
/** Beyond the session: leaving the station, seeking, and the stop. */
const EXTRA_MS = 120_000;

export function startFollowMe(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireAbility(services.amr, 'follow');
    requireRooms(services);
    requireMotion(services, nowMs, { reserve: true, localized: true });
  };
  return defineMethod<Params>({
    name: 'startFollowMe',
    executor: 'movement',
    summary:
      'Follows the person in front of the robot at about a metre, for at most maxDurationMs; the task ends when the following does.',
    params: paramsSchema,
    output: z.strictObject({
      ended: z.enum(ENDED),
      followed_ms: z.number(),
      pose: poseSchema.nullable(),
    }),
    resources: [
      { resource: 'motion', mode: 'exclusive' },
      { resource: 'camera', mode: 'exclusive' },
    ],
    completionTarget: STARTED,
    preconditionText:
      'localised, not e-stopped, battery above the reserve, base and scan fresh, map not being edited; somebody in front of the robot within 10 s; leaves the station first when docked, stops a stationary cleaning first',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopFollowMe', proof: 'wheel speed 0 for 0.3 s' },
    compensation: null,
    timeoutMs: ({ maxDurationMs }) => maxDurationMs + EXTRA_MS,
    timeoutText: `maxDurationMs + ${EXTRA_MS}`,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: false,
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const request = {
          operation: ctx.taskId,
          fence: ctx.fence('motion'),
          maxDurationMs: ctx.params.maxDurationMs,
          ...stopCleaningFirst(services, ctx),
        };
        const end = await services.motion.follow(request, ctx.signal, ctx.progress.bind(ctx));
        return {
          stage: STOPPED,
          evidence: {
            completion_target: STARTED,
            observed_at_ms: end.observedAtMs,
            started_at_ms: end.startedAtMs,
            followed_ms: end.followedMs,
            ended: end.ended,
            stopped: true,
            idle: true,
            stopped_for_ms: end.stoppedForMs,
            pose: end.pose,
          },
          output: { ended: end.ended, followed_ms: end.followedMs, pose: end.pose },
        };
      }),
  });
}

export function stopFollowMe(services: Services): MethodSpec {
  return defineMethod<Record<string, never>>({
    name: 'stopFollowMe',
    executor: 'movement',
    summary: 'Ends the following; the robot stands where it is.',
    params: z.strictObject({}),
    output: z.strictObject({ stopped: z.literal(true), already: z.boolean() }),
    resources: [],
    completionTarget: STOPPED,
    preconditionText: 'none: a stop is never refused; nobody being followed already counts as done',
    cancel: null,
    compensation: null,
    timeoutMs: 10_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const already = services.motion.status().activity !== 'following';
        // What else moves is not this method's to stop.
        const proof = already ? null : await services.motion.stop('stopFollowMe', ctx.signal);
        const seenAt = factsNow(services, ctx.clock.now()).at;
        return {
          stage: STOPPED,
          evidence: {
            completion_target: STOPPED,
            observed_at_ms: proof?.observedAtMs ?? seenAt ?? ctx.clock.now(),
            stopped_for_ms: proof?.stoppedForMs ?? null,
            already,
          },
          output: { stopped: true, already },
        };
      }),
  });
}
