/** The real TaskManager on a real database, with methods that do nothing. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { SystemClock } from '../../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { Outbox } from '../../../daemon/store/outbox.js';
import { Store } from '../../../daemon/store/store.js';
import { Timers } from '../../../daemon/store/timers.js';
import { createTaskManager } from '../../../daemon/task-manager/manager.js';
import type { SubmitTask } from '../../../daemon/task-manager/types.js';
import { type Completion, defineMethod } from '../../../executors/method.js';

export const NO_OP = 'noOp';
/** Runs until the process ends. */
export const HOLD = 'hold';

export function openManager(dir: string) {
  const clock = new SystemClock();
  const ids = new Ids(() => clock.now(), seededRandom(randomInt(2 ** 31)));
  const log = SILENT_LOG;
  const store = Store.open({ file: join(dir, 'tasks.db'), clock, ids, log });
  const outbox = new Outbox({ store, clock, ids, deviceId: 'da-bench', bootId: 'b-bench' });
  const timers = new Timers({ store, clock, log });
  const method = (name: string, run: () => Promise<Completion>) =>
    defineMethod<Record<string, unknown>>({
      name,
      executor: 'bench',
      summary: name,
      params: z.strictObject({}),
      output: z.null(),
      resources: [],
      completionTarget: `${name}.done`,
      preconditionText: '',
      cancel: null,
      compensation: null,
      timeoutMs: 600_000,
      stopGraceMs: 1_000,
      risk: 'low',
      idempotent: true,
      run,
    });
  const done = (): Completion => ({
    evidence: { completion_target: `${NO_OP}.done`, observed_at_ms: clock.now() },
    output: null,
    stage: `${NO_OP}.done`,
  });
  const tasks = createTaskManager({
    store,
    outbox,
    timers,
    clock,
    ids,
    log,
    methods: [method(NO_OP, async () => done()), method(HOLD, () => new Promise(() => undefined))],
    resolveCapability: (id) => {
      throw new Error(id);
    },
    context: () => ({}),
    emergencyCut() {},
  });
  tasks.recover();
  timers.start();
  return { store, outbox, tasks };
}

export function request(method: string, queueKey: string): SubmitTask {
  return { method, params: {}, task: { queueKey }, source: 'CLOUD', legacy: false, correlationId: null };
}
