import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import type { TaskRecord } from '../../../daemon/task-manager/types.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const state = (world: TaskWorld, task: TaskRecord) => world.tasks.getTask(task.taskId)?.state;
const owner = (world: TaskWorld, resource: string) =>
  world.tasks.leases().find((lease) => lease.resource === resource)?.owner ?? null;
const stages = (world: TaskWorld, task: TaskRecord) =>
  world.told.filter((event) => event.task_id === task.taskId).map((event) => event.domain_stage);

function refusal(fn: () => unknown): Refusal {
  try {
    fn();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

async function paused(world: TaskWorld, method = 'drive'): Promise<TaskRecord> {
  const task = world.submit(method);
  await world.quiet();
  world.tasks.pauseTask(task.taskId);
  await world.quiet();
  world.run(task.taskId).proveStop();
  await world.quiet();
  return task;
}

/** Every task that was ever submitted has ended once, or not yet. */
function expectSingleEnds(world: TaskWorld): void {
  const ends = world.events().filter(isTerminal);
  expect(new Set(ends.map((end) => end.task_id)).size).toBe(ends.length);
}

describe('a task that is paused while it runs', () => {
  it('is PAUSED only once its stop is proven, and holds nothing then', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    await world.quiet();
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    expect(world.run('drive').context.signal.aborted).toBe(true);
    expect(state(world, task)).toBe('STARTED');
    expect(owner(world, 'motion')).toBe(task.taskId);
    expect(stages(world, task)).toEqual([]);
    world.run('drive').proveStop();
    await world.quiet();
    expect(world.tasks.getTask(task.taskId)).toMatchObject({
      state: 'PAUSED',
      stage: 'paused',
      progress: { paused_by: 'request', stopped: true },
      endedAt: null,
    });
    expect(owner(world, 'motion')).toBeNull();
    expect(world.told.at(-1)).toMatchObject({
      domain_stage: 'paused',
      progress: { stopped: true, paused_by: 'request', preempted_by: null },
    });
    expect(world.tasks.summary()).toMatchObject({ busy: false, running: [] });
  });

  it('blocks nobody, and goes on before others of its line with what it carried', async () => {
    const world = openTaskWorld();
    const task = await paused(world);
    const other = world.submit('move', { priority: 10 });
    const urgent = world.submit('move', { priority: 90 });
    await world.quiet();
    expect(state(world, other)).toBe('STARTED');
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    expect(state(world, task)).toBe('PENDING');
    world.run('move').complete();
    await world.quiet();
    expect(state(world, task)).toBe('STARTED');
    expect(state(world, urgent)).toBe('PENDING');
    expect(world.run('drive').context).toMatchObject({ attempt: 1, carried: { pauses: 1 } });
    world.run('drive').complete();
    await world.quiet();
    expect(
      world
        .events()
        .filter((e) => e.task_id === task.taskId)
        .map((e) => e.idempotency_key),
    ).toEqual([`${task.taskId}:STARTED:1`, `${task.taskId}:COMPLETED:1`]);
    expect(stages(world, task)).toEqual(['paused', 'resumed']);
  });

  it('carries on what the newest run left behind, each time', async () => {
    const world = openTaskWorld();
    const task = await paused(world);
    for (const pauses of [1, 2, 3]) {
      world.tasks.resumeTask(task.taskId);
      await world.quiet();
      expect(world.run('drive').context.carried).toEqual({ pauses });
      world.tasks.pauseTask(task.taskId);
      await world.quiet();
      world.run('drive').proveStop();
      await world.quiet();
    }
    expect(world.runs.length).toBe(4);
  });

  it('does not use up its time while it is paused', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive', { timeoutMs: 10_000 });
    await world.quiet();
    await world.clock.advanceAsync(6_000);
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    await world.clock.advanceAsync(1_000);
    world.run('drive').proveStop();
    await world.quiet();
    await world.clock.advanceAsync(3_600_000);
    expect(state(world, task)).toBe('PAUSED');
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    await world.clock.advanceAsync(3_900);
    expect(world.run('drive').context.signal.aborted).toBe(false);
    await world.clock.advanceAsync(200);
    world.run('drive').proveStop();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED drive', 'FAILED drive TIMEOUT']);
  });

  it.each([
    ['reaches its goal first', (w: TaskWorld) => w.run('drive').complete(), 'COMPLETED drive'],
    ['fails first', (w: TaskWorld) => w.run('drive').fail('OBSTRUCTED'), 'FAILED drive OBSTRUCTED'],
    [
      'has a defect first',
      (w: TaskWorld) => w.run('drive').throw(new TypeError('x')),
      'FAILED drive INTERNAL_ERROR',
    ],
  ])('ends for what happened when it %s', async (_, act, end) => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    await world.quiet();
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    act(world);
    await world.quiet();
    expect(world.story()).toEqual(['STARTED drive', end]);
    expect(refusal(() => world.tasks.resumeTask(task.taskId)).reason).toBe('ILLEGAL_STATE');
  });

  it('ends FAILED HARDWARE_FAULT, with the drive cut, when its stop is not proven', async () => {
    for (const unproven of [
      (w: TaskWorld) => w.clock.advanceAsync(2_001),
      async (w: TaskWorld) => w.run('drive').throw(w.run('drive').context.signal.reason),
    ]) {
      const world = openTaskWorld();
      const task = world.submit('drive');
      await world.quiet();
      world.tasks.pauseTask(task.taskId);
      await world.quiet();
      await unproven(world);
      await world.quiet();
      expect(world.cuts.length).toBe(1);
      expect(world.story()).toEqual(['STARTED drive', 'FAILED drive HARDWARE_FAULT']);
      expect(owner(world, 'motion')).toBeNull();
    }
  });

  it.each([
    [
      'cancelled',
      (w: TaskWorld, id: string) => w.tasks.cancelTask(id, 'USER'),
      'CANCELLED drive CANCELLED_BY_USER',
    ],
    [
      'stopped by an emergency stop',
      (w: TaskWorld) => w.tasks.emergencyStop('pressed', 7),
      'FAILED drive EMERGENCY_STOP',
    ],
  ])('ends once when it is %s while it is being paused, and once it is', async (_, act, end) => {
    const pausing = openTaskWorld();
    const task = pausing.submit('drive');
    await pausing.quiet();
    pausing.tasks.pauseTask(task.taskId);
    await pausing.quiet();
    act(pausing, task.taskId);
    await pausing.quiet();
    expect(state(pausing, task)).toBe('CANCELLING');
    pausing.run('drive').proveStop();
    await pausing.quiet();
    expect(pausing.story()).toEqual(['STARTED drive', end]);

    const world = openTaskWorld();
    const held = await paused(world);
    act(world, held.taskId);
    await world.quiet();
    expect(world.story()).toEqual(['STARTED drive', end]);
    expect(world.events().at(-1)?.evidence).toMatchObject({ stopped: true });
    expect(world.cuts).toEqual([]);
  });

  it('goes on at once when it is resumed before it has stopped', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    await world.quiet();
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    expect(state(world, task)).toBe('STARTED');
    expect(world.runs.length).toBe(2);
  });

  it('is paused without having run when both come in one turn', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    expect(world.runs).toEqual([]);
    expect(state(world, task)).toBe('PAUSED');
    expect(owner(world, 'motion')).toBeNull();
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    expect(world.runs.length).toBe(1);
  });

  it('is refused where it makes no sense, by name', async () => {
    const world = openTaskWorld();
    expect(refusal(() => world.tasks.pauseTask('t-none'))).toMatchObject({
      reason: 'NOT_FOUND',
      field: 'task_id',
    });
    expect(refusal(() => world.tasks.resumeTask('t-none')).reason).toBe('NOT_FOUND');
    const cannot = world.submit('rotate');
    await world.quiet();
    expect(refusal(() => world.tasks.pauseTask(cannot.taskId))).toMatchObject({ reason: 'ILLEGAL_STATE' });
    expect(refusal(() => world.tasks.resumeTask(cannot.taskId)).reason).toBe('ILLEGAL_STATE');
    world.tasks.cancelTask(cannot.taskId, 'CLOUD');
    expect(refusal(() => world.tasks.pauseTask(cannot.taskId)).reason).toBe('ILLEGAL_STATE');
    world.run('rotate').proveStop();
    await world.quiet();
    expect(refusal(() => world.tasks.pauseTask(cannot.taskId)).reason).toBe('ILLEGAL_STATE');
    const held = await paused(world);
    expect(refusal(() => world.tasks.pauseTask(held.taskId)).reason).toBe('ILLEGAL_STATE');
  });

  it('is not asked to stop for a pause that cannot be stored, and is stored when its stop could not be at first', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    await world.quiet();
    world.store.faults.commitError = new Error('disk');
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    expect(world.run('drive').context.signal.aborted).toBe(false);
    world.store.faults.commitError = null;
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    world.store.faults.commitError = new Error('disk');
    world.run('drive').proveStop();
    await world.quiet();
    expect(state(world, task)).toBe('STARTED');
    world.store.faults.commitError = null;
    await world.clock.advanceAsync(1_001);
    await world.quiet();
    expect(state(world, task)).toBe('PAUSED');
  });
});

