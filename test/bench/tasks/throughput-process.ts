/** Tasks as fast as the TaskManager takes them: in many lines at once, and in a single one. */
import { childOptions, endWithParent, tell } from '../support/children.js';
import { NO_OP, openManager, request } from './manager.js';
import { tasksOptions } from './messages.js';

/** Lines, and tasks accepted and not ended at most, and submitted in one turn at most. */
const LINES = 64;
const OUTSTANDING = 512;
const PER_TURN = 64;

endWithParent();
const options = childOptions(tasksOptions);
const { tasks, store, outbox } = openManager(options.dir);
const perS = await submitAll(options.tasks, options.warmUp, LINES);
const oneLinePerS = await submitAll(options.tasks / 10, options.warmUp / 10, 1);
// Nothing publishes here; both events of every task must wait in the outbox.
const events = outbox.stats().depth;
if (events < 2 * options.tasks) throw new Error(`${events} events for ${options.tasks} tasks`);
await tasks.stop();
store.close();
await tell({ t: 'tasks', perS, oneLinePerS });
process.exit(0);

/** Tasks a second from the end of the warm-up to the last durable terminal event. */
function submitAll(count: number, warmUp: number, lines: number): Promise<number> {
  return new Promise((resolve) => {
    let submitted = 0;
    let ended = 0;
    let began = 0;
    const stop = tasks.onEvent((event) => {
      if (event.event !== 'COMPLETED') return;
      ended += 1;
      if (ended === warmUp) began = performance.now();
      if (ended < count) return;
      stop();
      resolve((count - warmUp) / ((performance.now() - began) / 1000));
    });
    const turn = () => {
      const room = Math.min(PER_TURN, OUTSTANDING - (submitted - ended), count - submitted);
      for (let i = 0; i < room; i++) tasks.submit(request(NO_OP, `line-${submitted++ % lines}`));
      if (submitted < count) setImmediate(turn);
    };
    turn();
  });
}
