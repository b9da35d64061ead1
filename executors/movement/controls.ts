/** `pauseMove`, `resumeMove` and `stopMove`: they act on whatever moves, and take no lease. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { requireMotion } from '../body.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';

const none = z.strictObject({});
const stoppedOutput = z.strictObject({ stopped: z.literal(true), already: z.boolean() });

const common = {
  executor: 'movement',
  params: none,
  resources: [],
  cancel: null,
  compensation: null,
  stopGraceMs: 8000,
  risk: 'low',
  idempotent: true,
} as const;

export function pauseMove(services: Services): MethodSpec {
  const precondition = () => {
    if (services.motion.status().activity === 'idle') {
      throw new Refusal('STATE_CONDITION_FAILED', 'nothing is moving; there is nothing to pause');
    }
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'pauseMove',
    summary: 'Holds the journey that is under way, until it is resumed.',
    output: stoppedOutput,
    completionTarget: 'movement.paused',
    preconditionText: 'a journey or a docking is under way; paused already counts as done',
    timeoutMs: 10_000,
    available: () => {
      precondition();
      if (services.motion.status().paused) {
        throw new Refusal('STATE_CONDITION_FAILED', 'the journey is held already');
      }
    },
    precondition,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { already, observedAtMs, stoppedForMs } = await services.motion.pause(ctx.signal);
        return {
          stage: 'movement.paused',
          evidence: {
            completion_target: 'movement.paused',
            observed_at_ms: observedAtMs,
            stopped_for_ms: stoppedForMs,
            already,
          },
          output: { stopped: true, already },
        };
      }),
  });
}

export function resumeMove(services: Services): MethodSpec {
  const precondition = (nowMs: number) => {
    if (services.motion.status().activity === 'idle') {
      throw new Refusal('STATE_CONDITION_FAILED', 'no journey is held; there is nothing to resume');
    }
    requireMotion(services, nowMs, { reserve: false, localized: false });
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'resumeMove',
    summary: 'Goes on with a held journey.',
    output: z.strictObject({ moving: z.literal(true), already: z.boolean() }),
    completionTarget: 'movement.resumed',
    preconditionText: 'a journey is held; not e-stopped, base and scan fresh; moving already counts as done',
    timeoutMs: 30_000,
    available: (nowMs) => {
      precondition(nowMs);
      if (!services.motion.status().paused) {
        throw new Refusal('STATE_CONDITION_FAILED', 'no journey is held; there is nothing to resume');
      }
    },
    precondition: ({ nowMs }) => precondition(nowMs),
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { already, observedAtMs } = await services.motion.resume(ctx.signal);
        return {
          stage: 'movement.resumed',
          evidence: { completion_target: 'movement.resumed', observed_at_ms: observedAtMs, already },
          output: { moving: true, already },
        };
      }),
  });
}

export function stopMove(services: Services): MethodSpec {
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'stopMove',
    summary: 'Stops the wheels, whoever set them in motion.',
    output: stoppedOutput,
    completionTarget: 'movement.stopped',
    preconditionText: 'none: a stop is never refused',
    timeoutMs: 10_000,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const already = services.motion.status().activity === 'idle';
        const proof = await services.motion.stop('stopMove', ctx.signal);
        return {
          stage: 'movement.stopped',
          evidence: {
            completion_target: 'movement.stopped',
            observed_at_ms: proof.observedAtMs,
            stopped_for_ms: proof.stoppedForMs,
            already,
          },
          output: { stopped: true, already },
        };
      }),
  });
}
