/** How a motion machine's runner talks to the driver: one action at a time, and what comes back as events. */
import type {
  ActionFailure,
  ActionUpdate,
  AmrDriver,
  AmrEvent,
  MotionAction,
  SafetyCondition,
} from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { errorText, isRefusal } from '../config/contracts/errors.js';
import type { Point } from '../config/contracts/geometry.js';
import { isTaskReason, type TaskReason } from '../config/contracts/reason-codes.js';
import { type BodyFacts, bodyFacts } from './body.js';

/** What a motion machine hears from the driver. */
export type MotionEvent =
  | { type: 'RUNNING'; remaining: number | null; note: string | null }
  | { type: 'SUCCEEDED' }
  | { type: 'FAILED'; failure: ActionFailure; message: string; where: Point | null }
  /** The action was ended by somebody else: a stop from elsewhere, a newer action. */
  | { type: 'STOPPED' }
  /** The driver would not start the action, or not plan. */
  | { type: 'REJECTED'; reason: TaskReason; message: string }
  | { type: 'FACTS'; facts: BodyFacts }
  | { type: 'SAFETY'; condition: SafetyCondition }
  | { type: 'LINK_LOST'; message: string };

export interface MotionLinkDeps {
  amr: AmrDriver;
  clock: Clock;
  newId(): string;
  freshMs: number;
}

export class MotionLink {
  readonly #deps: MotionLinkDeps;
  readonly #hear: (event: MotionEvent) => void;
  readonly #unsubscribe: () => void;
  #actionId: string | null = null;

  /** `hear` is called inside the driver's own event; it must not wait. */
  constructor(deps: MotionLinkDeps, hear: (event: MotionEvent) => void) {
    this.#deps = deps;
    this.#hear = hear;
    this.#unsubscribe = deps.amr.subscribe((event) => this.#take(event));
  }

  facts(): BodyFacts {
    return bodyFacts(this.#deps.amr.state(), this.#deps.clock.now(), this.#deps.freshMs);
  }

  start(action: MotionAction, fence: number): void {
    const id = this.#deps.newId();
    this.#actionId = id;
    this.#deps.amr.start(id, action, fence).catch((error: unknown) => {
      if (this.#actionId !== id) return;
      this.#actionId = null;
      this.#hear({ type: 'REJECTED', ...rejectionOf(error) });
    });
  }

  /** Stops the wheels, whatever drives them. What the action still reports is not heard any more. */
  halt(reason: string): void {
    this.#actionId = null;
    this.#deps.amr.stop(reason).catch((error: unknown) => {
      // Without the motion process there is nothing to stop: it stops the base when it loses its channel.
      this.#hear({ type: 'LINK_LOST', message: rejectionOf(error).message });
    });
  }

  close(): void {
    this.#actionId = null;
    this.#unsubscribe();
  }

  #take(event: AmrEvent): void {
    switch (event.type) {
      case 'state':
        this.#hear({ type: 'FACTS', facts: this.facts() });
        return;
      case 'action':
        if (event.update.id === this.#actionId) this.#update(event.update);
        return;
      case 'safety':
        if (event.cause !== null) this.#hear({ type: 'SAFETY', condition: event.cause });
        return;
      case 'link':
        if (event.connected) return;
        this.#actionId = null;
        this.#hear({
          type: 'LINK_LOST',
          message: `the motion process is gone: ${event.reason ?? 'unknown'}`,
        });
        return;
      case 'docked':
        return;
    }
  }

  #update(update: ActionUpdate): void {
    if (update.status !== 'running') this.#actionId = null;
    this.#hear(motionEventOf(update));
  }
}

function motionEventOf(update: ActionUpdate): MotionEvent {
  switch (update.status) {
    case 'running':
      return { type: 'RUNNING', remaining: update.remaining, note: update.note };
    case 'succeeded':
      return { type: 'SUCCEEDED' };
    case 'stopped':
      return { type: 'STOPPED' };
    case 'failed':
      return { type: 'FAILED', failure: update.failure, message: update.message, where: update.where };
  }
}

/** Reason and message of a driver's rejection; anything that is not a refusal counts as a hardware fault. */
export function rejectionOf(error: unknown): { reason: TaskReason; message: string } {
  const message = errorText(error);
  const reason = isRefusal(error) && isTaskReason(error.reason) ? error.reason : 'HARDWARE_FAULT';
  return { reason, message };
}
