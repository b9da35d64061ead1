import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../../config/contracts/wire/events.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const WORKFLOWS = [
  [
    { step_id: 'a', method: 'move' },
    { step_id: 'b', method: 'purify', depends_on: ['a'] },
    { step_id: 'c', method: 'say', depends_on: ['b'], failure_policy: 'CONTINUE' as const },
  ],
  [
    { step_id: 'a', method: 'set', compensation: { method: 'note' } },
    { step_id: 'b', method: 'rotate', depends_on: ['a'], retry: { max: 1, backoff_ms: 1_000 } },
    { step_id: 'c', method: 'note', after_step: { step_id: 'a', delay_ms: 3_000 } },
  ],
];

type Action =
  | { do: 'task'; method: string }
  | { do: 'workflow'; which: number }
  | { do: 'complete' | 'fail' | 'prove'; pick: number }
  | { do: 'cancelTask' | 'cancelWorkflow'; pick: number }
  | { do: 'wait'; ms: number }
  | { do: 'settle' }
  | { do: 'powerCut'; goalsReached: boolean };

const pick = fc.nat(20);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('task' as const),
      method: fc.constantFrom('move', 'rotate', 'purify', 'note'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('workflow' as const), which: fc.nat(WORKFLOWS.length - 1) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('complete' as const, 'complete' as const, 'fail' as const, 'prove' as const),
      pick,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('cancelTask' as const, 'cancelWorkflow' as const), pick }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 1_000, 5_000) }),
  },
  { weight: 5, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('powerCut' as const), goalsReached: fc.boolean() }) },
);

/** Ids whose acceptance was durable: the caller was told. */
type Promised = { tasks: Set<string>; workflows: Set<string>; boot: number };

function submit(world: TaskWorld, a: Action, n: number, promised: Promised): void {
  const { boot } = promised;
  const remember = (set: Set<string>, id: string) =>
    world.store.committed().then(
      // A commit of the abandoned instance reaches no file that anybody reads.
      () => (promised.boot === boot ? set.add(id) : undefined),
      () => undefined,
    );
  if (a.do === 'task') remember(promised.tasks, world.submit(a.method).taskId);
  if (a.do !== 'workflow') return;
  const { workflowId } = world.submitWorkflow(WORKFLOWS[a.which] ?? [], { workflow_id: `wf-${n}` });
  remember(promised.workflows, workflowId);
}

function act(world: TaskWorld, a: Action): void {
  if (a.do === 'complete' || a.do === 'fail' || a.do === 'prove') {
    const open = world.runs.filter((run) => !run.over);
    const run = open[a.pick % Math.max(1, open.length)];
    if (a.do === 'complete') run?.complete({ area_id: '2', summary: 's' });
    else if (a.do === 'fail') run?.fail('OBSTRUCTED');
    else run?.proveStop();
  } else if (a.do === 'cancelTask') {
    const live = world.tasks.listTasks({ active: true });
    const task = live[a.pick % Math.max(1, live.length)];
    if (task !== undefined) world.tasks.cancelTask(task.taskId, 'USER');
  } else if (a.do === 'cancelWorkflow') {
    const live = world.tasks.listWorkflows({ active: true }).filter((w) => w.state === 'RUNNING');
    const workflow = live[a.pick % Math.max(1, live.length)];
    if (workflow !== undefined) world.tasks.cancelWorkflow(workflow.workflowId, 'USER');
  }
}

async function finishEverything(world: TaskWorld): Promise<void> {
  for (let round = 0; round < 200; round++) {
    await world.quiet();
    for (const run of world.runs) if (!run.over) run.complete({ area_id: '2', summary: 's' });
    await world.clock.advanceAsync(1_000);
    const busy =
      world.tasks.listTasks({ active: true }).length + world.tasks.listWorkflows({ active: true }).length;
    if (busy === 0) return;
  }
}

function endsOf(events: TaskEvent[], who: (e: TaskEvent) => string | null): Map<string, number> {
  const counts = new Map<string, number>();
  for (const e of events.filter(isTerminal)) {
    const id = who(e);
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

describe('power cuts at random moments', () => {
  it('lose nothing that was accepted, repeat no event under another key, and end everything once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 60 }), async (actions) => {
        let world = openTaskWorld();
        const promised: Promised = { tasks: new Set(), workflows: new Set(), boot: 1 };
        for (const [n, a] of actions.entries()) {
          submit(world, a, n, promised);
          act(world, a);
          if (a.do === 'wait') await world.clock.advanceAsync(a.ms);
          else if (a.do === 'settle') await world.quiet();
          else if (a.do === 'powerCut') {
            const before = world;
            promised.boot++;
            const { goalsReached } = a;
            world = await before.powerCut({
              seed: n + 10,
              done: { move: goalsReached, rotate: goalsReached },
            });
            // What the old instance still does happens to nobody: its files were copied.
            before.timers.stop();
          }
        }
        await finishEverything(world);
        const events = world.events();
        expect(events.map((e) => e.seq)).toEqual(events.map((_e, i) => i + 1));
        const keys = events.map((e) => e.idempotency_key);
        expect(new Set(keys).size).toBe(keys.length);
        const tasks = endsOf(events, (e) => e.task_id);
        const workflows = endsOf(events, (e) =>
          e.task_id === null && e.step_id === null ? e.workflow_id : null,
        );
        for (const id of promised.tasks) expect([id, tasks.get(id)]).toEqual([id, 1]);
        for (const id of promised.workflows) expect([id, workflows.get(id)]).toEqual([id, 1]);
        for (const count of [...tasks.values(), ...workflows.values()]) expect(count).toBe(1);
        expect(world.tasks.leases().filter((l) => l.owner !== null)).toEqual([]);
        expect(world.timers.list('workflow')).toEqual([]);
        world.store.close();
        removeTemporaryDirectories();
      }),
      { numRuns: 40 },
    );
  });
});
