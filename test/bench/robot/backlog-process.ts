/** Fills a robot's database with events that nobody has taken, and dies without closing it. */
import { statSync } from 'node:fs';
import { SystemClock } from '../../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { sampleEvent } from '../outbox/messages.js';
import { childOptions, tell } from '../support/children.js';
import { backlogOptions } from './messages.js';

const PER_COMMIT = 1000;

const { file, rows } = childOptions(backlogOptions);
const clock = new SystemClock();
const ids = new Ids(() => clock.now(), seededRandom(1));
const store = Store.open({ file, clock, ids, log: SILENT_LOG });
const outbox = new Outbox({ store, clock, ids, deviceId: 'da-sim', bootId: 'b-before' });
for (let n = 0; n < rows; n++) {
  outbox.appendOrdered('events/task', `t-${n}:COMPLETED:1`, (stamp) => sampleEvent(n, stamp));
  if (n % PER_COMMIT === PER_COMMIT - 1) await store.committed();
}
await store.committed();
await tell({ t: 'backlog', rows: outbox.stats().depth, bytes: statSync(file).size });
process.kill(process.pid, 'SIGKILL');
