/** A process that accepts and finishes work as fast as it can until somebody kills it. Prints what it promised. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { SystemClock } from '../../../config/contracts/clock.js';
import { Ids } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { Timers } from '../../../daemon/store/timers.js';
import { createTaskManager } from '../../../daemon/task-manager/manager.js';
import { defineMethod } from '../../../executors/method.js';

const file = process.argv[2] ?? '';
const clock = new SystemClock();
const ids = new Ids(
  () => clock.now(),
  () => randomInt(2 ** 47) / 2 ** 47,
);
const store = Store.open({ file, clock, ids, log: SILENT_LOG });
const outbox = new Outbox({ store, clock, ids, deviceId: 'da-test', bootId: ids.make('b') });
const timers = new Timers({ store, clock, log: SILENT_LOG });

function quick(name: string, idempotent: boolean) {
  return defineMethod<Record<string, unknown>>({
    name,
    executor: 'test',
    summary: name,
    params: z.record(z.string(), z.unknown()),
    output: z.object({ n: z.number() }),
    resources: name === 'move' ? [{ resource: 'motion', mode: 'exclusive' }] : [],
    completionTarget: `${name}.done`,
    preconditionText: '',
    cancel: null,
    compensation: null,
    timeoutMs: 60_000,
    stopGraceMs: 1_000,
    risk: 'low',
    idempotent,
    async run(context) {
      context.progress(`${name}.working`);
      for (let i = randomInt(4); i > 0; i--) await new Promise((resolve) => setImmediate(resolve));
      const evidence = { completion_target: `${name}.done`, observed_at_ms: clock.now() };
      return { evidence, output: { n: 1 }, stage: `${name}.done` };
    },
  });
}

const tasks = createTaskManager({
  store,
  outbox,
  timers,
  clock,
  ids,
  log: SILENT_LOG,
  methods: [quick('move', true), quick('say', false)],
  resolveCapability: (id) => {
    throw new Error(id);
  },
  context: () => ({}),
  emergencyCut() {},
});
tasks.recover();
timers.start();

let published = 0;
outbox.onAppended(() => {
  for (const row of outbox.peek(published, 100)) {
    published = row.id;
    if (randomInt(3) > 0) outbox.acknowledged(row.id);
  }
});

function work(): void {
  const accepted: string[] = [];
  for (let i = 0; i < 3; i++) {
    const method = randomInt(2) === 0 ? 'move' : 'say';
    const task = {
      method,
      params: {},
      task: {},
      source: 'CLOUD',
      legacy: false,
      correlationId: null,
    } as const;
    if (tasks.listTasks({ active: true }).length < 50) accepted.push(tasks.submit(task).taskId);
  }
  const workflow_id = ids.make('wf');
  const steps = [
    { step_id: 'a', method: 'move' },
    { step_id: 'b', method: 'say', depends_on: ['a'], after_step: { step_id: 'a', delay_ms: 1 } },
  ];
  if (tasks.listWorkflows({ active: true }).length < 5) {
    tasks.submitWorkflow({ workflow_id, steps }, { source: 'CLOUD', correlationId: null, traceId: null });
    accepted.push(workflow_id);
  }
  store.committed().then(
    () => {
      if (accepted.length > 0) process.stdout.write(`${accepted.join('\n')}\n`);
      setImmediate(work);
    },
    () => process.exit(3),
  );
}
work();
