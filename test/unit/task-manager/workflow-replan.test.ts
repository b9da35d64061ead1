import { afterEach, describe, expect, it } from 'vitest';
import { workflowStepSchema } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, isTerminal, openTaskWorld, step, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const WAIT_MS = 300_000;

/** `go` fails and may be replanned; `next` comes after it, `other` is on its own, `later` after `other`. */
const steps = [
  { step_id: 'go', method: 'move', failure_policy: 'REPLAN' as const },
  { step_id: 'next', method: 'note', depends_on: ['go'] },
  { step_id: 'other', method: 'say' },
  { step_id: 'later', method: 'note', depends_on: ['other'] },
];

async function failed(
  more: object = {},
  reason: Parameters<ReturnType<TaskWorld['run']>['fail']>[0] = 'OBSTRUCTED',
) {
  const world = openTaskWorld();
  world.submitWorkflow(steps, more);
  await world.quiet();
  world.run('move').fail(reason, 'a chair');
  await world.quiet();
  return world;
}

function replace(world: TaskWorld, base = 1) {
  const way = workflowStepSchema.parse({ step_id: 'go', method: 'rotate', failure_policy: 'REPLAN' });
  const amendment = { baseRevision: base, add: [], replace: [way], remove: [] };
  return world.tasks.amendWorkflow('wf-1', amendment, 'CLOUD');
}

