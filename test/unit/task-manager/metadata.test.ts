/** Every field of a task's metadata has its effect: one row each, asked for as the cloud does. */
import { afterEach, describe, expect, it } from 'vitest';
import { isoWithOffset } from '../../../config/contracts/clock.js';
import {
  type CommandResponse,
  type TaskMetadata,
  taskMetadataSchema,
} from '../../../config/contracts/wire/command.js';
import { CommandTable } from '../../../daemon/intake/command-table.js';
import { createIntake } from '../../../daemon/intake/intake.js';
import { loadPolicy } from '../../../daemon/policy/load-policy.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { openTaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

function openCloudWorld() {
  const world = openTaskWorld();
  const intake = createIntake({
    deviceId: 'da-test',
    clock: world.clock,
    log: world.log,
    ids: world.ids,
    store: world.store,
    outbox: world.outbox,
    memory: new CommandTable(world.store),
    tasks: world.tasks,
    methods: world.methods,
    resolveCapability: () => {
      throw new Error('no cards here');
    },
    policy: loadPolicy(),
    windowMs: 120_000,
    clockTrusted: () => true,
    estop: async () => {},
    context: () => ({}) as never,
    capabilities: () => [],
    outboxStats: () => world.outbox.stats(),
    commandKey: null,
  });
  let n = 0;
  const send = (method: string, task: TaskMetadata, envelope: object = {}): CommandResponse =>
    intake.handle(
      {
        command_id: `c-${++n}`,
        issued_at: isoWithOffset(world.clock.wall()),
        kind: 'task',
        method,
        params: {},
        task,
        ...envelope,
      },
      { source: 'CLOUD', name: 'cloud' },
    );
  const accepted = (method: string, task: TaskMetadata = {}, envelope: object = {}): string => {
    const answer = send(method, task, envelope);
    if (answer.status !== 'accepted') throw new Error(`${answer.reason_code}: ${answer.message}`);
    return answer.task_id ?? '';
  };
  const state = (id: string) => world.tasks.getTask(id)?.state;
  const end = (id: string) =>
    world.events().find((e) => e.task_id === id && ['COMPLETED', 'FAILED', 'CANCELLED'].includes(e.event));
  return { ...world, send, accepted, state, end, world };
}
type CloudWorld = ReturnType<typeof openCloudWorld>;

/** Ends a run of `purify` so, and gives the methods that ran. */
async function afterFailing(w: CloudWorld, task: TaskMetadata): Promise<string[]> {
  w.accepted('purify', task);
  await w.quiet();
  w.world.run('purify').fail('OBSTRUCTED');
  await w.quiet();
  return w.runs.map((run) => run.method);
}

