import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, openTaskWorld, step } from './task-world.js';

afterEach(removeTemporaryDirectories);

describe('failures', () => {
  it('stop the rest of the workflow, and nothing more of it runs', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'move' },
      { step_id: 'b', method: 'say' },
      { step_id: 'c', method: 'note', depends_on: ['a'] },
    ]);
    await world.quiet();
    world.run('move').fail('OBSTRUCTED', 'a chair');
    await world.quiet();
    expect(world.run('say').context.signal.aborted).toBe(true);
    expect(world.story().at(-1)).not.toContain('wf-1');
    world.run('say').proveStop();
    await world.quiet();
    expect(world.story().slice(-2)).toEqual(['CANCELLED say CANCELLED_BY_SYSTEM', 'FAILED wf-1 OBSTRUCTED']);
    expect(world.events().at(-1)?.message).toBe('step a: a chair');
    expect(step(world, 'c')?.state).toBe('CANCELLED');
    expect(world.runs.length).toBe(2);
  });

  it('are tried again after the back-off, as often as allowed', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'a', method: 'move', retry: { max: 2, backoff_ms: 1_000 } }]);
    for (let attempt = 1; attempt <= 3; attempt++) {
      await world.quiet();
      expect(world.runs.length).toBe(attempt);
      world.run('move').fail('OBSTRUCTED');
      await world.quiet();
      await world.clock.advanceAsync(999);
      expect(world.runs.length).toBe(attempt);
      await world.clock.advanceAsync(1);
    }
    await world.quiet();
    expect(world.runs.length).toBe(3);
    expect(new Set(world.runs.map((r) => r.taskId)).size).toBe(3);
    expect(world.story().filter((line) => !line.includes('move'))).toEqual([
      'WORKFLOW_STEP_STARTED a',
      'WORKFLOW_STEP_WAITING a',
      'WORKFLOW_STEP_STARTED a',
      'WORKFLOW_STEP_WAITING a',
      'WORKFLOW_STEP_STARTED a',
      'FAILED wf-1 OBSTRUCTED',
    ]);
  });

  it('with policy RETRY alone are tried once more', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'a', method: 'move', failure_policy: 'RETRY' }]);
    for (const _ of [1, 2]) {
      await world.quiet();
      world.run('move').fail('OBSTRUCTED');
    }
    await world.quiet();
    expect(world.runs.length).toBe(2);
    expect(world.story().at(-1)).toBe('FAILED wf-1 OBSTRUCTED');
  });

  it('are not tried again when that cannot help', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'a', method: 'move', retry: { max: 5, backoff_ms: 0 } }]);
    await world.quiet();
    world.run('move').fail('EMERGENCY_STOP');
    await world.quiet();
    expect(world.runs.length).toBe(1);
  });

  it('are tolerated with policy CONTINUE; who needs the output fails for it', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'say', failure_policy: 'CONTINUE' },
      { step_id: 'b', method: 'note', depends_on: ['a'] },
      {
        step_id: 'c',
        method: 'say',
        depends_on: ['a'],
        params: { text: '{{a.output.summary}}' },
        failure_policy: 'CONTINUE',
      },
    ]);
    await world.quiet();
    world.run('say').fail('CAPABILITY_UNAVAILABLE');
    await complete(world, 'note');
    expect(world.story()).toContain('FAILED c DEPENDENCY_FAILED');
    expect(world.events().at(-1)).toMatchObject({
      event: 'COMPLETED',
      message: 'failed and tolerated: a, c',
    });
  });

  it('take back completed steps in reverse order', async () => {
    const world = openTaskWorld();
    const undo = (name: string) => ({ method: 'note', params: { undo: name } });
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: undo('a') },
      { step_id: 'b', method: 'set', depends_on: ['a'], compensation: undo('b {{b.output.area_id}}') },
      { step_id: 'c', method: 'move', depends_on: ['b'], compensation: undo('never') },
    ]);
    await complete(world, 'set');
    await complete(world, 'set', { area_id: '7', summary: null });
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    expect(world.run('note').context.params).toEqual({ undo: 'b 7' });
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('CANCELLING');
    await complete(world, 'note');
    expect(world.run('note').context.params).toEqual({ undo: 'a' });
    await complete(world, 'note');
    expect(world.story().at(-1)).toBe('FAILED wf-1 OBSTRUCTED');
    expect(world.runs.filter((r) => r.method === 'note').length).toBe(2);
  });

  it('take back what a method declares itself only with policy COMPENSATE', async () => {
    for (const [policy, runs] of [
      ['ABORT', 0],
      ['COMPENSATE', 1],
    ] as const) {
      const world = openTaskWorld();
      world.submitWorkflow([
        { step_id: 'a', method: 'purify' },
        { step_id: 'b', method: 'move', depends_on: ['a'], failure_policy: policy },
      ]);
      await complete(world, 'purify');
      world.run('move').fail('OBSTRUCTED');
      await world.quiet();
      expect(world.runs.filter((r) => r.method === 'stop purify').length).toBe(runs);
    }
  });

  it('say which compensations did not work, and go on with the others', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: { method: 'note' } },
      { step_id: 'b', method: 'set', depends_on: ['a'], compensation: { method: 'say' } },
      { step_id: 'c', method: 'move', depends_on: ['b'] },
    ]);
    await complete(world, 'set');
    await complete(world, 'set');
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    world.run('say').fail('CAPABILITY_UNAVAILABLE');
    await complete(world, 'note');
    expect(world.events().at(-1)?.message).toBe('step c: OBSTRUCTED; not compensated: b');
  });
});
