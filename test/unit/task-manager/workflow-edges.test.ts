/** The largest workflows, and the awkward moments: each ends, once. */
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, isTerminal, openTaskWorld, step, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

type Steps = Partial<WorkflowStep>[];

const ends = (world: TaskWorld, id = 'wf-1') =>
  world
    .events()
    .filter((e) => isTerminal(e) && e.task_id === null && e.step_id === null && e.workflow_id === id)
    .map((e) => e.event);

/** Completes whatever runs until nothing does. */
async function runAll(world: TaskWorld): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    await world.quiet();
    const open = world.runs.filter((r) => !r.over);
    if (open.length === 0) return;
    for (const run of open) run.complete();
  }
  throw new Error('it never ends');
}

const id = (n: number) => `s${n}`;
const wide: Steps = Array.from({ length: 64 }, (_, n) => ({ step_id: id(n), method: 'set' }));
const deep: Steps = wide.map((one, n) => ({ ...one, depends_on: n === 0 ? [] : [id(n - 1)] }));
const diamond: Steps = wide.map((one, n) => ({
  ...one,
  depends_on: n === 0 ? [] : n < 63 ? [id(0)] : Array.from({ length: 62 }, (_, i) => id(i + 1)),
}));

describe.each([
  ['side by side', wide],
  ['one after the other', deep],
  ['in a diamond', diamond],
])('64 steps %s', (_, steps) => {
  it('all complete, and the workflow ends once', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(steps);
    await runAll(world);
    expect(ends(world)).toEqual(['COMPLETED']);
    expect(world.events().filter((e) => e.event === 'WORKFLOW_STEP_COMPLETED')).toHaveLength(64);
  });

  it('are all taken back in reverse when the last one fails', async () => {
    const world = openTaskWorld();
    const last = steps.length - 1;
    const undoable = steps.map((one, n) => ({
      ...one,
      method: n === last ? 'move' : 'set',
      depends_on: n === last ? steps.slice(0, last).flatMap((s) => s.step_id ?? []) : (one.depends_on ?? []),
      compensation: { method: 'note' },
    }));
    world.submitWorkflow(undoable);
    for (let i = 0; i < last; i++) await complete(world, 'set');
    world.run('move').fail('OBSTRUCTED');
    await runAll(world);
    const events = world.events();
    const done = events.filter((e) => e.event === 'COMPLETED' && e.method === 'set').map((e) => e.step_id);
    const undone = events.filter((e) => e.event === 'COMPLETED' && e.method === 'note').map((e) => e.step_id);
    expect(undone).toEqual(done.reverse());
    expect(ends(world)).toEqual(['FAILED']);
  });

  it('end once when they are cancelled in the middle, over a restart', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(steps);
    for (let i = 0; i < 10; i++) await complete(world, 'set');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.store.committed();
    const after = await world.powerCut();
    await runAll(after);
    expect(ends(after)).toHaveLength(1);
    expect(after.events().filter((e) => e.event === 'WORKFLOW_STEP_COMPLETED').length).toBeLessThan(64);
  });
});

describe('while compensations run', () => {
  const undoable: Steps = [
    { step_id: 'a', method: 'set', compensation: { method: 'note' } },
    { step_id: 'b', method: 'set', depends_on: ['a'], compensation: { method: 'say' } },
    { step_id: 'c', method: 'move', depends_on: ['b'] },
  ];

  async function undoing(): Promise<TaskWorld> {
    const world = openTaskWorld();
    world.submitWorkflow(undoable);
    await complete(world, 'set');
    await complete(world, 'set');
    world.run('move').fail('OBSTRUCTED', 'a chair');
    await world.quiet();
    return world;
  }

  it('a cancellation is refused: it is ending already, and ends once', async () => {
    const world = await undoing();
    expect(() => world.tasks.cancelWorkflow('wf-1', 'USER')).toThrow(/is ending already \(FAILED\)/);
    await runAll(world);
    expect(ends(world)).toEqual(['FAILED']);
  });

  it('one that fails, or is cancelled by itself, is named, and the others still run', async () => {
    const world = await undoing();
    world.tasks.cancelTask(world.run('say').taskId, 'USER');
    world.run('say').proveStop();
    await runAll(world);
    expect(world.run('note').over).toBe(true);
    expect(ends(world)).toEqual(['FAILED']);
    expect(world.events().at(-1)?.message).toBe('step c: a chair; not compensated: b');
  });

  it('a restart goes on with those that are left', async () => {
    const world = await undoing();
    await world.store.committed();
    const after = await world.powerCut();
    await runAll(after);
    expect(after.runs.map((r) => r.method)).toEqual(['note']);
    expect(ends(after)).toEqual(['FAILED']);
    expect(after.events().at(-1)?.message).toBe('step c: a chair; not compensated: b');
  });
});

