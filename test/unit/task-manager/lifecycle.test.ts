import { afterEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import { StoreError } from '../../../daemon/store/store-error.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

function refusal(fn: () => unknown): Refusal {
  try {
    fn();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a task', () => {
  it('is accepted, starts once that is durable, and is done when its method proves it', async () => {
    const world = openTaskWorld();
    const task = world.submit(
      'move',
      { cloud_output_key: 'arrival', traceId: 'tr' },
      { correlationId: 'co-1' },
    );
    expect(task.state).toBe('STARTED');
    expect(world.runs).toEqual([]);
    await world.quiet();
    expect(world.events().map((e) => e.event)).toEqual(['STARTED']);
    world.run('move').complete({ area_id: '2' }, { area_id: '2' });
    await world.quiet();
    const [started, completed] = world.events();
    expect(started).toMatchObject({ seq: 1, idempotency_key: `${task.taskId}:STARTED:1`, reason_code: null });
    expect(completed).toMatchObject({
      seq: 2,
      idempotency_key: `${task.taskId}:COMPLETED:1`,
      event: 'COMPLETED',
      task_id: task.taskId,
      method: 'move',
      attempt: 1,
      source: 'CLOUD',
      domain_stage: 'move.done',
      evidence: { completion_target: 'move.done', area_id: '2' },
      output: { area_id: '2' },
      cloud_output_key: 'arrival',
      correlation_id: 'co-1',
      trace_id: 'tr',
    });
    expect(completed?.occurred_at).toMatch(/^2026-11-30T\d\d:00:00\.000[+-]\d\d:\d\d$/);
    expect(world.tasks.getTask(task.taskId)).toMatchObject({ state: 'COMPLETED', output: { area_id: '2' } });
    expect(world.tasks.listTasks({ active: true })).toEqual([]);
    expect(world.tasks.listTasks().map((t) => t.taskId)).toEqual([task.taskId]);
  });

  it('is not done when it was done in another area than completionAreaId asks for', async () => {
    const world = openTaskWorld();
    world.submit('move', { completionAreaId: '3' });
    await world.quiet();
    world.run('move').complete({ area_id: '2' }, { area_id: '2' });
    await world.quiet();
    world.submit('move', { completionAreaId: '3' });
    await world.quiet();
    world.run('move').complete({}, { area_id: null });
    await world.quiet();
    world.submit('move', { completionAreaId: '3' });
    await world.quiet();
    world.run('move').complete({ area_id: '3' }, { area_id: '3' });
    await world.quiet();
    const ends = world.events().filter((e) => e.event !== 'STARTED');
    expect(ends).toMatchObject([
      { event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED', evidence: { area_id: '2' }, output: null },
      { event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED', evidence: { area_id: null } },
      { event: 'COMPLETED', reason_code: null, evidence: { area_id: '3' } },
    ]);
  });

  it('fails for the reason its method gives, with how old the fact behind it is', async () => {
    const world = openTaskWorld();
    world.submit('move');
    await world.quiet();
    world.run('move').fail('OBSTRUCTED', 'a chair stands in the door');
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'FAILED',
      reason_code: 'OBSTRUCTED',
      message: 'a chair stands in the door',
    });
  });

  it('ends INTERNAL_ERROR with an id that stands in the log when its method is defective', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.run('move').throw(new TypeError('undefined is not a function'));
    await world.quiet();
    const event = world.events().at(-1);
    expect(event).toMatchObject({ event: 'FAILED', reason_code: 'INTERNAL_ERROR' });
    const id = /err-\w+/.exec(event?.message ?? '')?.[0];
    const entry = world.logged.find(({ fields }) => fields.errorId === id);
    expect(entry?.fields).toMatchObject({ taskId: task.taskId });
    expect(String(entry?.fields.error)).toContain('undefined is not a function');
  });

  it('is refused by name: unknown method, wrong params, a target that cannot be', () => {
    const world = openTaskWorld();
    expect(refusal(() => world.submit('fly'))).toMatchObject({ reason: 'UNKNOWN_METHOD', field: 'method' });
    const wrong = refusal(() => world.submit('move', {}, { params: { speed: '1' } }));
    expect(wrong).toMatchObject({ reason: 'INVALID_PARAMS', field: 'params.speed' });
    expect(wrong.message).toMatch(/^params\.speed: found "1"; /);
    const unknown = refusal(() => world.submit('move', {}, { params: { to: 'nowhere' } }));
    expect(unknown).toMatchObject({ reason: 'UNKNOWN_TARGET', field: 'params.to' });
    expect(world.tasks.listTasks()).toEqual([]);
  });

  it('fails without having started when its precondition is false at that moment', async () => {
    const world = openTaskWorld({ blocked: new Set(['move']) });
    const task = world.submit('move');
    await world.quiet();
    expect(world.story()).toEqual(['FAILED move STATE_CONDITION_FAILED']);
    expect(world.events()[0]?.reason_observed_at_ms).toBe(7);
    expect(world.tasks.getTask(task.taskId)).toMatchObject({ state: 'FAILED', startedAt: null });
    expect(world.runs).toEqual([]);
  });

  it('marks the compatibility path in its record and events', async () => {
    const world = openTaskWorld();
    const task = world.submit('set', {}, { legacy: true });
    await world.quiet();
    expect(task).toMatchObject({ legacy: true, executionMode: 'IMMEDIATE' });
    expect(world.events()[0]?.legacy).toBe(true);
  });

  it('reports its stages as telemetry, not more often than allowed, and never after its end', async () => {
    const world = openTaskWorld({ taskLimits: { progressIntervalMs: 1_000 } });
    const heard: string[] = [];
    world.tasks.onEvent((e) => {
      if (e.event === 'PROGRESS') heard.push(`${e.domain_stage} ${e.progress?.left}`);
    });
    const task = world.submit('move');
    await world.quiet();
    const { context } = world.run('move');
    for (let left = 30; left > 0; left--) {
      context.progress('navigation.driving', { left });
      await world.clock.advanceAsync(100);
    }
    await world.quiet();
    expect(heard.length).toBeLessThanOrEqual(5);
    expect(heard[0]).toBe('navigation.driving 30');
    context.progress('navigation.arriving', { left: 0 });
    await world.clock.advanceAsync(150);
    expect(heard.at(-1)).toBe('navigation.arriving 0');
    expect(world.tasks.getTask(task.taskId)).toMatchObject({
      stage: 'navigation.arriving',
      progress: { left: 0 },
    });
    const before = heard.length;
    context.progress('navigation.arriving', { left: -1 });
    world.run('move').complete();
    context.progress('late', {});
    await world.clock.advanceAsync(5_000);
    expect(heard.length).toBe(before);
    const telemetry = world.outbox.peek(0, 100).filter((row) => row.lane === 'telemetry');
    expect(telemetry.length).toBe(1);
    expect(JSON.parse(telemetry[0]?.payload ?? '')).toMatchObject({
      event: 'PROGRESS',
      progress: { left: 0 },
    });
  });

  it('calls no driver on a dry run, but says what would happen', async () => {
    const world = openTaskWorld();
    world.submit('move', { dryRun: true });
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'COMPLETED',
      evidence: { dry_run: true },
      output: null,
    });
    expect(world.runs).toEqual([]);
    world.blocked.add('move');
    world.submit('move', { dryRun: true });
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
    expect(world.tasks.leases().every((lease) => lease.owner === null)).toBe(true);
  });

  it('tries once more when its failure policy is RETRY, with one terminal event in the end', async () => {
    const world = openTaskWorld();
    const task = world.submit('move', { failurePolicy: 'RETRY' });
    await world.quiet();
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    expect(world.events().map((e) => e.idempotency_key)).toEqual([
      `${task.taskId}:STARTED:1`,
      `${task.taskId}:STARTED:2`,
      `${task.taskId}:FAILED:2`,
    ]);
  });

  it('is not touched by what comes late of an earlier attempt', async () => {
    const world = openTaskWorld();
    const task = world.submit('move', { failurePolicy: 'RETRY', timeoutMs: 1_000 });
    await world.quiet();
    const first = world.run('move');
    await world.clock.advanceAsync(3_000);
    const second = world.run('move');
    expect(second.context.attempt).toBe(2);
    first.complete();
    await world.quiet();
    expect(world.tasks.getTask(task.taskId)?.state).toBe('STARTED');
    expect(second.context.signal.aborted).toBe(false);
    second.complete();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'STARTED move', 'COMPLETED move']);
    expect(world.tasks.counters().late_results).toBe(1);
  });

  it('runs its compensation when it fails and its failure policy is COMPENSATE', async () => {
    const world = openTaskWorld();
    world.submit('purify', { failurePolicy: 'COMPENSATE' });
    await world.quiet();
    world.run('purify').fail('HARDWARE_FAULT');
    await world.quiet();
    expect(world.story()).toEqual(['STARTED purify', 'FAILED purify HARDWARE_FAULT', 'STARTED stop purify']);
  });
});