describe('a task that is paused before it runs', () => {
  it('is held out of its line, whatever its method, and keeps its place in it', async () => {
    const world = openTaskWorld();
    const first = world.submit('rotate');
    const held = world.submit('rotate', { priority: 60 });
    const last = world.submit('rotate', { priority: 60 });
    await world.quiet();
    world.tasks.pauseTask(held.taskId);
    await world.quiet();
    expect(state(world, held)).toBe('PAUSED');
    expect(stages(world, held)).toEqual(['paused']);
    world.tasks.resumeTask(held.taskId);
    await world.quiet();
    world.run(first.taskId).complete();
    await world.quiet();
    expect([state(world, held), state(world, last)]).toEqual(['STARTED', 'PENDING']);
    expect(stages(world, held)).toEqual(['paused', 'resumed']);
  });

  it('lets the next of its line go', async () => {
    const world = openTaskWorld();
    world.submit('rotate');
    const held = world.submit('rotate', { priority: 60 });
    const last = world.submit('rotate');
    await world.quiet();
    world.tasks.pauseTask(held.taskId);
    world.run('rotate').complete();
    await world.quiet();
    expect([state(world, held), state(world, last)]).toEqual(['PAUSED', 'STARTED']);
    world.tasks.cancelTask(held.taskId, 'USER');
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({ event: 'CANCELLED', evidence: { never_started: true } });
  });
});

