/** `pauseCleaning`, `resumeCleaning`, `stopCleaning` and `setCleaningMode`. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { CLEANING_MODES } from '../../state-machines/cleaning-types.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';
import { requireFan, requireRunning } from './fan.js';

const none = z.strictObject({});
const modeSchema = z.strictObject({ mode: z.enum(CLEANING_MODES) });

const common = {
  executor: 'cleaning',
  resources: [],
  cancel: null,
  compensation: null,
  /** A fan needs time to run down, or up. */
  timeoutMs: 30_000,
  stopGraceMs: 5000,
  risk: 'low',
  idempotent: true,
} as const;

export function pauseCleaning(services: Services): MethodSpec {
  const precondition = () => {
    requireRunning(services, 'pause');
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'pauseCleaning',
    summary: 'Stops the fan of the running cleaning, until it is resumed.',
    params: none,
    output: z.strictObject({ paused: z.literal(true), already: z.boolean() }),
    completionTarget: 'cleaning.paused',
    preconditionText: 'a cleaning runs; paused already counts as done',
    available: () => {
      if (requireRunning(services, 'pause').status().paused) {
        throw new Refusal('STATE_CONDITION_FAILED', 'the cleaning is paused already');
      }
    },
    precondition,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { observedAtMs, already } = await requireFan(services).pause(ctx.signal);
        return {
          stage: 'cleaning.paused',
          evidence: { completion_target: 'cleaning.paused', observed_at_ms: observedAtMs, rpm: 0, already },
          output: { paused: true, already },
        };
      }),
  });
}

export function resumeCleaning(services: Services): MethodSpec {
  const precondition = () => {
    requireRunning(services, 'resume');
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'resumeCleaning',
    summary: 'Goes on with a paused cleaning.',
    params: none,
    output: z.strictObject({ running: z.literal(true), already: z.boolean() }),
    completionTarget: 'cleaning.resumed',
    preconditionText: 'a cleaning is paused; running already counts as done',
    available: () => {
      if (!requireRunning(services, 'resume').status().paused) {
        throw new Refusal('STATE_CONDITION_FAILED', 'the cleaning is not paused; there is nothing to resume');
      }
    },
    precondition,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { rpm, observedAtMs, already } = await requireFan(services).resume(ctx.signal);
        return {
          stage: 'cleaning.resumed',
          evidence: { completion_target: 'cleaning.resumed', observed_at_ms: observedAtMs, rpm, already },
          output: { running: true, already },
        };
      }),
  });
}

export function stopCleaning(services: Services): MethodSpec {
  const available = () => {
    requireFan(services);
  };
  return defineMethod<Record<string, never>>({
    ...common,
    name: 'stopCleaning',
    summary: 'Stops the fan and ends the running cleaning.',
    params: none,
    output: z.strictObject({ stopped: z.literal(true), already: z.boolean() }),
    completionTarget: 'cleaning.stopped',
    preconditionText: 'fan connected; at rest already counts as done',
    available,
    precondition: available,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { observedAtMs, already } = await requireFan(services).stop('stopCleaning', ctx.signal);
        return {
          stage: 'cleaning.stopped',
          evidence: { completion_target: 'cleaning.stopped', observed_at_ms: observedAtMs, rpm: 0, already },
          output: { stopped: true, already },
        };
      }),
  });
}

export function setCleaningMode(services: Services): MethodSpec {
  const available = () => {
    requireRunning(services, 'change the mode of');
  };
  return defineMethod<z.infer<typeof modeSchema>>({
    ...common,
    name: 'setCleaningMode',
    summary: 'Changes how hard the running cleaning works.',
    params: modeSchema,
    output: z.strictObject({ percent: z.number(), rpm: z.number() }),
    completionTarget: 'cleaning.mode_changed',
    preconditionText: 'a cleaning runs',
    available,
    precondition: available,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { percent, rpm, observedAtMs } = await requireFan(services).setMode(
          ctx.params.mode,
          ctx.signal,
        );
        return {
          stage: 'cleaning.mode_changed',
          evidence: {
            completion_target: 'cleaning.mode_changed',
            observed_at_ms: observedAtMs,
            percent,
            rpm,
          },
          output: { percent, rpm },
        };
      }),
  });
}
