/** Requests to the motion process that have not been answered, each with its time-out. */
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { Refusal, TaskFailure } from '../../config/contracts/errors.js';
import { isTaskReason, type ReasonCode } from '../../config/contracts/reason-codes.js';
import type { RtAnswer, RtToDaemon } from '../../config/contracts/rt-protocol.js';

export type RtResponse = Extract<RtToDaemon, { t: 'response' }>;

interface Waiter {
  accepted: () => void;
  resolve: (result: RtAnswer | undefined) => void;
  reject: (error: Error) => void;
  cancel: CancelTimer;
}

const MAX_PENDING = 64;

export class PendingRequests {
  readonly #clock: Clock;
  readonly #waiters = new Map<number, Waiter>();
  #next = 1;
  #timeouts = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Registers the waiter, then sends. Rejects with the refusal of the motion process, or with `HARDWARE_FAULT`
   * after `timeoutMs`; `what` names the request in that message. `accepted` is called at once when a positive
   * answer comes in, before anything that follows it on the channel is read.
   */
  send(
    what: string,
    timeoutMs: number,
    send: (n: number) => void,
    accepted: () => void = () => {},
  ): Promise<RtAnswer | undefined> {
    if (this.#waiters.size >= MAX_PENDING) {
      const message = `${MAX_PENDING} requests to the motion process are unanswered`;
      return Promise.reject(new TaskFailure('HARDWARE_FAULT', message));
    }
    const n = this.#next++;
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(timeoutMs, () => {
        this.#waiters.delete(n);
        this.#timeouts += 1;
        const message = `the motion process did not answer "${what}" within ${timeoutMs} ms`;
        reject(new TaskFailure('HARDWARE_FAULT', message));
      });
      this.#waiters.set(n, { accepted, resolve, reject, cancel });
      send(n);
    });
  }

  /** An answer to a request that has timed out, or was never asked, is ignored. */
  answered(response: RtResponse): void {
    const waiter = this.#waiters.get(response.n);
    if (waiter === undefined) return;
    this.#waiters.delete(response.n);
    waiter.cancel();
    if (response.ok) {
      waiter.accepted();
      waiter.resolve(response.result);
    } else waiter.reject(refusal(response.reason, response.message));
  }

  failAll(message: string): void {
    for (const waiter of this.#waiters.values()) {
      waiter.cancel();
      waiter.reject(new TaskFailure('HARDWARE_FAULT', message));
    }
    this.#waiters.clear();
  }

  counters(): Record<string, number> {
    return { rt_request_timeouts: this.#timeouts };
  }
}

/** Reasons that can end a task come as `TaskFailure`, the others as plain refusals. */
function refusal(reason: ReasonCode, message: string): Refusal {
  return isTaskReason(reason) ? new TaskFailure(reason, message) : new Refusal(reason, message);
}
