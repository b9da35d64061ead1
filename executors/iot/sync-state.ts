/** `syncState`: send the planning context to the cloud now, and know that it got there. */
import { z } from 'zod';
import { Refusal } from '../../config/contracts/errors.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withoutMotion } from '../proof.js';
import type { Services } from '../services.js';

const TARGET = 'mqtt.puback';

export function syncState(services: Services): MethodSpec {
  const available = () => {
    const missing = services.context.unavailable();
    if (missing !== null) throw new Refusal('CAPABILITY_UNAVAILABLE', missing);
  };
  return defineMethod<Record<string, never>>({
    name: 'syncState',
    executor: 'iot',
    summary: 'Publishes the planning context; done when the broker has acknowledged it.',
    params: z.strictObject({}),
    output: z.strictObject({ bytes: z.number() }),
    resources: [],
    completionTarget: TARGET,
    preconditionText: 'a cloud is configured and connected',
    available,
    precondition: available,
    cancel: null,
    compensation: null,
    timeoutMs: 15_000,
    stopGraceMs: 1000,
    risk: 'low',
    idempotent: true,
    run: (ctx) =>
      withoutMotion(services, ctx.signal, async () => {
        const { ackedAtMs, bytes } = await services.context.publish(ctx.signal);
        return {
          stage: 'iot.synced',
          evidence: { completion_target: TARGET, observed_at_ms: ackedAtMs, bytes },
          output: { bytes },
        };
      }),
  });
}
