/** The same tasks in turn, one after the other: as the steps of a workflow, and each submitted alone. */
import { childOptions, endWithParent, tell } from '../support/children.js';
import { NO_OP, openManager, request } from './manager.js';
import { workflowOptions } from './messages.js';

/** Trials that are not counted. */
const WARM_UP = 5;

endWithParent();
const options = childOptions(workflowOptions);
const { tasks, store } = openManager(options.dir);
const asStepsMs: number[] = [];
const aloneMs: number[] = [];
for (let trial = 0; trial < WARM_UP + options.trials; trial++) {
  const alone = await timed(() => inTurn(options.steps));
  const asSteps = await timed(() => workflow(`wf-${trial}`, options.steps));
  if (trial < WARM_UP) continue;
  aloneMs.push(alone);
  asStepsMs.push(asSteps);
}
await tasks.stop();
store.close();
await tell({ t: 'workflow', asStepsMs, aloneMs });
process.exit(0);

async function timed(work: () => Promise<void>): Promise<number> {
  await store.committed();
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Each is submitted when the one before it is durably over. */
async function inTurn(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    let taskId: string | null = null;
    const ended = completed((event) => event.task_id === taskId);
    taskId = tasks.submit(request(NO_OP, NO_OP)).taskId;
    await ended;
  }
}

/** Up to the durable end of the workflow. */
async function workflow(id: string, count: number): Promise<void> {
  const steps = Array.from({ length: count }, (_, n) => ({
    step_id: `s${n}`,
    method: NO_OP,
    depends_on: n === 0 ? [] : [`s${n - 1}`],
  }));
  const ended = completed((event) => event.workflow_id === id && event.step_id === null);
  tasks.submitWorkflow({ workflow_id: id, steps }, { source: 'CLOUD', correlationId: null, traceId: null });
  await ended;
}

type TaskEvent = Parameters<Parameters<typeof tasks.onEvent>[0]>[0];

function completed(isIt: (event: TaskEvent) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = tasks.onEvent((event) => {
      if (event.event !== 'COMPLETED' || !isIt(event)) return;
      stop();
      resolve();
    });
  });
}
