/** Turning in place: one motion action, measured by the driver, ended with proof. */
import type { ActionUpdate, AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import { wrapAngle } from '../config/contracts/geometry.js';
import { bodyFacts, type StopLimits } from './body.js';
import type { Rotation } from './motion-types.js';
import { oneAction } from './one-action.js';

export interface TurnRequest {
  id: string;
  angle: number;
  tolerance: number;
  fence: number;
}

type Succeeded = Extract<ActionUpdate, { status: 'succeeded' }>;

/** Rejects as `MotionOperations` says. */
export async function turn(
  amr: AmrDriver,
  clock: Clock,
  limits: StopLimits,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<Rotation> {
  const before = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  const { id, angle, tolerance, fence } = request;
  const spin = { id, action: { kind: 'spin', angle, tolerance }, fence } as const;
  const { ended, proof } = await oneAction(amr, clock, limits, spin, signal);
  const after = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  const turned = turnedBy(ended, request.angle, before.pose?.theta ?? null, after.pose?.theta ?? null);
  if (turned === null) {
    throw new TaskFailure('HARDWARE_FAULT', 'how far the robot turned could not be measured');
  }
  return { turned, pose: after.pose, observedAtMs: proof.observedAtMs, stoppedForMs: proof.stoppedForMs };
}

/**
 * The pose says how far it turned, up to whole turns; the driver's own measurement says which. Without a pose the
 * driver's measurement stands alone.
 */
function turnedBy(
  ended: Succeeded,
  asked: number,
  before: number | null,
  after: number | null,
): number | null {
  const reported = ended.detail.turned ?? null;
  if (before === null || after === null) return reported;
  return asked + wrapAngle(after - before - asked);
}
