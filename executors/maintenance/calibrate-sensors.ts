/** `calibrateSensors`: wheels, their distance and the lidar's direction against the walls around; kept, and undone. */
import { z } from 'zod';
import type { Calibration, HardwareReport, MeasureLeg } from '../../config/contracts/amr.js';
import { Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { requireAbility } from '../abilities.js';
import { factsNow } from '../body.js';
import { type Completion, defineMethod, type MethodSpec, type RunContext } from '../method.js';
import { withWheelProof } from '../proof.js';
import type { Services } from '../services.js';
import { calibrated, type Estimate, estimate, isBelievable, LIMITS } from './estimate.js';
import { readLegs } from './legs.js';
import { requireFreeStand } from './run-motor-diagnostics.js';

const TARGET = 'maintenance.sensors_calibrated';
/** Half a metre there and back, and one turn each way: m/s and ms. */
const STRAIGHT = { speed: 0.15, forMs: 3500 } as const;
const TURNING = { speed: 0.07, forMs: 10_500 } as const;

const paramsSchema = z.strictObject({
  /** `measure`: nothing is changed; `apply`: what was found is in force from now on; `undo`: as it was before. */
  mode: z.enum(['apply', 'measure', 'undo']).default('apply'),
});
type Params = z.infer<typeof paramsSchema>;

const calibrationSchema = z.strictObject({
  wheel_scale: z.number(),
  wheel_base_scale: z.number(),
  lidar_yaw: z.number(),
});
const outputSchema = z.strictObject({
  applied: z.boolean(),
  /** Factors on the profile's wheel diameter and wheel base, and what is added to `lidar.yaw` (rad); null: the profile's. */
  calibration: calibrationSchema.nullable(),
  /** As measured now, on top of what was in force; null when nothing was measured. */
  measured: z
    .strictObject({
      wheel_scale: z.number(),
      wheel_base_scale: z.number(),
      lidar_yaw: z.number(),
      gyro_scale: z.number().nullable(),
    })
    .nullable(),
  /** Strength of the floor's reflection now, in the base's own units, from left to right; null where it has none. */
  cliff_signals: z.array(z.number()).nullable(),
});

export function calibrateSensors(services: Services): MethodSpec {
  const available = () => {
    requireAbility(services.amr, 'calibration');
    if (services.amr.setCalibration === undefined || hardware(services) === null) {
      throw new Refusal(
        'CAPABILITY_UNAVAILABLE',
        'the motion process does not report its wheels and lidar yet',
      );
    }
  };
  return defineMethod<Params>({
    name: 'calibrateSensors',
    executor: 'maintenance',
    summary:
      'Drives half a metre and turns once each way, measures wheels and lidar against the walls, and uses what it found; mode undo takes it back.',
    params: paramsSchema,
    output: outputSchema,
    resources: [{ resource: 'motion', mode: 'exclusive' }],
    completionTarget: TARGET,
    preconditionText:
      'not e-stopped, off the station, base and lidar fresh; 0.6 m free before the robot and nobody near; for undo only a motion process that reports',
    available,
    precondition: ({ nowMs, params }) => {
      available();
      if (params.mode === 'undo') requireStanding(services, nowMs);
      else requireFreeStand(services, nowMs);
    },
    cancel: { method: 'stopMove', proof: 'wheel speed 0 for 0.3 s' },
    compensation: { method: 'calibrateSensors', params: { mode: 'undo' } },
    timeoutMs: 120_000,
    stopGraceMs: 8000,
    risk: 'low',
    idempotent: false,
    run: (ctx) =>
      withWheelProof(services, ctx.signal, () =>
        ctx.params.mode === 'undo' ? undo(services) : measure(services, ctx),
      ),
  });
}

async function measure(services: Services, ctx: RunContext<Params>): Promise<Completion> {
  const legs = calibrationLegs();
  const request = { operation: ctx.taskId, fence: ctx.fence('motion'), legs };
  const measured = await services.motion.measure(request, ctx.signal, ctx.progress.bind(ctx));
  const found = estimate(readLegs(legs, measured.detail));
  if (found === null) {
    throw new TaskFailure(
      'STATE_CONDITION_FAILED',
      'too little of the walls was seen, or something moved: calibrate in a room with walls within four metres and nobody near',
      { observedAtMs: measured.observedAtMs },
    );
  }
  const next = calibrated(hardware(services)?.calibration ?? null, found, measured.observedAtMs);
  if (!isBelievable(next)) throw unbelievable(found, measured.observedAtMs);
  const apply = ctx.params.mode === 'apply';
  if (apply) await services.amr.setCalibration?.(next);
  return completion(services, { measured: found, calibration: next, applied: apply });
}

async function undo(services: Services): Promise<Completion> {
  const previous = hardware(services)?.previousCalibration ?? null;
  await services.amr.setCalibration?.(previous);
  return completion(services, { measured: null, calibration: previous, applied: true });
}

interface Result {
  measured: Estimate | null;
  calibration: Calibration | null;
  applied: boolean;
}

function completion(services: Services, { measured, calibration, applied }: Result): Completion {
  const facts = factsNow(services, services.clock.now());
  return {
    stage: 'maintenance.calibrated',
    evidence: {
      completion_target: TARGET,
      observed_at_ms: facts.at ?? services.clock.now(),
      stopped_for_ms: facts.stoppedForMs,
      applied,
    },
    output: {
      applied,
      calibration:
        calibration === null
          ? null
          : {
              wheel_scale: calibration.wheelScale,
              wheel_base_scale: calibration.wheelBaseScale,
              lidar_yaw: calibration.lidarYaw,
            },
      measured:
        measured === null
          ? null
          : {
              wheel_scale: measured.wheelScale,
              wheel_base_scale: measured.wheelBaseScale,
              lidar_yaw: -measured.lidarYaw,
              gyro_scale: measured.gyroScale,
            },
      cliff_signals: cliffSignals(services),
    },
  };
}

/** There, back, and once round each way: it ends where it began. */
export function calibrationLegs(): MeasureLeg[] {
  const leg = (left: number, right: number, forMs: number): MeasureLeg => ({
    left,
    right,
    forMs,
    expect: 'wheels',
  });
  return [
    leg(STRAIGHT.speed, STRAIGHT.speed, STRAIGHT.forMs),
    leg(-STRAIGHT.speed, -STRAIGHT.speed, STRAIGHT.forMs),
    leg(-TURNING.speed, TURNING.speed, TURNING.forMs),
    leg(TURNING.speed, -TURNING.speed, TURNING.forMs),
  ];
}

function requireStanding(services: Services, nowMs: number): void {
  const facts = factsNow(services, nowMs);
  if (!facts.fresh) {
    throw new Refusal(
      'CAPABILITY_UNAVAILABLE',
      'the motion process does not report',
      undefined,
      facts.at ?? undefined,
    );
  }
}

function unbelievable(found: Estimate, observedAtMs: number): TaskFailure {
  const percent = (scale: number) => `${((scale - 1) * 100).toFixed(1)} %`;
  const degrees = (-found.lidarYaw * 180) / Math.PI;
  return new TaskFailure(
    'HARDWARE_FAULT',
    `wheels off by ${percent(found.wheelScale)}, wheel base by ${percent(found.wheelBaseScale)}, lidar by ${degrees.toFixed(1)}°: more than ${100 * LIMITS.scale} % or ${Math.round((LIMITS.yaw * 180) / Math.PI)}° is a wrong figure in the profile; run runMotorDiagnostics, then correct base and lidar`,
    { observedAtMs },
  );
}

function hardware({ amr }: Services): HardwareReport | null {
  return amr.state()?.hardware ?? null;
}

function cliffSignals(services: Services): number[] | null {
  const signals = hardware(services)?.base.cliffSignals ?? null;
  return signals === null ? null : [...signals];
}