describe('stopping a task', () => {
  it('ends CANCELLED only after the stop is proven', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'CLOUD');
    await world.quiet();
    expect(world.tasks.getTask(task.taskId)?.state).toBe('CANCELLING');
    expect(world.run('move').context.signal.aborted).toBe(true);
    expect(world.story()).toEqual(['STARTED move']);
    await world.clock.advanceAsync(500);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'CANCELLED',
      reason_code: 'CANCELLED_BY_CLOUD',
      evidence: { stopped: true },
    });
    expect(world.cuts).toEqual([]);
  });

  it('ends FAILED HARDWARE_FAULT, and the drive is cut, when no proof comes in time', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.clock.advanceAsync(1_999);
    expect(world.cuts).toEqual([]);
    await world.clock.advanceAsync(1);
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({ event: 'FAILED', reason_code: 'HARDWARE_FAULT' });
    expect(world.cuts.length).toBe(1);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.events().filter(isTerminal).length).toBe(1);
    expect(world.tasks.leases().find((l) => l.resource === 'motion')?.owner).toBeNull();
  });

  it('does not take the mere end of a run for a proof', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.quiet();
    const run = world.run('move');
    run.throw(run.context.signal.reason);
    await world.quiet();
    expect(world.story().at(-1)).toBe('FAILED move HARDWARE_FAULT');
    expect(world.cuts.length).toBe(1);
  });

  it('takes the end of a run for a proof where there is nothing physical to stop', async () => {
    const world = openTaskWorld();
    const task = world.submit('set');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.quiet();
    const run = world.run('set');
    run.throw(run.context.signal.reason);
    await world.quiet();
    expect(world.story().at(-1)).toBe('CANCELLED set CANCELLED_BY_USER');
    expect(world.cuts).toEqual([]);
  });

  it('is COMPLETED when the goal was reached before the stop', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.tasks.cancelTask(task.taskId, 'USER');
    world.run('move').complete();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'COMPLETED move']);
  });

  it('ends TIMEOUT after the time allowed and the proof of the stop', async () => {
    const world = openTaskWorld();
    world.submit('move', { timeoutMs: 5_000 });
    await world.quiet();
    await world.clock.advanceAsync(5_000);
    expect(world.story()).toEqual(['STARTED move']);
    expect(world.run('move').context.signal.aborted).toBe(true);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'FAILED',
      reason_code: 'TIMEOUT',
      evidence: { stopped: true },
    });
  });

  it('cancels a task that waits at once, because it never moved', async () => {
    const world = openTaskWorld();
    world.submit('move');
    const second = world.submit('move');
    expect(second.state).toBe('PENDING');
    world.tasks.cancelTask(second.taskId, 'USER');
    await world.quiet();
    expect(world.events().find((e) => e.task_id === second.taskId)).toMatchObject({
      event: 'CANCELLED',
      evidence: { stopped: true, never_started: true },
    });
    expect(world.runs.length).toBe(1);
  });

  it('never begins a run that was cancelled before its start was durable', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.quiet();
    expect(world.runs).toEqual([]);
    expect(world.story()).toEqual(['STARTED move', 'CANCELLED move CANCELLED_BY_USER']);
  });

  it('says who stopped it when it was stopped by its stopping method', async () => {
    const world = openTaskWorld({});
    world.submit('move');
    await world.quiet();
    await world.clock.advanceAsync(10);
    world.submit('stop move', {}, { source: 'VOICE' });
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story()).toContain('CANCELLED move CANCELLED_BY_USER');
  });

  it('stops on an e-stop whatever moves, and only that', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submit('say');
    await world.quiet();
    world.tasks.emergencyStop('the button on the robot was pressed', 123);
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    expect(world.events().at(-1)).toMatchObject({
      event: 'FAILED',
      reason_code: 'EMERGENCY_STOP',
      reason_observed_at_ms: 123,
      method: 'move',
    });
    expect(world.run('say').context.signal.aborted).toBe(false);
  });

  it('refuses to cancel what is over, what is unknown, and what was declared not cancellable', async () => {
    const world = openTaskWorld();
    const task = world.submit('set');
    await world.quiet();
    world.run('set').complete();
    await world.quiet();
    const over = refusal(() => world.tasks.cancelTask(task.taskId, 'USER'));
    expect(over).toMatchObject({ reason: 'ILLEGAL_STATE' });
    expect(over.message).toContain('COMPLETED');
    expect(refusal(() => world.tasks.cancelTask('t-unknown', 'USER')).reason).toBe('NOT_FOUND');
    const fixed = world.submit('set', { cancellable: false });
    expect(refusal(() => world.tasks.cancelTask(fixed.taskId, 'USER')).reason).toBe('ILLEGAL_STATE');
  });

  it.each(['when it is committed', 'when it is written'])(
    'by another method happens also when that stop finds no room on the disk (%s)',
    async (when) => {
      const world = openTaskWorld();
      world.submit('move');
      world.submit('say');
      await world.quiet();
      const full = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
      if (when === 'when it is committed') {
        world.store.faults.commitError = full;
        world.submit('stop move');
      } else {
        vi.spyOn(world.store, 'write').mockImplementationOnce(() => {
          throw new StoreError('FULL', 'disk full');
        });
        expect(() => world.submit('stop move')).toThrow('disk full');
      }
      await world.quiet();
      expect(world.run('move').context.signal.aborted).toBe(true);
      expect(world.run('say').context.signal.aborted).toBe(false);
      world.run('move').proveStop();
      world.store.faults.commitError = null;
      await world.clock.advanceAsync(10_000);
      expect(world.events().at(-1)).toMatchObject({ event: 'CANCELLED', method: 'move' });
      expect(world.events().some((event) => event.method === 'stop move')).toBe(false);
    },
  );

  it('happens at once also when the disk is full, and is told when there is room again', async () => {
    const world = openTaskWorld();
    const task = world.submit('move');
    await world.quiet();
    world.store.faults.commitError = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    world.tasks.cancelTask(task.taskId, 'USER');
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move']);
    await world.clock.advanceAsync(5_000);
    world.store.faults.commitError = null;
    await world.clock.advanceAsync(5_000);
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'CANCELLED move CANCELLED_BY_USER']);
    expect(world.cuts).toEqual([]);
  });
});

