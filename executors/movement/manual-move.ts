/** `manualMove`: a person drives, one press of a button at a time. */
import { z } from 'zod';
import { Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { KEEP_ALIVE_MS } from '../../state-machines/hand-drive.js';
import type { HandDrive } from '../../state-machines/motion-types.js';
import { requireAbility } from '../abilities.js';
import { requireMotion } from '../body.js';
import { defineMethod, type MethodSpec, type RunContext } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { poseSchema } from './set-move-to.js';
import { stopCleaningFirst } from './stop-cleaning-first.js';

/** Faster than these no base of this kind goes; each has its own limits below. m/s, rad/s. */
const MAX_V = 1;
const MAX_W = 3;
const MAX_PRESS_MS = 2000;

const paramsSchema = z.strictObject({
  v: z.number().min(-MAX_V, `m/s, ${-MAX_V} to ${MAX_V}`).max(MAX_V, `m/s, ${-MAX_V} to ${MAX_V}`),
  w: z.number().min(-MAX_W, `rad/s, ${-MAX_W} to ${MAX_W}`).max(MAX_W, `rad/s, ${-MAX_W} to ${MAX_W}`),
  durationMs: z
    .int()
    .min(1, `milliseconds, 1 to ${MAX_PRESS_MS}`)
    .max(MAX_PRESS_MS, `milliseconds, 1 to ${MAX_PRESS_MS}`)
    .default(MAX_PRESS_MS),
});
type Params = z.infer<typeof paramsSchema>;

const TARGET = 'movement.hand_drive_ended';
const ENDED = ['released', 'duration_over', 'no_keep_alive'] as const satisfies readonly HandDrive['ended'][];

export function manualMove(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireAbility(services.amr, 'manualDrive');
    const facts = requireMotion(services, nowMs, { reserve: true, localized: false });
    if (facts.docked !== true) return;
    const at = facts.at ?? undefined;
    const why = 'the robot stands on its station: undock it before driving by hand';
    throw new Refusal('STATE_CONDITION_FAILED', why, undefined, at);
  };
  return defineMethod<Params>({
    name: 'manualMove',
    executor: 'movement',
    summary:
      'Drives by hand while somebody holds a button: one task per press, kept alive at least every 300 ms on the WebSocket /api/drive/stream.',
    params: paramsSchema,
    output: z.strictObject({
      ended: z.enum(ENDED),
      driven_ms: z.number(),
      pose: poseSchema.nullable(),
    }),
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'not e-stopped, not docked, battery above the reserve, base and scan fresh; a press that waited longer than 300 ms for its turn, with nobody holding it, sets nothing in motion; stops a stationary cleaning first',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    compensation: null,
    timeoutMs: 20_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: false,
    run: async (ctx) => {
      try {
        return await withWheelProof(services, ctx.signal, () => drive(services, ctx));
      } finally {
        services.presses.forget(ctx.taskId);
      }
    },
  });
}

async function drive(services: Services, ctx: RunContext<Params>) {
  requireHeld(services, ctx);
  const { v, w, durationMs } = ctx.params;
  const { first } = stopCleaningFirst(services, ctx);
  const request = {
    operation: ctx.taskId,
    fence: ctx.fence('motion'),
    twist: { v, w },
    durationMs,
    press: services.presses.sourceOf(ctx.taskId),
    ...(first === undefined ? {} : { first: heldAllTheTime(services, ctx, first) }),
  };
  const end = await services.motion.driveByHand(request, ctx.signal, ctx.progress.bind(ctx));
  return {
    stage: 'movement.hand_drive_ended',
    evidence: {
      completion_target: TARGET,
      observed_at_ms: end.observedAtMs,
      ended: end.ended,
      driven_ms: end.drivenMs,
      stopped: true,
      idle: true,
      stopped_for_ms: end.stoppedForMs,
      pose: end.pose,
    },
    output: { ended: end.ended, driven_ms: end.drivenMs, pose: end.pose },
  };
}

/** A press is for now. One that comes to its turn late moves nothing, unless it is still held. */
function requireHeld({ presses, clock }: Services, ctx: RunContext<Params>): void {
  const waitedMs = clock.now() - ctx.askedAtMs;
  const silentMs = presses.silentMs(ctx.taskId) ?? waitedMs;
  const late = silentMs < 0 || silentMs > KEEP_ALIVE_MS;
  if (!presses.wasReleased(ctx.taskId) && !late) return;
  throw new TaskFailure(
    'STATE_CONDITION_FAILED',
    'the press was over before its turn came; the wheels did not turn',
    { evidence: { stopped: true, waited_ms: waitedMs } },
  );
}

/** What has to be done first takes its time; whoever let go meanwhile wants no motion any more. */
function heldAllTheTime(
  services: Services,
  ctx: RunContext<Params>,
  first: (signal: AbortSignal) => Promise<void>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    await first(signal);
    requireHeld(services, ctx);
  };
}