it('a pause in every kind of wait outlives a restart, and everything goes on afterwards', async () => {
  const world = openTaskWorld();
  world.submit('rotate');
  world.submitWorkflow([
    { step_id: 'a', method: 'note' },
    { step_id: 'delay', method: 'set', after_step: { step_id: 'a', delay_ms: 30_000 } },
    { step_id: 'condition', method: 'set', wait_until: { condition: 'context.go == 1', timeout_ms: 60_000 } },
    { step_id: 'backoff', method: 'say', retry: { max: 1, backoff_ms: 30_000 } },
    { step_id: 'queue', method: 'move' },
    { step_id: 'amendment', method: 'guard', failure_policy: 'REPLAN' },
  ]);
  await complete(world, 'note');
  world.run('say').fail('CAPABILITY_UNAVAILABLE');
  await world.quiet();
  world.run('guard').fail('CAPABILITY_UNAVAILABLE');
  await world.quiet();
  const holds = ['delay', 'backoff', 'queue', 'amendment'];
  expect(holds.map((name) => step(world, name)?.hold)).toEqual(holds);
  world.tasks.pauseWorkflow('wf-1');
  await world.store.committed();
  const paused = await world.powerCut();
  await paused.clock.advanceAsync(1_000_000);
  await paused.quiet();
  expect(paused.runs.filter((r) => r.method !== 'rotate')).toEqual([]);
  expect(paused.tasks.getWorkflow('wf-1')?.state).toBe('PAUSED');
  paused.tasks.resumeWorkflow('wf-1');
  paused.tasks.amendWorkflow(
    'wf-1',
    { baseRevision: 1, add: [], replace: [], remove: ['amendment'] },
    'CLOUD',
  );
  paused.setContext({ go: 1 });
  await complete(paused, 'say');
  await paused.store.committed();
  const after = await paused.powerCut();
  after.setContext({ go: 1 });
  await runAll(after);
  await after.clock.advanceAsync(60_000);
  await runAll(after);
  expect(ends(after)).toEqual(['COMPLETED']);
});

it('several live at once end once each, whatever happens to the others', async () => {
  const world = openTaskWorld();
  const ids = ['w-done', 'w-failed', 'w-cancelled', 'w-replanned', 'w-cut'];
  for (const workflow_id of ids) {
    world.submitWorkflow(
      [
        { step_id: 'a', method: 'set' },
        { step_id: 'b', method: workflow_id === 'w-failed' ? 'move' : 'set', depends_on: ['a'] },
      ],
      { workflow_id },
    );
  }
  for (const _ of ids) await complete(world, 'set');
  world.tasks.cancelWorkflow('w-cancelled', 'USER');
  world.run('move').fail('OBSTRUCTED');
  world.tasks.amendWorkflow('w-replanned', { baseRevision: 1, add: [], replace: [], remove: ['b'] }, 'CLOUD');
  await world.quiet();
  await world.store.committed();
  const after = await world.powerCut();
  await runAll(after);
  expect(Object.fromEntries(ids.map((one) => [one, ends(after, one)]))).toMatchObject({
    'w-done': ['COMPLETED'],
    'w-failed': ['FAILED'],
    'w-replanned': ['COMPLETED'],
    'w-cut': ['COMPLETED'],
  });
  expect(ends(after, 'w-cancelled')).toHaveLength(1);
});
