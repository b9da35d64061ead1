/** An MQTT broker (aedes) in a process of its own; says where, and on request how many publishes it has taken. */
import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import { endWithParent, tell } from '../support/children.js';

endWithParent();
const aedes = await Aedes.createBroker({ drainTimeout: 0 });
let publishes = 0;
aedes.on('publish', (packet) => {
  if (packet.topic.includes('/events/')) publishes += 1;
});
const server = createServer({ noDelay: true }, aedes.handle);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
process.on('message', () => void tell({ t: 'count', publishes }));
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('the broker has no port');
await tell({ t: 'broker', url: `mqtt://127.0.0.1:${address.port}` });