const FIELDS: Record<keyof TaskMetadata, [string, (w: CloudWorld) => Promise<void>][]> = {
  managed: [
    [
      'false takes the compatibility path, and says so',
      async (w) => {
        expect(w.send('note', { managed: false })).toMatchObject({ status: 'accepted', legacy: true });
        await w.quiet();
        expect(w.events()[0]).toMatchObject({ event: 'STARTED', legacy: true });
      },
    ],
  ],
  executionMode: [
    [
      'QUEUED waits its turn, IMMEDIATE is refused when it is not, PARALLEL waits for leases alone',
      async (w) => {
        w.accepted('note', { queueKey: 'x' });
        expect(w.state(w.accepted('note', { queueKey: 'x' }))).toBe('PENDING');
        expect(w.state(w.accepted('note', { queueKey: 'x', executionMode: 'PARALLEL' }))).toBe('STARTED');
        w.accepted('move');
        expect(w.send('rotate', { executionMode: 'IMMEDIATE' })).toMatchObject({
          reason_code: 'RESOURCE_BUSY',
        });
        expect(w.state(w.accepted('rotate', { executionMode: 'PARALLEL' }))).toBe('PENDING');
      },
    ],
  ],
  priority: [
    [
      'decides who is next, and is lowered to the cap of its source',
      async (w) => {
        w.accepted('move');
        const low = w.accepted('move', { priority: 10 });
        const answer = w.send('move', { priority: 100 });
        expect(answer.result).toMatchObject({
          clamped: [{ field: 'task.priority', requested: 100, applied: 80 }],
        });
        await w.quiet();
        w.world.run('move').complete();
        await w.quiet();
        expect([w.state(answer.task_id ?? ''), w.state(low)]).toEqual(['STARTED', 'PENDING']);
      },
    ],
  ],
  queueKey: [
    [
      'names the line it waits in',
      async (w) => {
        w.accepted('note', { queueKey: 'x' });
        expect(w.state(w.accepted('note', { queueKey: 'y' }))).toBe('STARTED');
        expect(w.state(w.accepted('note', { queueKey: 'x' }))).toBe('PENDING');
        expect(w.tasks.summary().queued).toEqual([{ queueKey: 'x', length: 1 }]);
      },
    ],
  ],
  completionTarget: [
    [
      "may repeat the method's own, and is never another",
      async (w) => {
        w.accepted('move', { completionTarget: 'move.done' });
        expect(w.send('move', { completionTarget: 'command.accepted' })).toMatchObject({
          reason_code: 'POLICY_DENIED',
          message: expect.stringContaining('task.completionTarget'),
        });
      },
    ],
  ],
  completionAreaId: [
    [
      'is where it has to be done',
      async (w) => {
        const task = w.accepted('move', { completionAreaId: '3' });
        await w.quiet();
        w.world.run('move').complete({}, { area_id: '2' });
        await w.quiet();
        expect(w.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      },
    ],
  ],
  preemptPolicy: [
    [
      'NONE waits for what runs, PREEMPT_LOWER takes its place, and the cloud may not ask for more',
      async (w) => {
        const first = w.accepted('move', { priority: 10 });
        await w.quiet();
        w.accepted('rotate', { priority: 80, preemptPolicy: 'NONE' });
        await w.quiet();
        expect(w.state(first)).toBe('STARTED');
        w.accepted('rotate', { priority: 80, preemptPolicy: 'PREEMPT_LOWER', executionMode: 'PARALLEL' });
        await w.quiet();
        expect(w.state(first)).toBe('CANCELLING');
        expect(w.send('rotate', { preemptPolicy: 'PREEMPT_SAME_QUEUE' })).toMatchObject({
          reason_code: 'POLICY_DENIED',
        });
      },
    ],
  ],
  failurePolicy: [
    [
      'ABORT, CONTINUE and REPLAN end a task on its own: nothing follows it, and the cloud hears why',
      async (w) => {
        for (const failurePolicy of ['ABORT', 'CONTINUE', 'REPLAN'] as const) {
          await afterFailing(w, { failurePolicy });
        }
        expect(w.runs.map((run) => run.method)).toEqual(['purify', 'purify', 'purify']);
        expect(w.story().filter((e) => e.startsWith('FAILED'))).toEqual(
          Array(3).fill('FAILED purify OBSTRUCTED'),
        );
      },
    ],
    [
      'RETRY tries once more as attempt 2, where that can help, and has one end',
      async (w) => {
        expect(await afterFailing(w, { failurePolicy: 'RETRY' })).toEqual(['purify', 'purify']);
        w.world.run('purify').fail('OBSTRUCTED');
        await w.quiet();
        expect(w.story()).toEqual(['STARTED purify', 'STARTED purify', 'FAILED purify OBSTRUCTED']);
        expect(w.events().map((e) => e.attempt)).toEqual([1, 2, 2]);
        w.accepted('purify', { failurePolicy: 'RETRY' });
        await w.quiet();
        w.world.run('purify').fail('EMERGENCY_STOP');
        await w.quiet();
        expect(w.runs.length).toBe(3);
      },
    ],
    [
      'COMPENSATE takes back what failed, and what was cancelled after it had begun',
      async (w) => {
        expect(await afterFailing(w, { failurePolicy: 'COMPENSATE' })).toEqual(['purify', 'stop purify']);
        w.world.run('stop purify').complete();
        const cancelled = w.accepted('purify', { failurePolicy: 'COMPENSATE' });
        await w.quiet();
        const never = w.accepted('purify', { failurePolicy: 'COMPENSATE' });
        w.tasks.cancelTask(never, 'CLOUD');
        w.tasks.cancelTask(cancelled, 'CLOUD');
        await w.quiet();
        expect(w.runs.length).toBe(3);
        w.world.run('purify').proveStop();
        await w.quiet();
        expect(w.runs.map((run) => run.method).slice(3)).toEqual(['stop purify']);
      },
    ],
  ],
  cancelMethod: [
    [
      "may repeat the method's own, and is never another",
      async (w) => {
        w.accepted('move', { cancelMethod: 'stop move' });
        expect(w.send('move', { cancelMethod: 'note' })).toMatchObject({ reason_code: 'POLICY_DENIED' });
      },
    ],
  ],
  compensationMethod: [
    [
      "may repeat the method's own, which then runs under COMPENSATE, and is never another",
      async (w) => {
        const own = { compensationMethod: 'stop purify' };
        expect(await afterFailing(w, own)).toEqual(['purify']);
        expect(await afterFailing(w, { ...own, failurePolicy: 'COMPENSATE' })).toEqual([
          'purify',
          'purify',
          'stop purify',
        ]);
        expect(w.send('purify', { compensationMethod: 'note' })).toMatchObject({
          reason_code: 'POLICY_DENIED',
        });
      },
    ],
  ],
  timeoutMs: [
    [
      'is the time from STARTED, after which it is stopped',
      async (w) => {
        const task = w.accepted('move', { timeoutMs: 5_000 });
        await w.quiet();
        await w.clock.advanceAsync(5_001);
        w.world.run('move').proveStop();
        await w.quiet();
        expect(w.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'TIMEOUT' });
      },
    ],
  ],
  cancellable: [
    [
      'false is for the robot itself: such a task is neither cancelled nor preempted',
      async (w) => {
        expect(w.send('move', { cancellable: false })).toMatchObject({ reason_code: 'POLICY_DENIED' });
        const own = w.submit('move', { cancellable: false }, { source: 'SUPERVISOR' }).taskId;
        await w.quiet();
        expect(() => w.tasks.cancelTask(own, 'USER')).toThrow(/not cancellable/);
        w.accepted('rotate', { priority: 80, preemptPolicy: 'PREEMPT_LOWER', executionMode: 'PARALLEL' });
        await w.quiet();
        expect(w.state(own)).toBe('STARTED');
      },
    ],
  ],
  stateAware: [
    [
      'is always true: the device looks at its state before each start',
      async (w) => {
        expect(w.send('move', { stateAware: false })).toMatchObject({ reason_code: 'POLICY_DENIED' });
        w.blocked.add('move');
        const task = w.accepted('move', { stateAware: true });
        await w.quiet();
        expect(w.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
        expect(w.runs).toEqual([]);
      },
    ],
  ],
  dryRun: [
    [
      'judges and runs nothing',
      async (w) => {
        const task = w.accepted('move', { dryRun: true });
        await w.quiet();
        expect(w.end(task)).toMatchObject({ event: 'COMPLETED', evidence: { dry_run: true } });
        expect(w.runs).toEqual([]);
      },
    ],
  ],
  cloud_workflow_id: [label('cloud_workflow_id', 'workflow_id')],
  cloud_step_id: [label('cloud_step_id', 'step_id')],
  cloud_plan_id: [label('cloud_plan_id', 'plan_id')],
  cloud_output_key: [label('cloud_output_key', 'cloud_output_key')],
  wait_policy: [
    [
      'says what the next step waits for: a task on its own ends as it would',
      async (w) => {
        for (const wait_policy of ['COMPLETION', 'ACCEPTED', 'NONE'] as const) {
          const task = w.accepted('note', { wait_policy, executionMode: 'PARALLEL' });
          await w.quiet();
          expect(w.state(task)).toBe('STARTED');
          w.world.run('note').complete();
          await w.quiet();
          expect(w.state(task)).toBe('COMPLETED');
        }
      },
    ],
  ],
  traceId: [label('traceId', 'trace_id')],
  correlationId: [
    [
      "stands in every event, and is the envelope's",
      async (w) => {
        w.accepted('note', { correlationId: 'co-1' }, { correlation_id: 'co-1' });
        await w.quiet();
        expect(w.events()[0]).toMatchObject({ correlation_id: 'co-1' });
        expect(w.send('note', { correlationId: 'co-2' }, { correlation_id: 'co-1' })).toMatchObject({
          reason_code: 'INVALID_PARAMS',
          message: expect.stringContaining('correlationId'),
        });
      },
    ],
  ],
  replyTo: [
    [
      "is the envelope's",
      async (w) => {
        const reply_to = 'deviceagent/da-test/command/response/mine';
        w.accepted('note', { replyTo: reply_to }, { reply_to });
        expect(w.send('note', { replyTo: reply_to })).toMatchObject({
          reason_code: 'INVALID_PARAMS',
          message: expect.stringContaining('replyTo'),
        });
      },
    ],
  ],
};

function label(
  field: 'cloud_workflow_id' | 'cloud_step_id' | 'cloud_plan_id' | 'cloud_output_key' | 'traceId',
  inEvents: 'workflow_id' | 'step_id' | 'plan_id' | 'cloud_output_key' | 'trace_id',
): [string, (w: CloudWorld) => Promise<void>] {
  return [
    `stands in every event as ${inEvents}`,
    async (w) => {
      w.accepted('note', { [field]: 'its-own' });
      await w.quiet();
      w.world.run('note').complete();
      await w.quiet();
      expect(w.events().map((e) => e[inEvents])).toEqual(['its-own', 'its-own']);
    },
  ];
}

describe.each(Object.entries(FIELDS))('%s', (_, effects) => {
  it.each(effects)('%s', async (_what, prove) => {
    await prove(openCloudWorld());
  });
});

it('no field of the wire contract is left out', () => {
  expect(Object.keys(FIELDS).sort()).toEqual(Object.keys(taskMetadataSchema.shape).sort());
});
