/** Sends the planning context to the cloud and waits for the broker's acknowledgement. */
import type { Clock } from '../../config/contracts/clock.js';
import type { ContextPublisher } from '../../executors/services.js';
import type { Cloud } from '../cloud/types.js';
import type { OutboxWriter } from '../store/outbox-types.js';

export interface ContextPublisherDeps {
  clock: Clock;
  store: { write<T>(fn: () => T): T };
  outbox: OutboxWriter;
  /** Null without a broker. */
  cloud: Cloud | null;
  context(): object;
}

export function createContextPublisher(deps: ContextPublisherDeps): ContextPublisher {
  return {
    unavailable: () => (deps.cloud === null ? 'no broker is configured (cloud.url)' : null),
    publish: (signal) =>
      new Promise((resolve, reject) => {
        const { cloud } = deps;
        if (cloud === null) return reject(new Error('no broker is configured'));
        /** Rows of telemetry have no key of their own in the outbox; the payload carries the event's id. */
        let eventId: string | null = null;
        let bytes = 0;
        const unsubscribe = cloud.onAcknowledged((row) => {
          if (eventId === null || row.topic !== 'context' || !row.payload.includes(eventId)) return;
          done();
          resolve({ ackedAtMs: deps.clock.now(), bytes });
        });
        const onAbort = () => {
          done();
          reject(signal.reason);
        };
        const done = () => {
          unsubscribe();
          signal.removeEventListener('abort', onAbort);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        deps.store.write(() =>
          deps.outbox.appendTelemetry('context', null, (stamp) => {
            eventId = stamp.event_id;
            const payload = { ...deps.context(), ...stamp };
            bytes = Buffer.byteLength(JSON.stringify(payload));
            return payload;
          }),
        );
      }),
  };
}