describe('a restart', () => {
  it('leaves a paused task paused, and it goes on with what it carried', async () => {
    const world = openTaskWorld();
    const task = await paused(world);
    const after = await world.powerCut();
    await after.quiet();
    expect(state(after, task)).toBe('PAUSED');
    expect(after.runs).toEqual([]);
    after.tasks.resumeTask(task.taskId);
    await after.quiet();
    expect(after.run('drive').context).toMatchObject({ attempt: 1, carried: { pauses: 1 } });
    after.run('drive').complete();
    await after.quiet();
    expect(after.story()).toEqual(['STARTED drive', 'COMPLETED drive']);
  });

  it('does not forget a pause that was accepted and not yet proven, nor claims its proof', async () => {
    const world = openTaskWorld();
    const task = world.submit('drive');
    await world.quiet();
    world.tasks.pauseTask(task.taskId);
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(state(after, task)).toBe('PAUSED');
    expect(after.runs).toEqual([]);
    const cancelled = await after.powerCut();
    cancelled.tasks.cancelTask(task.taskId, 'USER');
    await cancelled.quiet();
    expect(cancelled.story()).toEqual(['STARTED drive', 'FAILED drive RESTARTED']);
    after.tasks.resumeTask(task.taskId);
    await after.quiet();
    expect(after.run('drive').taskId).toBe(task.taskId);
  });

  it('continues what had gone on, with what it carried and the next attempt', async () => {
    const world = openTaskWorld();
    const task = await paused(world);
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(after.run('drive').context).toMatchObject({ attempt: 2, carried: { pauses: 1 } });
  });

  it('puts back into its place what waited for its turn after a pause', async () => {
    const world = openTaskWorld();
    const task = await paused(world);
    const running = world.submit('move');
    world.submit('move', { priority: 90 });
    await world.quiet();
    world.tasks.resumeTask(task.taskId);
    await world.quiet();
    const after = await world.powerCut({ done: { move: true } });
    await after.quiet();
    expect(state(after, running)).toBe('COMPLETED');
    expect(state(after, task)).toBe('STARTED');
    expect(after.run('drive').context.carried).toEqual({ pauses: 1 });
  });
});

