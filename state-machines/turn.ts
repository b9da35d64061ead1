/** Turning in place: one motion action, measured by the driver, ended with proof. */
import type { ActionUpdate, AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import { wrapAngle } from '../config/contracts/geometry.js';
import type { TaskReason } from '../config/contracts/reason-codes.js';
import { awaitWheelsStopped, bodyFacts, knownPose, type StopLimits, stoppedWithProof } from './body.js';
import { rejectionOf } from './motion-link.js';
import type { Rotation } from './motion-types.js';

export interface TurnRequest {
  id: string;
  angle: number;
  tolerance: number;
  fence: number;
}

type Ended = Exclude<ActionUpdate, { status: 'running' }>;

/** `onRunning`: called with the first report that it turns. Rejects as `MotionOperations` says. */
export async function turn(
  amr: AmrDriver,
  clock: Clock,
  limits: StopLimits,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<Rotation> {
  const before = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  const ended = signal.aborted ? 'aborted' : await spin(amr, request, signal);
  if (ended === 'aborted') {
    await amr.stop('rotation cancelled').catch(() => undefined);
    throw stoppedWithProof(await awaitWheelsStopped(amr, clock, limits));
  }
  const proof = await awaitWheelsStopped(amr, clock, limits);
  if (ended.status === 'stopped') throw stoppedWithProof(proof);
  if (ended.status === 'failed') throw turnFailure(ended, amr, clock, limits);
  const after = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  const turned = turnedBy(ended, request.angle, before.pose?.theta ?? null, after.pose?.theta ?? null);
  if (turned === null) {
    throw new TaskFailure('HARDWARE_FAULT', 'how far the robot turned could not be measured');
  }
  return { turned, pose: after.pose, observedAtMs: proof.observedAtMs, stoppedForMs: proof.stoppedForMs };
}

function spin(amr: AmrDriver, request: TurnRequest, signal: AbortSignal): Promise<Ended | 'aborted'> {
  return new Promise((resolve, reject) => {
    const onAbort = () => end(() => resolve('aborted'));
    const unsubscribe = amr.subscribe((event) => {
      if (event.type === 'link' && !event.connected) {
        const gone = new TaskFailure('HARDWARE_FAULT', 'the motion process is gone');
        end(() => reject(gone));
      }
      if (event.type !== 'action' || event.update.id !== request.id) return;
      const { update } = event;
      if (update.status !== 'running') end(() => resolve(update));
    });
    const end = (tell: () => void) => {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      tell();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const { angle, tolerance } = request;
    amr.start(request.id, { kind: 'spin', angle, tolerance }, request.fence).catch((error: unknown) => {
      const { reason, message } = rejectionOf(error);
      end(() => reject(new TaskFailure(reason, message)));
    });
  });
}

/**
 * The pose says how far it turned, up to whole turns; the driver's own measurement says which. Without a pose the
 * driver's measurement stands alone.
 */
function turnedBy(
  ended: Extract<Ended, { status: 'succeeded' }>,
  asked: number,
  before: number | null,
  after: number | null,
): number | null {
  const reported = ended.detail.turned ?? null;
  if (before === null || after === null) return reported;
  return asked + wrapAngle(after - before - asked);
}

function turnFailure(
  ended: Extract<Ended, { status: 'failed' }>,
  amr: AmrDriver,
  clock: Clock,
  limits: StopLimits,
): TaskFailure {
  const facts = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  const reason: TaskReason = facts.estop
    ? 'EMERGENCY_STOP'
    : ended.failure === 'blocked' || ended.failure === 'stuck'
      ? 'OBSTRUCTED'
      : ended.failure === 'localization_lost'
        ? 'LOCALIZATION_LOST'
        : 'HARDWARE_FAULT';
  return new TaskFailure(reason, ended.message, {
    observedAtMs: ended.at,
    evidence: { where: ended.where, pose: knownPose(facts) },
  });
}
