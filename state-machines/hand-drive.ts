/**
 * Driving by hand: one motion for one press of a button. Whoever presses gives signs of life; the motion process is
 * told to drive for a moment at a time and stops by itself when the next moment does not come, whatever of the daemon
 * still runs.
 */
import type { ActionUpdate, AmrDriver } from '../config/contracts/amr.js';
import type { CancelTimer, Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import type { Twist } from '../config/contracts/geometry.js';
import { failureOfAction } from './action-failure.js';
import { awaitWheelsStopped, bodyFacts, knownPose, type StopLimits, stoppedWithProof } from './body.js';
import { rejectionOf } from './motion-link.js';
import type { HandDrive, HandDriveRequest } from './motion-types.js';

/** Without a sign of life for this long the wheels stop, ms. */
export const KEEP_ALIVE_MS = 300;

export interface HandDriveDeps {
  amr: AmrDriver;
  clock: Clock;
  limits: StopLimits;
  newId(): string;
}

type Ended = Exclude<ActionUpdate, { status: 'running' }>;
type Why = HandDrive['ended'] | 'aborted';

/** Rejects as `MotionOperations` says. */
export async function driveByHand(
  deps: HandDriveDeps,
  request: HandDriveRequest,
  signal: AbortSignal,
): Promise<HandDrive> {
  const { amr, clock, limits } = deps;
  const began = clock.mono();
  const press = new Press(deps, request, signal);
  const { why, update } = signal.aborted ? { why: 'aborted' as const, update: null } : await press.over();
  const drivenMs = Math.max(0, Math.round(press.endedAt - began));
  const proof = await awaitWheelsStopped(amr, clock, limits);
  if (why === 'aborted') throw stoppedWithProof(proof);
  if (update?.status === 'failed') {
    throw failureOfAction(update, bodyFacts(amr.state(), clock.now(), limits.freshMs));
  }
  // Stopped by somebody else: by a stop, or by a newer action.
  if (why === null) throw stoppedWithProof(proof);
  const facts = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  return {
    ended: why,
    drivenMs,
    pose: knownPose(facts),
    observedAtMs: proof.observedAtMs,
    stoppedForMs: proof.stoppedForMs,
  };
}

class Press {
  readonly #deps: HandDriveDeps;
  readonly #request: HandDriveRequest;
  readonly #signal: AbortSignal;
  readonly #id: string;
  /** When it ends at the latest, mono ms. */
  readonly #until: number;
  #why: Why | null = null;
  /** When somebody here ended it, and when it was last told to drive on, mono ms. */
  #finishedAt: number | null = null;
  #toldAt: number;
  #silent: CancelTimer = () => {};

  constructor(deps: HandDriveDeps, request: HandDriveRequest, signal: AbortSignal) {
    this.#deps = deps;
    this.#request = request;
    this.#signal = signal;
    this.#id = deps.newId();
    this.#toldAt = deps.clock.mono();
    this.#until = this.#toldAt + request.durationMs;
  }

  /** When the wish to drive ended, mono ms; coming to rest is not driving. */
  get endedAt(): number {
    return this.#finishedAt ?? Math.min(this.#deps.clock.mono(), this.#until, this.#toldAt + KEEP_ALIVE_MS);
  }

  /** Why it ended, and what the motion process said; `why` null: nobody here ended it. */
  over(): Promise<{ why: Why | null; update: Ended | null }> {
    const { amr, clock } = this.#deps;
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#finish('aborted');
      const cancelDuration = clock.after(this.#request.durationMs, () => this.#finish('duration_over'));
      const unfollow = this.#request.press.follow({
        kept: () => this.#drive(reject),
        released: () => this.#finish('released'),
      });
      const unsubscribe = amr.subscribe((event) => {
        if (event.type === 'link' && !event.connected) {
          end(() => reject(new TaskFailure('HARDWARE_FAULT', 'the motion process is gone')));
        }
        if (event.type !== 'action' || event.update.id !== this.#id) return;
        const { update } = event;
        if (update.status !== 'running') end(() => resolve({ why: this.#whyOf(update), update }));
      });
      const end = (tell: () => void) => {
        this.#silent();
        cancelDuration();
        unfollow();
        unsubscribe();
        this.#signal.removeEventListener('abort', onAbort);
        tell();
      };
      this.#signal.addEventListener('abort', onAbort, { once: true });
      this.#drive((error) => end(() => reject(error)));
    });
  }

  /** For one more moment. What is over stays over: a late sign of life sets nothing in motion. */
  #drive(reject: (error: unknown) => void): void {
    const { amr, clock } = this.#deps;
    const left = this.#until - clock.mono();
    if (this.#why !== null || left <= 0) return;
    this.#toldAt = clock.mono();
    this.#silent();
    this.#silent = clock.after(KEEP_ALIVE_MS, () => this.#finish('no_keep_alive'));
    const twist: Twist = this.#request.twist;
    const action = { kind: 'drive', twist, ttlMs: Math.min(KEEP_ALIVE_MS, left) } as const;
    amr.start(this.#id, action, this.#request.fence).catch((error: unknown) => {
      const { reason, message } = rejectionOf(error);
      reject(new TaskFailure(reason, message));
    });
  }

  #finish(why: Why): void {
    if (this.#why !== null) return;
    this.#why = why;
    this.#finishedAt = this.#deps.clock.mono();
    this.#silent();
    this.#deps.amr.stop(`driving by hand: ${why}`).catch(() => undefined);
  }

  /** The motion process counts the same times itself, and may be the first to find them over. */
  #whyOf(update: Ended): Why | null {
    if (this.#why !== null || update.status !== 'succeeded') return this.#why;
    return this.#until - this.#deps.clock.mono() <= 0 ? 'duration_over' : 'no_keep_alive';
  }
}