describe('a step of a workflow that is paused', () => {
  it('stays a running step, also while its workflow is paused, and starts once', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 's1', method: 'drive' }]);
    await world.quiet();
    const { taskId } = world.run('drive');
    world.tasks.pauseTask(taskId);
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.tasks.pauseWorkflow('wf-1');
    world.tasks.resumeTask(taskId);
    await world.quiet();
    world.run('drive').complete();
    await world.quiet();
    expect(world.story()).toEqual([
      'WORKFLOW_STEP_STARTED s1',
      'STARTED drive',
      'COMPLETED drive',
      'WORKFLOW_STEP_COMPLETED s1',
      'COMPLETED wf-1',
    ]);
  });

  it('stays out of its line when it is resumed in a paused workflow before it began', async () => {
    const world = openTaskWorld();
    world.submit('rotate');
    world.submitWorkflow([{ step_id: 's1', method: 'drive' }]);
    await world.quiet();
    const taskId = world.tasks.getWorkflow('wf-1')?.steps[0]?.taskId ?? '';
    world.tasks.pauseTask(taskId);
    world.tasks.pauseWorkflow('wf-1');
    world.tasks.resumeTask(taskId);
    world.run('rotate').complete();
    await world.quiet();
    expect(world.tasks.getTask(taskId)?.state).toBe('PENDING');
    world.tasks.resumeWorkflow('wf-1');
    await world.quiet();
    expect(world.tasks.getTask(taskId)?.state).toBe('STARTED');
  });

  it('is cancelled with its workflow', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 's1', method: 'drive' }]);
    await world.quiet();
    world.tasks.pauseTask(world.run('drive').taskId);
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.tasks.cancelWorkflow('wf-1', 'USER');
    await world.quiet();
    expect(world.story().slice(-2)).toEqual([
      'CANCELLED drive CANCELLED_BY_USER',
      'CANCELLED wf-1 CANCELLED_BY_USER',
    ]);
  });
});

