/** Session and publisher put together. */
import type { OutboxRow } from '../store/outbox-types.js';
import { OutboxPublisher } from './publisher.js';
import { MqttSession } from './session.js';
import type { Cloud, CloudDeps, SessionFacts } from './types.js';

const STOP_TIMEOUT_MS = 2000;

export function createCloud(deps: CloudDeps): Cloud {
  const session = new MqttSession(deps);
  const publisher = new OutboxPublisher({ ...deps, link: session });
  return {
    start: () => session.start(),
    async stop(timeoutMs = STOP_TIMEOUT_MS) {
      await session.stop(timeoutMs);
      publisher.dispose();
    },
    facts: (): SessionFacts => session.facts(),
    onFacts: (listener) => session.onFacts(listener),
    onAcknowledged: (listener: (row: OutboxRow) => void) => publisher.onAcknowledged(listener),
    busy: () => session.busy() + publisher.busy(),
    activity: () => session.activity(),
    counters: () => ({ ...session.counters(), ...publisher.counters() }),
  };
}
