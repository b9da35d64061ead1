import { afterEach, describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { decideRecovery } from '../../../daemon/task-manager/recovery.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { openTaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

describe('a task that a restart finds unfinished', () => {
  it('is COMPLETED when its goal is already true, with the evidence seen now', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    const after = await world.powerCut({ done: { move: true } });
    await after.quiet();
    expect(after.runs).toEqual([]);
    expect(after.events().at(-1)).toMatchObject({
      event: 'COMPLETED',
      idempotency_key: `${task.taskId}:COMPLETED:1`,
      evidence: { completion_target: 'move.done' },
      boot_id: 'b-2',
    });
  });

  it('goes on with the next attempt when that is safe', async () => {
    const world = openTaskWorld();
    const task = world.submit('move', {}, { params: { to: '2' } });
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.run('move')).toMatchObject({ taskId: task.taskId });
    expect(after.run('move').context).toMatchObject({ attempt: 2, params: { to: '2' } });
    after.run('move').complete();
    await after.quiet();
    expect(after.events().map((e) => e.idempotency_key)).toEqual([
      `${task.taskId}:STARTED:1`,
      `${task.taskId}:STARTED:2`,
      `${task.taskId}:COMPLETED:2`,
    ]);
    expect(after.events().map((e) => e.seq)).toEqual([1, 2, 3]);
  });

  it('ends FAILED RESTARTED when it is not safe to continue', async () => {
    const world = openTaskWorld();
    world.submit('rotate');
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.story()).toEqual(['STARTED rotate', 'FAILED rotate RESTARTED']);
    expect(after.runs).toEqual([]);
  });

  it('runs its compensation when it was cut short', async () => {
    const world = openTaskWorld();
    world.submit('purify');
    await world.quiet();
    let after = await world.powerCut({ taskLimits: { maxAttempts: 1 } });
    await after.quiet();
    expect(after.story()).toEqual(['STARTED purify', 'FAILED purify RESTARTED', 'STARTED stop purify']);
    after = await after.powerCut();
    await after.quiet();
    expect(after.runs.map((r) => [r.method, r.context.attempt])).toEqual([]);
    expect(after.story().at(-1)).toBe('FAILED stop purify RESTARTED');
  });

  it('keeps its place before others that were waiting', async () => {
    const world = openTaskWorld();
    const running = world.submit('move', { priority: 10 });
    const waiting = world.submit('move', { priority: 80 });
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.run('move').taskId).toBe(running.taskId);
    after.run('move').complete();
    await after.quiet();
    expect(after.run('move').taskId).toBe(waiting.taskId);
  });

  it('does not go on with what was being cancelled, nor say CANCELLED without a proof', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.story()).toEqual(['STARTED move', 'FAILED move RESTARTED']);
    expect(after.runs).toEqual([]);
  });

  it('still says TIMEOUT of what was being stopped for it', async () => {
    const world = openTaskWorld();
    world.submit('move', { timeoutMs: 1_000 });
    await world.quiet();
    await world.clock.advanceAsync(1_000);
    const after = await world.powerCut();
    await after.quiet();
    expect(after.story()).toEqual(['STARTED move', 'FAILED move TIMEOUT']);
  });

  it('is tried a bounded number of times', async () => {
    let world = openTaskWorld({ taskLimits: { maxAttempts: 3 } });
    world.submit('move');
    for (let restart = 1; restart <= 3; restart++) {
      await world.quiet();
      world = await world.powerCut();
    }
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'STARTED move', 'STARTED move', 'FAILED move RESTARTED']);
  });

  it('ends FAILED when its method is gone', () => {
    const row = { state: 'STARTED', attempt: 1, stopping: null, request: { method: 'fly' } } as never;
    expect(decideRecovery(row, null, null, 5)).toMatchObject({ do: 'end', outcome: { reason: 'RESTARTED' } });
  });

  it('takes nothing before the truth is known', () => {
    const world = openTaskWorld({ recover: false });
    expect(() => world.submit('move')).toThrow(expect.objectContaining({ reason: 'TASK_MANAGER_BUSY' }));
    world.tasks.recover();
    expect(world.submit('move').state).toBe('STARTED');
  });

  it('is left as it is by an orderly stop, and physically stopped', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submit('rotate');
    await world.quiet();
    const stopped = world.tasks.stop();
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
    world.run('move').proveStop();
    await stopped;
    await world.quiet();
    expect(() => world.submit('note')).toThrow(expect.objectContaining({ reason: 'TASK_MANAGER_BUSY' }));
    const after = await world.powerCut();
    await after.quiet();
    expect(after.run('move').context.attempt).toBe(2);
    expect(after.story()).toEqual(['STARTED move', 'STARTED move']);
  });
});

