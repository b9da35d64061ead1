import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

type Action =
  | { do: 'submit'; method: 'move' | 'purify' | 'set' | 'patrol clean'; priority: number; preempt: boolean }
  | { do: 'complete' | 'fail' | 'prove' | 'throwReason' | 'defect'; pick: number }
  | { do: 'cancel'; pick: number }
  | { do: 'estop' }
  | { do: 'wait'; ms: number }
  | { do: 'settle' }
  | { do: 'diskFails'; fails: boolean };

const pick = fc.nat(30);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      method: fc.constantFrom('move' as const, 'purify' as const, 'set' as const, 'patrol clean' as const),
      priority: fc.integer({ min: 0, max: 100 }),
      preempt: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'complete' as const,
        'fail' as const,
        'prove' as const,
        'throwReason' as const,
        'defect' as const,
      ),
      pick,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  { weight: 1, arbitrary: fc.constant({ do: 'estop' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 500, 2_000, 10_000) }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('diskFails' as const), fails: fc.boolean() }) },
);

/** Task ids whose run has thrown the proof of its stop. */
type Proofs = Set<string>;

function perform(world: TaskWorld, a: Action, proofs: Proofs): void {
  if (a.do === 'submit') {
    world.submit(a.method, {
      priority: a.priority,
      timeoutMs: 8_000,
      ...(a.preempt ? { preemptPolicy: 'PREEMPT_LOWER' } : {}),
    });
  } else if (a.do === 'cancel') {
    const live = world.tasks.listTasks({ active: true });
    const task = live[a.pick % Math.max(1, live.length)];
    if (task !== undefined) world.tasks.cancelTask(task.taskId, 'CLOUD');
  } else if (a.do === 'estop') world.tasks.emergencyStop('pressed', world.clock.now());
  else if (a.do === 'diskFails') world.store.faults.commitError = a.fails ? new Error('disk') : null;
  else if ('pick' in a) endARun(world, a, proofs);
}

function endARun(world: TaskWorld, a: { do: string; pick: number }, proofs: Proofs): void {
  const open = world.runs.filter((run) => !run.over);
  const run = open[a.pick % Math.max(1, open.length)];
  if (run === undefined) return;
  if (a.do === 'complete') run.complete();
  else if (a.do === 'fail') run.fail('OBSTRUCTED');
  else if (a.do === 'defect') run.throw(new TypeError('a defect'));
  else if (a.do === 'prove') {
    proofs.add(run.taskId);
    run.proveStop();
  } else run.throw(run.context.signal.reason ?? new Error('none'));
}

describe('whatever races', () => {
  it('each task ends once, and CANCELLED only after a proof or without having moved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 50 }), async (actions) => {
        const world = openTaskWorld();
        const proofs: Proofs = new Set();
        const accepted = new Set<string>();
        world.tasks.onEvent((e) => accepted.add(e.task_id ?? ''));
        for (const a of actions) {
          if (a.do === 'wait') await world.clock.advanceAsync(a.ms);
          else if (a.do === 'settle') await world.quiet();
          else perform(world, a, proofs);
          expect(runningPerResource(world)).toBeLessThanOrEqual(1);
        }
        world.store.faults.commitError = null;
        // Everything left is cancelled, and nobody proves anything any more: grace and time-outs end it.
        await world.clock.advanceAsync(3_000);
        for (const task of world.tasks.listTasks({ active: true }))
          world.tasks.cancelTask(task.taskId, 'SYSTEM');
        await world.clock.advanceAsync(60_000);
        await world.quiet();

        const events = world.events();
        const terminal = events.filter(isTerminal);
        const ended = terminal.map((e) => e.task_id);
        expect(new Set(ended).size).toBe(ended.length);
        for (const task of world.tasks.listTasks({ limit: 1_000 })) {
          expect(ended).toContain(task.taskId);
          expect(['COMPLETED', 'FAILED', 'CANCELLED']).toContain(task.state);
        }
        for (const id of accepted) expect(ended).toContain(id);
        for (const e of terminal) {
          if (e.event !== 'CANCELLED') continue;
          const nothingToStop = e.method === 'set';
          const neverMoved = e.evidence?.never_started === true;
          expect(e.evidence?.stopped).toBe(true);
          expect(neverMoved || nothingToStop || proofs.has(e.task_id ?? '')).toBe(true);
          if (neverMoved) expect(world.runs.some((run) => run.taskId === e.task_id)).toBe(false);
        }
        expect(events.map((e) => e.seq)).toEqual(events.map((_e, i) => i + 1));
        const keys = events.map((e) => e.idempotency_key);
        expect(new Set(keys).size).toBe(keys.length);
        expect(world.tasks.leases().filter((lease) => lease.owner !== null)).toEqual([]);
        expect(world.tasks.summary()).toMatchObject({ busy: false, queued: [] });
        world.store.close();
      }),
      { numRuns: 80 },
    );
  });
});

/** The most open runs that any exclusive resource has at once. */
function runningPerResource(world: TaskWorld): number {
  const live = new Set(
    world.tasks
      .listTasks({ active: true })
      .filter((t) => t.state !== 'PENDING')
      .map((t) => t.taskId),
  );
  const open = world.runs.filter((run) => !run.over && live.has(run.taskId));
  const count = (...methods: string[]) => open.filter((run) => methods.includes(run.method)).length;
  return Math.max(count('move', 'patrol clean'), count('purify', 'patrol clean'));
}
