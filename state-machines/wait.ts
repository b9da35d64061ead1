/** Waiting for the body to be in a certain state, with a limit. */
import type { AmrDriver } from '../config/contracts/amr.js';
import type { Clock } from '../config/contracts/clock.js';
import { TaskFailure } from '../config/contracts/errors.js';
import type { TaskReason } from '../config/contracts/reason-codes.js';
import { type BodyFacts, bodyFacts } from './body.js';

export interface WaitOptions {
  freshMs: number;
  timeoutMs: number;
  signal: AbortSignal;
  /** How it fails when the time is over; `what` names what was awaited. */
  reason: TaskReason;
  what: string;
}

/** Resolves with the first facts for which `until` holds; rejects on time-out, or with the signal's reason. */
export function waitForBody(
  amr: AmrDriver,
  clock: Clock,
  until: (facts: BodyFacts) => boolean,
  options: WaitOptions,
): Promise<BodyFacts> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const facts = bodyFacts(amr.state(), clock.now(), options.freshMs);
      if (!until(facts)) return;
      end();
      resolve(facts);
    };
    const onAbort = () => {
      end();
      reject(options.signal.reason);
    };
    const unsubscribe = amr.subscribe((event) => {
      if (event.type === 'state') look();
    });
    const cancel = clock.after(options.timeoutMs, () => {
      end();
      reject(new TaskFailure(options.reason, `waited ${options.timeoutMs} ms for ${options.what}, in vain`));
    });
    const end = () => {
      cancel();
      unsubscribe();
      options.signal.removeEventListener('abort', onAbort);
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
    if (options.signal.aborted) onAbort();
    else look();
  });
}