describe('a failed step with policy REPLAN', () => {
  it('waits for an amendment and says what failed, how long and how often one may come', async () => {
    const world = await failed();
    expect(step(world, 'go')).toMatchObject({
      state: 'WAITING',
      hold: 'amendment',
      reasonCode: 'OBSTRUCTED',
    });
    expect(world.events().at(-1)).toMatchObject({
      event: 'WORKFLOW_STEP_WAITING',
      step_id: 'go',
      domain_stage: 'amendment',
      reason_code: 'OBSTRUCTED',
      message: 'an amendment within 300000 ms (cloud_replans left: 2), after OBSTRUCTED: a chair',
      progress: { cloud_replans_left: 2, within_ms: WAIT_MS },
    });
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
  });

  it('lets what runs go on, and nothing of its workflow starts meanwhile', async () => {
    const world = await failed();
    await complete(world, 'say');
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say']);
    expect(step(world, 'later')?.state).toBe('PENDING');
  });

  it('goes on with what the amendment puts in its place', async () => {
    const world = await failed();
    await complete(world, 'say');
    expect(replace(world)).toMatchObject({ revision: 2, replansLeft: 1 });
    await complete(world, 'note');
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say', 'rotate', 'note']);
    await complete(world, 'rotate');
    await complete(world, 'note');
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
    const keys = world.events().map((event) => event.idempotency_key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(world.timers.list('workflow')).toEqual([]);
  });

  it('is gone when the amendment removes it', async () => {
    const world = await failed();
    await complete(world, 'say');
    world.tasks.amendWorkflow(
      'wf-1',
      { baseRevision: 1, add: [], replace: [], remove: ['go', 'next'] },
      'CLOUD',
    );
    await complete(world, 'note');
    expect(world.events().at(-1)).toMatchObject({ event: 'COMPLETED', revision: 2 });
  });

  it('ends the workflow for its reason, with compensations, when none comes in time', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: { method: 'note' } },
      { step_id: 'go', method: 'move', depends_on: ['a'], failure_policy: 'REPLAN' },
    ]);
    await complete(world, 'set');
    world.run('move').fail('OBSTRUCTED', 'a chair');
    await world.quiet();
    await world.clock.advanceAsync(WAIT_MS - 1);
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
    await world.clock.advanceAsync(1);
    await complete(world, 'note');
    expect(world.events().at(-1)).toMatchObject({
      event: 'FAILED',
      task_id: null,
      reason_code: 'OBSTRUCTED',
      message: 'step go: a chair; no amendment came within 300000 ms',
    });
    expect(step(world, 'go')?.state).toBe('FAILED');
  });

  it('ends it REPLAN_BUDGET_EXHAUSTED at once when no replan is left', async () => {
    const world = await failed({ replan_budget: { cloud_replans: 0 } });
    world.run('say').proveStop();
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      reason_code: 'REPLAN_BUDGET_EXHAUSTED',
      message: 'step go: a chair (OBSTRUCTED); no cloud_replans are left',
    });
  });

  it('fails again after its amendment, and again, until the budget is used up', async () => {
    const world = await failed();
    await complete(world, 'say');
    for (const base of [1, 2]) {
      replace(world, base);
      await world.quiet();
      world.run('rotate').fail('OBSTRUCTED', 'still there');
      await world.quiet();
    }
    world.run('note').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 REPLAN_BUDGET_EXHAUSTED');
    expect(world.runs.filter((r) => r.method === 'rotate').length).toBe(2);
  });

  it('is given up by an amendment that used the last replan for something else', async () => {
    const world = await failed({ replan_budget: { cloud_replans: 1 } });
    const note = workflowStepSchema.parse({ step_id: 'n', method: 'note' });
    world.tasks.amendWorkflow('wf-1', { baseRevision: 1, add: [note], replace: [], remove: [] }, 'CLOUD');
    await world.quiet();
    world.run('say').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 REPLAN_BUDGET_EXHAUSTED');
  });

  it('uses up its retries first', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'go', method: 'move', failure_policy: 'REPLAN', retry: { max: 1, backoff_ms: 0 } },
    ]);
    await world.quiet();
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    expect(world.runs.length).toBe(2);
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    expect(step(world, 'go')?.hold).toBe('amendment');
    replace(world);
    await world.quiet();
    expect(world.run('rotate').over).toBe(false);
  });

  it.each(['EMERGENCY_STOP', 'RESTARTED'] as const)('does not wait after %s', async (reason) => {
    const world = await failed({}, reason);
    world.run('say').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe(`FAILED wf-1 ${reason}`);
  });

  it('does not wait when a person cancelled its task', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'go', method: 'move', failure_policy: 'REPLAN' }]);
    await world.quiet();
    world.tasks.cancelTask(world.run('move').taskId, 'USER');
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 CANCELLED_BY_USER');
  });

  it('that never had a task says itself, once, that it failed', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'go', method: 'move', condition: 'context.air_quality.usable', failure_policy: 'REPLAN' },
    ]);
    await world.quiet();
    expect(world.story()).toEqual(['WORKFLOW_STEP_WAITING go STATE_CONDITION_FAILED']);
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(world.story().slice(1)).toEqual([
      'FAILED go STATE_CONDITION_FAILED',
      'CANCELLED wf-1 CANCELLED_BY_USER',
    ]);
  });

  it('goes on waiting after a restart, for what was left of the time', async () => {
    const world = await failed();
    await complete(world, 'say');
    await world.clock.advanceAsync(100_000);
    await world.store.committed();
    const after = await world.powerCut();
    await after.quiet();
    expect(step(after, 'go')?.hold).toBe('amendment');
    await after.clock.advanceAsync(199_000);
    expect(after.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
    await after.clock.advanceAsync(1_100);
    await after.quiet();
    expect(after.story().at(-1)).toBe('FAILED wf-1 OBSTRUCTED');
    expect(after.events().filter((e) => isTerminal(e) && e.task_id === null).length).toBe(1);
  });

  it('waits no longer for being paused, and not while it is paused', async () => {
    const world = await failed();
    await complete(world, 'say');
    await world.clock.advanceAsync(WAIT_MS - 1_000);
    world.tasks.pauseWorkflow('wf-1');
    await world.clock.advanceAsync(WAIT_MS);
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('PAUSED');
    world.tasks.resumeWorkflow('wf-1');
    await world.quiet();
    expect(world.runs.length).toBe(2);
    await world.clock.advanceAsync(1_000);
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED wf-1 OBSTRUCTED');
  });

  it('keeps tasks out of their lines, over a restart too, and puts them back once', async () => {
    const world = openTaskWorld();
    world.submit('rotate', { priority: 60 });
    world.submitWorkflow([
      { step_id: 'go', method: 'say', failure_policy: 'REPLAN' },
      { step_id: 'queued', method: 'move' },
    ]);
    await world.quiet();
    expect(step(world, 'queued')?.hold).toBe('queue');
    world.run('say').fail('CAPABILITY_UNAVAILABLE');
    await world.quiet();
    await complete(world, 'rotate');
    expect(world.runs.map((r) => r.method)).toEqual(['rotate', 'say']);
    await world.store.committed();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.runs).toEqual([]);
    replace(after);
    await after.quiet();
    expect(after.runs.map((r) => r.method)).toEqual(['move']);
    await complete(after, 'move');
    await complete(after, 'rotate');
    expect(after.story().at(-1)).toBe('COMPLETED wf-1');
  });
});
