/** `runMotorDiagnostics`: each wheel a little each way, and what motors, encoders, brakes and lidar made of it. */
import { z } from 'zod';
import type { MeasureLeg } from '../../config/contracts/amr.js';
import { Refusal } from '../../config/contracts/errors.js';
import { requireAbility } from '../abilities.js';
import { requireMotion } from '../body.js';
import { defineMethod, type MethodSpec } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { driveAdvice } from './drive-advice.js';
import { judgeDrive } from './drive-verdict.js';
import { readLegs } from './legs.js';

const TARGET = 'maintenance.motors_diagnosed';
/** m/s, and for how long: seven centimetres. */
const SPEED = 0.1;
const FOR_MS = 700;

const side = z.strictObject({ motor: z.string(), encoder: z.string(), current: z.string() });
const outputSchema = z.strictObject({
  passed: z.boolean(),
  parts: z.strictObject({ left: side, right: side, brake: z.string(), lidar: z.string() }),
  /** What to do, one sentence for each fault, in the robot's language. */
  advice: z.array(z.string()),
});

export function runMotorDiagnostics(services: Services): MethodSpec {
  const available = (nowMs: number) => {
    requireAbility(services.amr, 'diagnostics');
    requireFreeStand(services, nowMs);
  };
  return defineMethod<Record<string, never>>({
    name: 'runMotorDiagnostics',
    executor: 'maintenance',
    summary: 'Turns each wheel a few centimetres each way and tells which motor, encoder or wire is wrong.',
    params: z.strictObject({}),
    output: outputSchema,
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'not e-stopped, off the station, base and lidar fresh; 14 cm free before and behind the robot; it need not know where it is',
    available,
    precondition: ({ nowMs }) => available(nowMs),
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    compensation: null,
    timeoutMs: 60_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: false,
    run: (ctx) =>
      withWheelProof(services, ctx.signal, async () => {
        const legs = diagnosticLegs();
        const request = { operation: ctx.taskId, fence: ctx.fence('motion'), legs };
        const measured = await services.motion.measure(request, ctx.signal, ctx.progress.bind(ctx));
        const verdict = judgeDrive(readLegs(legs, measured.detail), services.amr.state()?.localized === true);
        const { passed, ...parts } = verdict;
        const found = driveAdvice(verdict);
        services.noteDiagnosis?.(found);
        const advice = found.map((one) => one[services.settings.language]);
        return {
          stage: 'maintenance.diagnosed',
          evidence: {
            completion_target: TARGET,
            observed_at_ms: measured.observedAtMs,
            stopped_for_ms: measured.stoppedForMs,
            passed,
            legs: legs.length,
          },
          output: { passed, parts, advice },
        };
      }),
  });
}

/** Both wheels, then each alone, forward and back: where it began is where it ends. */
export function diagnosticLegs(): MeasureLeg[] {
  const leg = (left: number, right: number): MeasureLeg => ({ left, right, forMs: FOR_MS, expect: 'near' });
  return [
    leg(SPEED, SPEED),
    leg(-SPEED, -SPEED),
    leg(SPEED, 0),
    leg(-SPEED, 0),
    leg(0, SPEED),
    leg(0, -SPEED),
  ];
}

/** Refuses where the robot cannot move about a little on its own floor. */
export function requireFreeStand(services: Services, nowMs: number): void {
  const facts = requireMotion(services, nowMs, { reserve: true, localized: false });
  if (facts.docked === true) {
    throw new Refusal(
      'STATE_CONDITION_FAILED',
      'the robot stands on its station: let it leave first (undock)',
      undefined,
      facts.at ?? undefined,
    );
  }
}
