/** What the library is told: everything it would do behind the outbox's back is off. */
import type { IClientOptions } from 'mqtt';
import type { CancelTimer, Clock } from '../../config/contracts/clock.js';
import { MAX_PACKET_BYTES } from './frame-guard.js';
import { NoStore } from './no-store.js';
import type { CloudOptions } from './types.js';

/** Commands that the broker may have on their way at once (MQTT 5). */
const RECEIVE_MAXIMUM = 64;

/** `will`: what the broker says for us when the connection breaks. */
export function clientOptions(
  options: CloudOptions,
  networkClock: Clock,
  will: { topic: string; payload: string },
): IClientOptions {
  return {
    clientId: options.deviceId,
    protocolId: 'MQTT',
    protocolVersion: options.protocol === '5' ? 5 : 4,
    clean: false,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // Its ready-made buffers for all 65 536 numbers cost 13 MB and save nothing measurable.
    writeCache: false,
    outgoingStore: new NoStore(),
    incomingStore: new NoStore(),
    keepalive: options.keepaliveS,
    // A ping each period whatever else is said: cheaper than re-arming a timer on every PUBACK.
    reschedulePings: false,
    connectTimeout: options.connectTimeoutMs,
    timerVariant: clockTimers(networkClock),
    ...(options.username === null ? {} : { username: options.username }),
    ...(options.password === null ? {} : { password: options.password }),
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true },
    ...(options.protocol === '5'
      ? {
          properties: {
            sessionExpiryInterval: options.sessionExpiryS,
            receiveMaximum: RECEIVE_MAXIMUM,
            maximumPacketSize: MAX_PACKET_BYTES,
          },
        }
      : {}),
  };
}

/** The library's keepalive on the clock given here instead of on its own timers. */
function clockTimers(clock: Clock): NonNullable<Exclude<IClientOptions['timerVariant'], string>> {
  const timers = new Map<number, CancelTimer>();
  let next = 1;
  return {
    set: (fn, ms) => {
      const id = next++;
      const tick = () => fn();
      timers.set(id, clock.every(ms ?? 1, tick));
      return id;
    },
    clear: (id) => {
      timers.get(id)?.();
      timers.delete(id);
    },
  };
}
