/** One motion action from its start to its end, for operations that need no machine. */
import type { ActionUpdate, AmrDriver, MotionAction } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import type { TaskReason } from '../config/contracts/reason-codes.js';
import { awaitWheelsStopped, bodyFacts, knownPose, type StopLimits, stoppedWithProof } from './body.js';
import { rejectionOf } from './motion-link.js';
import type { StopProof } from './types.js';

export interface OneAction {
  id: string;
  action: MotionAction;
  fence: number;
}

type Ended = Exclude<ActionUpdate, { status: 'running' }>;
type Succeeded = Extract<Ended, { status: 'succeeded' }>;

/**
 * Resolves when the action has succeeded and the wheels are proven to stand still. Rejects as `MotionOperations` says.
 * `onNote`: called with each new note of what it does.
 */
export async function oneAction(
  amr: AmrDriver,
  clock: Clock,
  limits: StopLimits,
  request: OneAction,
  signal: AbortSignal,
  onNote: (note: string) => void = () => {},
): Promise<{ ended: Succeeded; proof: StopProof }> {
  const ended = signal.aborted ? 'aborted' : await untilEnded(amr, request, signal, onNote);
  if (ended === 'aborted') {
    await amr.stop(`${request.action.kind} cancelled`).catch(() => undefined);
    throw stoppedWithProof(await awaitWheelsStopped(amr, clock, limits));
  }
  const proof = await awaitWheelsStopped(amr, clock, limits);
  if (ended.status === 'stopped') throw stoppedWithProof(proof);
  if (ended.status === 'failed') throw actionFailure(ended, amr, clock, limits);
  return { ended, proof };
}

function untilEnded(
  amr: AmrDriver,
  { id, action, fence }: OneAction,
  signal: AbortSignal,
  onNote: (note: string) => void,
): Promise<Ended | 'aborted'> {
  return new Promise((resolve, reject) => {
    let told: string | null = null;
    const onAbort = () => end(() => resolve('aborted'));
    const unsubscribe = amr.subscribe((event) => {
      if (event.type === 'link' && !event.connected) {
        const gone = new TaskFailure('HARDWARE_FAULT', 'the motion process is gone');
        end(() => reject(gone));
      }
      if (event.type !== 'action' || event.update.id !== id) return;
      const { update } = event;
      if (update.status !== 'running') end(() => resolve(update));
      else if (update.note !== null && update.note !== told) {
        told = update.note;
        onNote(update.note);
      }
    });
    const end = (tell: () => void) => {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      tell();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    amr.start(id, action, fence).catch((error: unknown) => {
      const { reason, message } = rejectionOf(error);
      end(() => reject(new TaskFailure(reason, message)));
    });
  });
}

function actionFailure(
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
