/** The real store, outbox, publisher and session, fed as fast as they take it. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { SystemClock } from '../../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { loadConfig } from '../../../config/load.js';
import { profilePath } from '../../../config/profiles.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import { cloudOptionsOf } from '../../../daemon/compose/cloud-options.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { Meter, producerOptions, sampleEvent } from './messages.js';

/** Events accepted in one turn of the event loop at most: what the robot's parts do in one turn. */
const PER_TURN = 100;

endWithParent();
const options = childOptions(producerOptions);
const clock = new SystemClock();
const ids = new Ids(() => clock.now(), seededRandom(randomInt(2 ** 31)));
const store = Store.open({ file: join(options.dir, 'ours.db'), clock, ids, log: SILENT_LOG });
const outbox = new Outbox({ store, clock, ids, deviceId: 'da-sim', bootId: 'b-bench' });
const cloud = createCloud({
  clock,
  networkClock: clock,
  random: Math.random,
  options: cloudOptionsOf(loadConfig(profilePath('sim'), {}, options.dir), options.url),
  bootId: 'b-bench',
  version: '0',
  outbox,
  onCommand: async () => {},
  log: SILENT_LOG,
});

let accepted = 0;
let commitsBefore = 0;
const meter = new Meter(options, (perS) => {
  const commits = (store.counters().commits ?? 0) - commitsBefore;
  void finish(perS, commits);
});
cloud.onAcknowledged(() => {
  if (!meter.measuring) commitsBefore = store.counters().commits ?? 0;
  meter.acknowledge();
});
cloud.start();
feed();

/** One turn: accepts what may be under way, in one transaction as all writes of a turn are. */
function feed(): void {
  const room = Math.min(
    PER_TURN,
    options.outstanding - (accepted - meter.acknowledged),
    options.events - accepted,
  );
  for (let i = 0; i < room; i++) {
    const n = accepted++;
    outbox.appendOrdered('events/task', `t-${n}:COMPLETED:1`, (stamp) => sampleEvent(n, stamp));
  }
  if (accepted < options.events) setImmediate(feed);
}

async function finish(perS: number, commits: number): Promise<void> {
  await cloud.stop();
  store.close();
  await tell({ t: 'produced', perS, commits });
  process.exit(0);
}
