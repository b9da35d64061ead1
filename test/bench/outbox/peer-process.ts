/**
 * MQTT.js with `mqtt-level-store` at the same promise: a packet is on the disk (LevelDB `sync`) before it is sent,
 * and leaves the store after its PUBACK. Removing it needs no sync, here as in the outbox: a removal that is lost is
 * a repeat, not a loss.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { connect, type IClientOptions } from 'mqtt';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { Meter, producerOptions, sampleEvent } from './messages.js';

/** LevelDB's handle as far as the writes of the store go; the packages come without types. */
interface Level {
  once(event: 'open', listener: () => void): void;
  /** Where the store's writes arrive, once it is open. */
  db: { batch(operations: { type: string }[], options: object, done: (error?: Error) => void): void };
}
type MqttStore = NonNullable<IClientOptions['outgoingStore']>;
interface StoreManager {
  outgoing: MqttStore;
  incoming: MqttStore;
}

endWithParent();
const options = childOptions(producerOptions);
const require = createRequire(import.meta.url);
const openLevel: (path: string) => Level = require('level');
const manageStores: (options: { level: Level }) => StoreManager = require('mqtt-level-store');

const level = openLevel(join(options.dir, 'peer-level'));
await new Promise<void>((resolve) => level.once('open', resolve));
let synced = 0;
const below = level.db;
const batch = below.batch.bind(below);
below.batch = (operations, given, done) => {
  const writes = operations.some((operation) => operation.type === 'put');
  if (writes) synced += 1;
  batch(operations, { ...given, sync: writes }, done);
};
const stores = manageStores({ level });
const client = connect(options.url, {
  clientId: 'da-bench-peer',
  clean: false,
  outgoingStore: stores.outgoing,
  incomingStore: stores.incoming,
});
const meter = new Meter(options, (perS) => {
  client.end(true);
  if (synced < options.events) throw new Error(`only ${synced} of ${options.events} packets were synced`);
  void tell({ t: 'produced', perS, commits: null }).then(() => process.exit(0));
});

let accepted = 0;
client.once('connect', feed);

function feed(): void {
  while (accepted < options.events && accepted - meter.acknowledged < options.outstanding) {
    const n = accepted++;
    const stamp = {
      event_id: `01J${n}`,
      seq: n,
      store_epoch: 'e-1',
      device_id: 'da-bench',
      boot_id: 'b-bench',
      idempotency_key: `t-${n}:COMPLETED:1`,
    };
    const payload = JSON.stringify(sampleEvent(n, stamp));
    client.publish('deviceagent/da-bench/events/task', payload, { qos: 1 }, (error) => {
      if (error) throw error;
      meter.acknowledge();
      feed();
    });
  }
}