describe('preemption', () => {
  const above = (priority = 80) => ({ priority, preemptPolicy: 'PREEMPT_LOWER' }) as const;

  it('pauses what can be paused, and that goes on by itself once the other has ended', async () => {
    for (const end of ['complete', 'fail', 'cancel'] as const) {
      const world = openTaskWorld();
      const low = world.submit('drive');
      await world.quiet();
      const high = world.submit('rotate', above());
      await world.quiet();
      world.run('drive').proveStop();
      await world.quiet();
      expect([state(world, low), state(world, high)]).toEqual(['PAUSED', 'STARTED']);
      expect(world.tasks.getTask(low.taskId)?.progress).toMatchObject({
        paused_by: 'preemption',
        preempted_by: high.taskId,
      });
      const run = world.run('rotate');
      if (end === 'complete') run.complete();
      else if (end === 'fail') run.fail('OBSTRUCTED');
      else {
        world.tasks.cancelTask(high.taskId, 'USER');
        await world.quiet();
        run.proveStop();
      }
      await world.quiet();
      expect(state(world, low)).toBe('STARTED');
      expect(world.run('drive').context.carried).toEqual({ pauses: 1 });
      world.run('drive').complete();
      await world.quiet();
      expect(stages(world, low)).toEqual(['paused', 'resumed']);
      expectSingleEnds(world);
    }
  });

  it('cancels what cannot be paused', async () => {
    const world = openTaskWorld();
    world.submit('move');
    await world.quiet();
    world.submit('rotate', above());
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'CANCELLED move PREEMPTED', 'STARTED rotate']);
  });

  it('lets go on what had not even stopped when the other was cancelled', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive');
    await world.quiet();
    const high = world.submit('rotate', above());
    await world.quiet();
    world.tasks.cancelTask(high.taskId, 'USER');
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    expect(state(world, low)).toBe('STARTED');
    expect(world.runs.map((run) => run.method)).toEqual(['drive', 'drive']);
  });

  it('in turn: each goes on after the one that took its place', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive', { priority: 10 });
    await world.quiet();
    const middle = world.submit('drive', above(50));
    await world.quiet();
    world.run(low.taskId).proveStop();
    await world.quiet();
    const high = world.submit('rotate', above(80));
    await world.quiet();
    world.run(middle.taskId).proveStop();
    await world.quiet();
    expect([low, middle, high].map((t) => state(world, t))).toEqual(['PAUSED', 'PAUSED', 'STARTED']);
    world.run('rotate').complete();
    await world.quiet();
    expect([low, middle].map((t) => state(world, t))).toEqual(['PAUSED', 'STARTED']);
    world.run(middle.taskId).complete();
    await world.quiet();
    expect(state(world, low)).toBe('STARTED');
  });

  it('does not let it go on only to stop it again for the next that takes its place', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive', { priority: 10 });
    await world.quiet();
    world.submit('rotate', above());
    const next = world.submit('rotate', above());
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.run('rotate').complete();
    await world.quiet();
    expect([state(world, low), state(world, next)]).toEqual(['PAUSED', 'STARTED']);
    world.run('rotate').complete();
    await world.quiet();
    expect(state(world, low)).toBe('STARTED');
    expect(world.runs.map((run) => run.method)).toEqual(['drive', 'rotate', 'rotate', 'drive']);
  });

  it('again and again ends: being kept waiting is worth priority', async () => {
    const world = openTaskWorld({ taskLimits: { ageingMsPerPoint: 1_000 } });
    const low = world.submit('drive', { priority: 10, timeoutMs: 3_600_000 });
    await world.quiet();
    let seconds = 0;
    for (; seconds < 200 && world.tasks.getTask(low.taskId)?.state !== 'COMPLETED'; seconds++) {
      world.submit('rotate', above());
      await world.quiet();
      for (const run of world.runs.filter((r) => !r.over)) {
        if (run.method === 'rotate') run.complete();
        else if (run.context.signal.aborted) run.proveStop();
        else if (seconds > 0 && run.context.carried !== null) run.complete();
      }
      await world.clock.advanceAsync(1_000);
      await world.quiet();
    }
    expect(state(world, low)).toBe('COMPLETED');
    expect(seconds).toBeLessThan(80);
  });

  it('lets it go on when the other is paused on request, and takes its place again afterwards', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive');
    await world.quiet();
    const high = world.submit('drive', above());
    await world.quiet();
    world.run(low.taskId).proveStop();
    await world.quiet();
    world.tasks.pauseTask(high.taskId);
    await world.quiet();
    world.run(high.taskId).proveStop();
    await world.quiet();
    expect([low, high].map((t) => state(world, t))).toEqual(['STARTED', 'PAUSED']);
    world.tasks.resumeTask(high.taskId);
    await world.quiet();
    world.run(low.taskId).proveStop();
    await world.quiet();
    expect([low, high].map((t) => state(world, t))).toEqual(['PAUSED', 'STARTED']);
    world.run(high.taskId).complete();
    await world.quiet();
    expect(state(world, low)).toBe('STARTED');
  });

  it('waits for a person once a person paused it as well', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive');
    await world.quiet();
    world.submit('rotate', above());
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.tasks.pauseTask(low.taskId);
    world.run('rotate').complete();
    await world.quiet();
    expect(state(world, low)).toBe('PAUSED');
    world.tasks.resumeTask(low.taskId);
    await world.quiet();
    expect(state(world, low)).toBe('STARTED');
  });

  it('of a cleaning by a drive: it goes on in the same place, and is CANCELLED PREEMPTED in another', async () => {
    for (const area of ['1', '2']) {
      const world = openTaskWorld();
      world.submit('dwell');
      await world.quiet();
      world.submit('rotate');
      await world.quiet();
      world.run('dwell').proveStop();
      await world.quiet();
      world.setArea(area);
      world.run('rotate').complete();
      await world.quiet();
      const dwelling = world.runs.filter((run) => run.method === 'dwell').length;
      expect(dwelling).toBe(area === '1' ? 2 : 1);
      if (area === '1') continue;
      expect(world.events().at(-1)).toMatchObject({
        event: 'CANCELLED',
        reason_code: 'PREEMPTED',
        evidence: { stopped: true },
      });
    }
  });

  it('goes on after a restart when the other is gone by then, and waits when it is not', async () => {
    for (const done of [true, false]) {
      const world = openTaskWorld();
      const low = world.submit('drive');
      await world.quiet();
      const high = world.submit('move', above());
      await world.quiet();
      world.run('drive').proveStop();
      await world.quiet();
      const after = await world.powerCut({ done: { move: done } });
      await after.quiet();
      expect([low, high].map((t) => state(after, t))).toEqual(
        done ? ['STARTED', 'COMPLETED'] : ['PAUSED', 'STARTED'],
      );
      if (!done) after.run('move').complete();
      await after.quiet();
      expect(after.run('drive').context.carried).toEqual({ pauses: 1 });
    }
  });

  it('is not undone by a stop: what would go on by itself ends with what is stopped', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive');
    await world.quiet();
    const high = world.submit('rotate', above());
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.submit('stop drive', { executionMode: 'PARALLEL' }, { source: 'VOICE' });
    await world.quiet();
    expect(world.tasks.getTask(low.taskId)).toMatchObject({
      state: 'CANCELLED',
      reasonCode: 'CANCELLED_BY_USER',
    });
    expect(state(world, high)).toBe('STARTED');
  });

  it('and an emergency stop: nothing drives off by itself when it is released', async () => {
    const world = openTaskWorld();
    const low = world.submit('drive');
    await world.quiet();
    world.submit('rotate', above());
    await world.quiet();
    world.run('drive').proveStop();
    await world.quiet();
    world.tasks.emergencyStop('pressed', 7);
    await world.quiet();
    world.run('rotate').proveStop();
    await world.quiet();
    expect(world.tasks.getTask(low.taskId)).toMatchObject({ state: 'FAILED', reasonCode: 'EMERGENCY_STOP' });
    expect(world.runs.filter((run) => !run.over)).toEqual([]);
  });
});