describe('a workflow that a restart finds unfinished', () => {
  const steps = [
    { step_id: 'a', method: 'move' },
    { step_id: 'b', method: 'note', depends_on: ['a'], params: { text: '{{a.output.area_id}}' } },
  ];

  it('goes on where it was, with the outputs it had', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(steps);
    await world.quiet();
    world.run('move').complete({ area_id: '2', summary: null });
    await world.quiet();
    let after = await world.powerCut();
    await after.quiet();
    expect(after.story().slice(-3)).toEqual([
      'STARTED note',
      'FAILED note RESTARTED',
      'FAILED wf-1 RESTARTED',
    ]);
    after = await world.powerCut({ done: { note: true }, seed: 5 });
    await after.quiet();
    expect(after.story().slice(-3)).toEqual([
      'COMPLETED note',
      'WORKFLOW_STEP_COMPLETED b',
      'COMPLETED wf-1',
    ]);
  });

  it('continues a step with the same step attempt and announces it once', async () => {
    const world = openTaskWorld();
    world.submitWorkflow(steps);
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.story()).toEqual(['WORKFLOW_STEP_STARTED a', 'STARTED move', 'STARTED move']);
    after.run('move').complete({ area_id: '7', summary: null });
    await after.quiet();
    expect(after.run('note').context.params).toEqual({ text: '7' });
    expect(after.tasks.getWorkflow('wf-1')?.steps[0]).toMatchObject({ attempt: 1, state: 'COMPLETED' });
  });

  it('fails RESTARTED, and takes back what was cut short, when a step is not safe to continue', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: { method: 'note', params: { undo: 'a' } } },
      {
        step_id: 'b',
        method: 'rotate',
        depends_on: ['a'],
        compensation: { method: 'note', params: { undo: 'b' } },
        retry: { max: 3, backoff_ms: 0 },
      },
    ]);
    await world.quiet();
    world.run('set').complete();
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.run('note').context.params).toEqual({ undo: 'b' });
    after.run('note').complete();
    await after.quiet();
    expect(after.run('note').context.params).toEqual({ undo: 'a' });
    after.run('note').complete();
    await after.quiet();
    expect(after.story().at(-1)).toBe('FAILED wf-1 RESTARTED');
  });

  it('gets its timers back, also those that came due meanwhile', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'note' },
      { step_id: 'b', method: 'say', after_step: { step_id: 'a', delay_ms: 60_000 } },
      { step_id: 'c', method: 'move', after_step: { step_id: 'a', delay_ms: 600_000 } },
    ]);
    await world.quiet();
    world.run('note').complete();
    await world.quiet();
    await world.clock.advanceAsync(10_000);
    const after = await world.powerCut();
    await after.clock.advanceAsync(50_000);
    await after.quiet();
    expect(after.runs.map((r) => r.method)).toEqual(['say']);
    after.run('say').complete();
    await after.quiet();
    const clock = new SimClock(after.clock.now() + 3_600_000);
    const later = await after.powerCut({ clock });
    await clock.advanceAsync(0);
    await later.quiet();
    expect(later.runs.map((r) => r.method)).toEqual(['move']);
  });

  it('keeps waiting for its condition', async () => {
    const context = { battery: { usable: true, level: 20 } };
    const world = openTaskWorld({ context: () => context });
    world.submitWorkflow([
      {
        step_id: 'a',
        method: 'note',
        wait_until: { condition: 'context.battery.level > 80', timeout_ms: 3_600_000 },
      },
    ]);
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    context.battery.level = 90;
    await after.clock.advanceAsync(1_000);
    await after.quiet();
    expect(after.runs.map((r) => r.method)).toEqual(['note']);
  });

  it('stays paused', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submitWorkflow([{ step_id: 'a', method: 'move' }]);
    world.tasks.pauseWorkflow('wf-1');
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    after.run('move').complete();
    await after.quiet();
    expect(after.runs.length).toBe(1);
    after.tasks.resumeWorkflow('wf-1');
    await after.quiet();
    expect(after.runs.length).toBe(2);
  });

  it('goes on being cancelled', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'purify' },
      { step_id: 'b', method: 'move', depends_on: ['a'] },
    ]);
    await world.quiet();
    world.run('purify').complete();
    await world.quiet();
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.run('stop purify')).toBeDefined();
    const after = await world.powerCut({ done: { 'stop purify': true } });
    await after.quiet();
    expect(after.story().at(-1)).toBe('CANCELLED wf-1 CANCELLED_BY_USER');
  });
});
