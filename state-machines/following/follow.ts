/** One session of following: the motion action, the machine that watches it, and the proof of its end. */
import type { ActionUpdate, AmrDriver } from '../../config/contracts/amr.js';
import type { Clock } from '../../config/contracts/clock.js';
import { TaskFailure } from '../../config/contracts/errors.js';
import { failureOfAction } from '../action-failure.js';
import { awaitWheelsStopped, bodyFacts, knownPose, type StopLimits, stoppedWithProof } from '../body.js';
import { rejectionOf } from '../motion-link.js';
import type { Following, FollowRequest } from '../motion-types.js';
import { stateName } from '../pure.js';
import type { StageReporter } from '../types.js';
import { createFollowingMachine } from './machine.js';
import type { FollowingEffect, FollowingEvent } from './types.js';

export interface FollowDeps {
  amr: AmrDriver;
  clock: Clock;
  limits: StopLimits;
  newId(): string;
  maxSpeed: number;
  /** Percent below which the battery is needed for the way home. */
  batteryReserve(): number;
  /** There is somebody to follow. */
  onStarted(at: number): void;
}

/** Kept behind the person, m. */
const DISTANCE = 1;

type Ended = Exclude<ActionUpdate, { status: 'running' }>;
type Over = Ended | 'aborted' | 'low_battery';

/** Rejects as `MotionOperations` says. */
export async function followPerson(
  deps: FollowDeps,
  request: FollowRequest,
  signal: AbortSignal,
  onStage: StageReporter,
): Promise<Following> {
  const { amr, clock, limits } = deps;
  const session = new Session(deps, request, signal, onStage);
  const over = signal.aborted ? 'aborted' : await session.over();
  if (over === 'aborted' || over === 'low_battery')
    await amr.stop(`following: ${over}`).catch(() => undefined);
  const proof = await awaitWheelsStopped(amr, clock, limits);
  const facts = bodyFacts(amr.state(), clock.now(), limits.freshMs);
  if (over === 'aborted') throw stoppedWithProof(proof, session.soFar(proof.observedAtMs));
  if (over === 'low_battery') {
    const evidence = { battery_percent: facts.batteryPercent, ...session.soFar(proof.observedAtMs) };
    throw new TaskFailure('LOW_BATTERY', 'the battery is needed for the way home; the following has ended', {
      observedAtMs: proof.observedAtMs,
      evidence,
    });
  }
  if (over.status === 'stopped') throw stoppedWithProof(proof, session.soFar(proof.observedAtMs));
  const { startedAt } = session;
  const lost = over.status === 'failed' && over.failure === 'person_lost';
  if (startedAt === null || (over.status === 'failed' && !lost)) throw failure(over, facts);
  return {
    ended: lost ? 'person_lost' : 'time_over',
    startedAtMs: startedAt,
    followedMs: Math.max(0, proof.observedAtMs - startedAt),
    pose: knownPose(facts),
    observedAtMs: proof.observedAtMs,
    stoppedForMs: proof.stoppedForMs,
  };
}

function failure(over: Ended, facts: ReturnType<typeof bodyFacts>): TaskFailure {
  if (over.status === 'failed') return failureOfAction(over, facts);
  return new TaskFailure('STATE_CONDITION_FAILED', 'nobody to follow was seen before the time was over');
}

class Session {
  readonly #deps: FollowDeps;
  readonly #request: FollowRequest;
  readonly #signal: AbortSignal;
  readonly #onStage: StageReporter;
  readonly #machine;
  #state;
  #end: (over: Over) => void = () => {};

  constructor(deps: FollowDeps, request: FollowRequest, signal: AbortSignal, onStage: StageReporter) {
    this.#deps = deps;
    this.#request = request;
    this.#signal = signal;
    this.#onStage = onStage;
    this.#machine = createFollowingMachine(deps.batteryReserve);
    this.#state = this.#machine.initial();
  }

  get startedAt(): number | null {
    return this.#state.context.startedAt;
  }

  /** For the evidence of an end from outside. */
  soFar(endedAt: number): Record<string, unknown> {
    const { startedAt } = this;
    return { followed_ms: startedAt === null ? 0 : Math.max(0, endedAt - startedAt) };
  }

  over(): Promise<Over> {
    const { amr, newId, maxSpeed } = this.#deps;
    const id = newId();
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#end('aborted');
      const unsubscribe = amr.subscribe((event) => {
        if (event.type === 'link' && !event.connected) {
          finish(() => reject(new TaskFailure('HARDWARE_FAULT', 'the motion process is gone')));
        }
        if (event.type === 'state') this.#take({ type: 'FACTS', at: event.state.at, facts: this.#facts() });
        if (event.type !== 'action' || event.update.id !== id) return;
        const { update } = event;
        if (update.status === 'running') this.#take({ type: 'NOTE', at: update.at, note: update.note });
        else this.#end(update);
      });
      const finish = (tell: () => void) => {
        unsubscribe();
        this.#signal.removeEventListener('abort', onAbort);
        tell();
      };
      this.#end = (over) => finish(() => resolve(over));
      this.#signal.addEventListener('abort', onAbort, { once: true });
      this.#onStage(`follow.${stateName(this.#state.value)}`);
      const { maxDurationMs, fence } = this.#request;
      amr
        .start(id, { kind: 'follow', distance: DISTANCE, maxSpeed, maxDurationMs }, fence)
        .catch((error: unknown) => {
          const { reason, message } = rejectionOf(error);
          finish(() => reject(new TaskFailure(reason, message)));
        });
    });
  }

  #take(event: FollowingEvent): void {
    const { state, effects } = this.#machine.next(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect, event.at);
  }

  #perform(effect: FollowingEffect, at: number): void {
    if (effect.kind === 'stage') this.#onStage(effect.stage);
    else if (effect.kind === 'started') this.#deps.onStarted(at);
    else this.#end('low_battery');
  }

  #facts() {
    const { amr, clock, limits } = this.#deps;
    return bodyFacts(amr.state(), clock.now(), limits.freshMs);
  }
}
