/** From the cloud session to the gate. */
import type { ArrivalHandler, CommandHandler } from '../cloud/types.js';
import type { Store } from '../store/store.js';
import type { CommandIntake, Principal } from './types.js';

/** All of MQTT is one caller: the broker let it in. */
const CLOUD: Principal = { source: 'CLOUD', name: 'mqtt' };

/**
 * `intake` is asked for with the first message: it is made after the session. Messages taken in one turn share its
 * transaction and its commit; the session's PUBACKs wait for that.
 */
export function commandsFromCloud(
  intake: () => Pick<CommandIntake, 'handleBytes' | 'actAtArrival'>,
  store: Pick<Store, 'committed'>,
): { onArrival: ArrivalHandler; onCommand: CommandHandler } {
  return {
    onArrival: (payload, meta) => intake().actAtArrival(payload, meta, CLOUD),
    onCommand: async (payload, meta) => {
      intake().handleBytes(payload, meta, CLOUD);
      await store.committed();
    },
  };
}
