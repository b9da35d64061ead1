/** `rotate`: turn in place by an angle. */
import { z } from 'zod';
import { TaskFailure } from '../../config/contracts/errors.js';
import type { Rotation } from '../../state-machines/motion-types.js';
import { requireMotion } from '../body.js';
import { defineMethod, type MethodSpec, type RunContext } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { poseSchema } from './set-move-to.js';
import { stopCleaningFirst } from './stop-cleaning-first.js';

const paramsSchema = z.strictObject({ angleDeg: z.number().min(-360).max(360) });
type Params = z.infer<typeof paramsSchema>;

const TARGET = 'movement.rotated';
/** Degrees; what counts as turned. */
const WITHIN_DEG = 3;
/** What is missing after a turn is turned again, this often at most. */
const CORRECTIONS = 2;

export function rotate(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireMotion(services, nowMs, { reserve: true, localized: false });
  };
  return defineMethod<Params>({
    name: 'rotate',
    executor: 'movement',
    summary: 'Turns in place; positive angles turn to the left.',
    params: paramsSchema,
    output: z.strictObject({ turned_deg: z.number(), pose: poseSchema.nullable() }),
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'not e-stopped, battery above the reserve, base and scan fresh; leaves the station first when docked; a robot that does not know where it is may turn: it finds itself by that',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    compensation: null,
    timeoutMs: 30_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: false,
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const { turned, last } = await turnFully(services, ctx);
        return {
          stage: 'navigation.rotated',
          evidence: {
            completion_target: TARGET,
            observed_at_ms: last.observedAtMs,
            turned_deg: turned,
            idle: true,
            stopped_for_ms: last.stoppedForMs,
            pose: last.pose,
          },
          output: { turned_deg: turned, pose: last.pose },
        };
      }),
  });
}

/** Turns, measures, and turns again by what is missing. Degrees. */
async function turnFully(
  services: Services,
  ctx: RunContext<Params>,
): Promise<{ turned: number; last: Rotation }> {
  const asked = ctx.params.angleDeg;
  let turned = 0;
  for (let i = 0; i <= CORRECTIONS; i++) {
    const request = {
      operation: ctx.taskId,
      angle: ((asked - turned) * Math.PI) / 180,
      tolerance: (WITHIN_DEG / 2 / 180) * Math.PI,
      fence: ctx.fence('motion'),
      ...stopCleaningFirst(services, ctx),
    };
    const last = await services.motion.rotate(request, ctx.signal, ctx.progress.bind(ctx));
    turned += (last.turned * 180) / Math.PI;
    if (Math.abs(asked - turned) <= WITHIN_DEG) return { turned, last };
  }
  throw new TaskFailure(
    'HARDWARE_FAULT',
    `asked to turn ${asked}°, turned ${turned.toFixed(1)}° after ${CORRECTIONS} corrections`,
    { evidence: { turned_deg: turned } },
  );
}