describe('a store that cannot commit', () => {
  it('loses nothing of what is physically over: the end is stored when it can be', async () => {
    const world = openTaskWorld();
    const first = world.submit('move');
    const second = world.submit('move');
    await world.quiet();
    world.store.faults.commitError = new Error('disk');
    world.run('move').complete();
    await world.quiet();
    expect(world.tasks.getTask(first.taskId)?.state).toBe('STARTED');
    expect(world.tasks.getTask(second.taskId)?.state).toBe('PENDING');
    expect(world.runs.length).toBe(1);
    await world.clock.advanceAsync(3_000);
    world.store.faults.commitError = null;
    await world.clock.advanceAsync(2_000);
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'COMPLETED move', 'STARTED move']);
    expect(world.runs.length).toBe(2);
    expect(world.events().map((e) => e.seq)).toEqual([1, 2, 3]);
  });

  it('starts nothing whose acceptance was undone', async () => {
    const world = openTaskWorld();
    world.store.faults.commitError = new Error('disk');
    const task = world.submit('move');
    await world.store.committed().catch(() => undefined);
    expect(world.tasks.getTask(task.taskId)).toBeNull();
    world.store.faults.commitError = null;
    await world.clock.advanceAsync(5_000);
    await world.quiet();
    expect(world.runs).toEqual([]);
    world.submit('move');
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move']);
  });

  it('forgets a task whose caller threw in the same transaction', async () => {
    const world = openTaskWorld();
    expect(() =>
      world.store.write(() => {
        world.submit('move');
        throw new Error('the answer could not be built');
      }),
    ).toThrow();
    await world.quiet();
    expect(world.tasks.listTasks()).toEqual([]);
    expect(world.tasks.leases().find((l) => l.resource === 'motion')?.owner).toBeNull();
    expect(world.story()).toEqual([]);
    expect(world.runs).toEqual([]);
  });
});
