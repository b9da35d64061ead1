/** How soon a task starts on an idle line while thousands wait in others. */
import { childOptions, endWithParent, tell } from '../support/children.js';
import { wait } from '../support/stats.js';
import { HOLD, NO_OP, openManager, request } from './manager.js';
import { startsOptions } from './messages.js';

const LINES = 100;
/** Between two trials; the first are not counted. */
const PAUSE_MS = 3;
const WARM_UP = 100;

endWithParent();
const options = childOptions(startsOptions);
const { tasks, store } = openManager(options.dir);
// One runs in each line, the others wait behind it.
for (let n = 0; n < options.waiting + LINES; n++) {
  tasks.submit(request(HOLD, `busy-${n % LINES}`));
  if (n % 200 === 0) await store.committed();
}
await store.committed();
const waiting = tasks.summary().queued.reduce((sum, line) => sum + line.length, 0);

let startedAt = 0;
let wanted: string | null = null;
tasks.onEvent((event) => {
  if (event.task_id === wanted && event.event === 'STARTED') startedAt = performance.now();
});

const ms: number[] = [];
for (let trial = 0; trial < WARM_UP + options.trials; trial++) {
  await wait(PAUSE_MS);
  const began = performance.now();
  wanted = tasks.submit(request(NO_OP, `idle-${trial}`)).taskId;
  await store.committed();
  if (startedAt < began) throw new Error('the task was committed and has not started');
  if (trial >= WARM_UP) ms.push(startedAt - began);
}
await tell({ t: 'starts', waiting, ms });
process.exit(0);
