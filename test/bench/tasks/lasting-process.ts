/** Very many tasks, one after the other, with their events read and acknowledged: what memory and file do meanwhile. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { memoryOf } from '../support/proc.js';
import { NO_OP, openManager, request } from './manager.js';
import { lastingOptions } from './messages.js';

const LINES = 64;
const OUTSTANDING = 512;
const PER_TURN = 64;
/** Rows read from the outbox at once, as a session with a wide window does. */
const BATCH = 512;
/** Samples of a window; its lowest counts, because what the collector has not taken yet is no leak. */
const SAMPLES = 10;

endWithParent();
const options = childOptions(lastingOptions);
const { tasks, store, outbox } = openManager(options.dir);
acknowledgeAll();
const rssMb: number[] = [];
for (let window = 0; window < options.windows; window++) {
  const samples: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    await work(options.tasks / options.windows / SAMPLES);
    samples.push(memoryOf(process.pid).rssMb);
  }
  rssMb.push(Math.min(...samples));
}
const fileMb = ['tasks.db', 'tasks.db-wal']
  .map((name) => statSync(join(options.dir, name)).size / 2 ** 20)
  .reduce((sum, size) => sum + size, 0);
await tasks.stop();
store.close();
await tell({ t: 'lasting', rssMb, fileMb });
process.exit(0);

/** Stands for the broker: whatever is committed is taken and acknowledged. */
function acknowledgeAll(): void {
  let last = 0;
  outbox.onAppended(() => {
    for (;;) {
      const rows = outbox.peek(last, BATCH);
      for (const row of rows) {
        outbox.acknowledged(row.id);
        last = row.id;
      }
      if (rows.length < BATCH) return;
    }
  });
}

function work(count: number): Promise<void> {
  return new Promise((resolve) => {
    let submitted = 0;
    let ended = 0;
    const stop = tasks.onEvent((event) => {
      if (event.event !== 'COMPLETED') return;
      ended += 1;
      if (ended < count) return;
      stop();
      resolve();
    });
    const turn = () => {
      const room = Math.min(PER_TURN, OUTSTANDING - (submitted - ended), count - submitted);
      for (let i = 0; i < room; i++) tasks.submit(request(NO_OP, `line-${submitted++ % LINES}`));
      if (submitted < count) setImmediate(turn);
    };
    turn();
  });
}
