/** From the cloud session to the gate. */
import type { CommandHandler } from '../cloud/types.js';
import type { Store } from '../store/store.js';
import type { CommandIntake, Principal } from './types.js';

/** All of MQTT is one caller: the broker let it in. */
const CLOUD: Principal = { source: 'CLOUD', name: 'mqtt' };

/** `intake` is asked for with the first message: it is made after the session. The session's PUBACK waits for this. */
export function commandsFromCloud(
  intake: () => Pick<CommandIntake, 'handleBytes'>,
  store: Pick<Store, 'committed'>,
): CommandHandler {
  return async (payload, meta) => {
    intake().handleBytes(payload, meta, CLOUD);
    await store.committed();
  };
}
