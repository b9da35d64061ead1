/**
 * `plainjob` (a queue on SQLite) with the same journal and sync settings as the store. Jobs go in with its own batch
 * call, as many at once as the TaskManager is given; one worker runs them, as all is one thread.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { better, defineQueue, defineWorker, JobStatus } from 'plainjob';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { tasksOptions } from './messages.js';

const BATCH = 64;
const TYPE = 'no-op';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

endWithParent();
const options = childOptions(tasksOptions);
const db = new Database(join(options.dir, 'peer.db'));
const queue = defineQueue({ connection: better(db), logger: quiet });
// After `defineQueue`, which sets a weaker one.
db.pragma('synchronous = FULL');
db.pragma('locking_mode = EXCLUSIVE');

await run(options.warmUp);
const began = performance.now();
await run(options.tasks);
const perS = options.tasks / ((performance.now() - began) / 1000);
queue.close();
await tell({ t: 'tasks', perS, oneLinePerS: null });
process.exit(0);

/** Submits so many and works them off. */
async function run(count: number): Promise<void> {
  let done = 0;
  for (let at = 0; at < count; at += BATCH) {
    queue.addMany(TYPE, new Array<object>(Math.min(BATCH, count - at)).fill({}));
  }
  const worker = defineWorker(TYPE, () => {}, {
    queue,
    logger: quiet,
    pollIntervall: 1,
    onCompleted: () => {
      done += 1;
      if (done === count) void worker.stop();
    },
  });
  await worker.start();
  if (queue.countJobs({ type: TYPE, status: JobStatus.Pending }) > 0) throw new Error('jobs are left');
}
