import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import { before, Line, rankOf, type Waiting } from '../../../daemon/task-manager/waiting-room.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

function owner(world: TaskWorld, resource: string): string | null {
  return world.tasks.leases().find((lease) => lease.resource === resource)?.owner ?? null;
}

/** Completes runs of one method one after the other; gives the order in which tasks had their turn. */
async function turns(world: TaskWorld, method: string): Promise<string[]> {
  const order: string[] = [];
  for (;;) {
    await world.quiet();
    const run = world.runs.findLast((r) => r.method === method && !r.over);
    if (run === undefined) return order;
    order.push(run.taskId);
    run.complete();
  }
}

describe('a queue', () => {
  it('goes by priority, then by age', async () => {
    const world = openTaskWorld();
    const first = world.submit('move');
    const low = world.submit('move', { priority: 10 });
    const a = world.submit('move', { priority: 50 });
    const b = world.submit('move', { priority: 50 });
    const high = world.submit('move', { priority: 80 });
    expect(world.tasks.summary().queued).toEqual([{ queueKey: 'motion', length: 4 }]);
    expect(await turns(world, 'move')).toEqual([first, high, a, b, low].map((t) => t.taskId));
  });

  it('lets nobody starve: waiting is worth priority', async () => {
    const world = openTaskWorld({ taskLimits: { ageingMsPerPoint: 1_000 } });
    world.submit('move', { timeoutMs: 3_600_000 });
    const old = world.submit('move', { priority: 20 });
    await world.clock.advanceAsync(61_000);
    const young = world.submit('move', { priority: 80 });
    const [, ...rest] = await turns(world, 'move');
    expect(rest).toEqual([old.taskId, young.taskId]);
  });

  it('has its own turn for each key, where resources allow', async () => {
    const world = openTaskWorld();
    world.submit('note', { queueKey: 'x' });
    world.submit('note', { queueKey: 'x' });
    world.submit('note', { queueKey: 'y' });
    await world.quiet();
    expect(world.runs.length).toBe(2);
  });

  it('is bounded, and refuses without losing anything', async () => {
    const world = openTaskWorld({ taskLimits: { maxQueued: 3 } });
    for (let i = 0; i < 4; i++) world.submit('move');
    expect(() => world.submit('move')).toThrow(expect.objectContaining({ reason: 'TASK_MANAGER_BUSY' }));
    expect((await turns(world, 'move')).length).toBe(4);
  });

  it('takes nothing while ends of tasks could no longer be kept', () => {
    const world = openTaskWorld({ limits: { maxRows: 10, reserve: 0.5 } });
    const submitted = () => world.submit('note', { executionMode: 'PARALLEL' });
    for (let i = 0; i < 5; i++) submitted();
    expect(submitted).toThrow(expect.objectContaining({ reason: 'TASK_MANAGER_BUSY' }));
  });

  it('does not hold up PARALLEL tasks', async () => {
    const world = openTaskWorld();
    for (let i = 0; i < 3; i++) world.submit('note', { executionMode: 'PARALLEL', queueKey: 'x' });
    await world.quiet();
    expect(world.runs.length).toBe(3);
  });

  it('refuses IMMEDIATE what its method would refuse to start now, for that reason', async () => {
    const world = openTaskWorld({ blocked: new Set(['move']), blockedFor: 'LOW_BATTERY' });
    expect(() => world.submit('move', { executionMode: 'IMMEDIATE' })).toThrow(
      expect.objectContaining({ reason: 'LOW_BATTERY', message: 'move cannot start' }),
    );
    expect(() => world.submit('move', {}, { legacy: true })).toThrow('move cannot start');
    await world.quiet();
    expect(world.events()).toEqual([]);
    // Whoever can wait is taken, and told when its turn comes.
    world.submit('move');
    await world.quiet();
    expect(world.story()).toEqual(['FAILED move LOW_BATTERY']);
  });

  it('lets go of what was kept for a task that is cancelled before it started', async () => {
    const world = openTaskWorld();
    world.submit('move', { priority: 10 });
    await world.quiet();
    const lead = world.submit('lead', { priority: 60, preemptPolicy: 'PREEMPT_LOWER' });
    const say = world.submit('say', { priority: 10 });
    await world.quiet();
    expect(world.tasks.getTask(say.taskId)?.state).toBe('PENDING');
    world.tasks.cancelTask(lead.taskId, 'CLOUD');
    await world.quiet();
    expect(world.tasks.getTask(say.taskId)?.state).toBe('STARTED');
  });

  it('takes IMMEDIATE what only waits for the stop of something that gives way to it', async () => {
    const blocked = new Set<string>();
    const world = openTaskWorld({ blocked });
    world.submit('purify');
    await world.quiet();
    blocked.add('move');
    world.submit('move', { executionMode: 'IMMEDIATE' });
    await world.quiet();
    blocked.delete('move');
    world.run('purify').proveStop();
    await world.quiet();
    expect(world.story()).toEqual(['STARTED purify', 'CANCELLED purify PREEMPTED', 'STARTED move']);
  });

  it('refuses IMMEDIATE what cannot start now, and names who is in the way', async () => {
    const world = openTaskWorld();
    const first = world.submit('move', { executionMode: 'IMMEDIATE' });
    try {
      world.submit('rotate', { executionMode: 'IMMEDIATE' });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
      expect(error).toMatchObject({ reason: 'RESOURCE_BUSY' });
      expect(String(error)).toContain(first.taskId);
    }
  });

  it('keeps any line in order, whatever comes and goes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ priority: fc.nat(100), at: fc.nat(100), remove: fc.boolean() })),
        (items) => {
          const line = new Line();
          const kept: Waiting[] = [];
          for (const [n, { priority, at, remove }] of items.entries()) {
            const waiting = { taskId: `t-${n}`, n, rank: rankOf(priority, at, 10) } as Waiting;
            line.add(waiting);
            kept.push(waiting);
            const victim = kept[n % 3];
            if (remove && victim !== undefined) {
              expect(line.remove(victim)).toBe(true);
              kept.splice(n % 3, 1);
            }
          }
          expect([...line]).toEqual(kept.sort(before));
          for (const waiting of kept) expect(line.has(waiting)).toBe(true);
        },
      ),
    );
  });
});

describe('leases', () => {
  it('belong to one task at a time, and end with it', async () => {
    const world = openTaskWorld();
    const a = world.submit('move');
    const b = world.submit('rotate');
    await world.quiet();
    expect(owner(world, 'motion')).toBe(a.taskId);
    expect(world.runs.map((r) => r.method)).toEqual(['move']);
    world.run('move').fail('OBSTRUCTED');
    await world.quiet();
    expect(owner(world, 'motion')).toBe(b.taskId);
    world.run('rotate').complete();
    await world.quiet();
    expect(owner(world, 'motion')).toBeNull();
  });

  it('carry tokens that grow with every grant, also over a restart', async () => {
    const world = openTaskWorld();
    const fences: number[] = [];
    for (let i = 0; i < 3; i++) {
      world.submit('move');
      await world.quiet();
      fences.push(world.run('move').context.fence('motion'));
      world.run('move').complete();
      await world.quiet();
    }
    world.submit('move');
    await world.quiet();
    const old = world.run('move').context.fence('motion');
    const after = await world.powerCut();
    await after.quiet();
    fences.push(old, after.run('move').context.fence('motion'));
    expect(fences).toEqual([1, 2, 3, 4, 5]);
  });

  it('give no token to a task that does not hold the resource', async () => {
    const world = openTaskWorld();
    world.submit('move');
    await world.quiet();
    const { context } = world.run('move');
    expect(() => context.fence('camera')).toThrow('does not hold camera');
    world.run('move').complete();
    await world.quiet();
    expect(() => context.fence('motion')).toThrow('does not hold motion');
  });

  it('can be shared where everyone agrees to share', async () => {
    const world = openTaskWorld();
    for (let i = 0; i < 2; i++) world.submit('look', { executionMode: 'PARALLEL' });
    world.submit('watch');
    await world.quiet();
    expect(world.runs.length).toBe(3);
  });

  it('do not let a guard, a live view and a measurement run at once', async () => {
    const world = openTaskWorld();
    world.submit('guard');
    world.submit('watch');
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['guard']);
    expect(() => world.submit('watch', { executionMode: 'IMMEDIATE' })).toThrow(
      expect.objectContaining({ reason: 'RESOURCE_BUSY' }),
    );
    world.run('guard').complete();
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['guard', 'watch']);
  });

  it('stop purifying in one place before the robot drives, and wait for the fan to stand still', async () => {
    const world = openTaskWorld();
    const purifying = world.submit('purify', { priority: 90 });
    await world.quiet();
    const moving = world.submit('move', { priority: 10 });
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['purify']);
    expect(world.run('purify').context.signal.aborted).toBe(true);
    expect(world.tasks.getTask(moving.taskId)?.state).toBe('PENDING');
    world.run('purify').proveStop();
    await world.quiet();
    expect(world.tasks.getTask(purifying.taskId)).toMatchObject({
      state: 'CANCELLED',
      reasonCode: 'PREEMPTED',
    });
    expect(world.tasks.getTask(moving.taskId)?.state).toBe('STARTED');
  });

  it('do not start purifying in one place while the robot drives', async () => {
    const world = openTaskWorld();
    world.submit('move');
    world.submit('purify');
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move']);
    world.run('move').complete();
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'purify']);
  });

  it('let a method that takes both drive and purify', async () => {
    const world = openTaskWorld();
    world.submit('patrol clean');
    await world.quiet();
    expect(owner(world, 'motion')).toBe(owner(world, 'fan'));
  });
});

describe('a task that needs several resources', () => {
  it('lets others use what is free, until it has waited long', async () => {
    const world = openTaskWorld({ taskLimits: { reserveAfterMs: 60_000 } });
    world.submit('move', { timeoutMs: 3_600_000 });
    world.submit('lead', { queueKey: 'show' });
    await world.clock.advanceAsync(10_000);
    world.submit('say', { timeoutMs: 3_600_000 });
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say']);
    await world.clock.advanceAsync(60_000);
    const patient = world.submit('say', { executionMode: 'PARALLEL' });
    world.run('say').complete();
    await world.quiet();
    expect(world.tasks.getTask(patient.taskId)?.state).toBe('PENDING');
    world.submit('say', { executionMode: 'PARALLEL' });
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say']);
    world.run('move').complete();
    await world.quiet();
    expect(world.runs.map((r) => r.method)).toEqual(['move', 'say', 'lead']);
    world.run('lead').complete();
    await world.quiet();
    expect(world.run('say').taskId).toBe(patient.taskId);
  });
});

describe('preemption', () => {
  it('stops a lower task, waits for its proof, and then takes its place', async () => {
    const world = openTaskWorld();
    const low = world.submit('move', { priority: 30 });
    await world.quiet();
    const high = world.submit('rotate', { priority: 70, preemptPolicy: 'PREEMPT_LOWER' });
    const between = world.submit('rotate', { priority: 40 });
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
    expect(world.tasks.getTask(high.taskId)?.state).toBe('PENDING');
    await world.clock.advanceAsync(800);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.events().find((e) => e.task_id === low.taskId && e.event === 'CANCELLED')).toMatchObject({
      reason_code: 'PREEMPTED',
      evidence: { stopped: true },
    });
    expect(owner(world, 'motion')).toBe(high.taskId);
    expect(world.tasks.getTask(between.taskId)?.state).toBe('PENDING');
  });

  it('stops nobody for a task that could not start even then', async () => {
    const world = openTaskWorld({ blocked: new Set(['rotate']), blockedFor: 'LOW_BATTERY' });
    const low = world.submit('move', { priority: 30 });
    const waiting = world.submit('move', { priority: 30 });
    await world.quiet();
    world.submit('rotate', { priority: 70, preemptPolicy: 'PREEMPT_LOWER' });
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'FAILED rotate LOW_BATTERY']);
    expect(world.run('move').context.signal.aborted).toBe(false);
    expect(owner(world, 'motion')).toBe(low.taskId);
    world.run('move').complete();
    await world.quiet();
    expect(owner(world, 'motion')).toBe(waiting.taskId);
  });

  it('takes none that would wait for somebody to release the e-stop', async () => {
    const world = openTaskWorld({ blocked: new Set(['rotate']), blockedFor: 'EMERGENCY_STOP' });
    expect(() => world.submit('rotate', { priority: 30 })).toThrow('rotate cannot start');
    await world.quiet();
    expect(world.story()).toEqual([]);
  });

  it('stops those in the way of a task whose condition their stop may bring about', async () => {
    const world = openTaskWorld({ blocked: new Set(['rotate']) });
    world.submit('move', { priority: 30 });
    await world.quiet();
    world.submit('rotate', { priority: 70, preemptPolicy: 'PREEMPT_LOWER' });
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
  });

  it('leaves equal and higher tasks alone', async () => {
    const world = openTaskWorld();
    world.submit('move', { priority: 70 });
    await world.quiet();
    world.submit('rotate', { priority: 70, preemptPolicy: 'PREEMPT_LOWER' });
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(false);
  });

  it('within the queue takes the place of an equal task', async () => {
    const world = openTaskWorld();
    world.submit('move', { priority: 70 });
    await world.quiet();
    world.submit('rotate', { priority: 70, preemptPolicy: 'PREEMPT_SAME_QUEUE' });
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
  });

  it('does not touch what was declared not cancellable', async () => {
    const world = openTaskWorld();
    world.submit('move', { priority: 0, cancellable: false });
    await world.quiet();
    world.submit('rotate', { priority: 100, preemptPolicy: 'PREEMPT_LOWER' });
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(false);
  });

  it('fails the preempted task, and goes on, when its stop is never proven', async () => {
    const world = openTaskWorld();
    world.submit('move', { priority: 0 });
    await world.quiet();
    world.submit('rotate', { priority: 100, preemptPolicy: 'PREEMPT_LOWER' });
    await world.clock.advanceAsync(3_000);
    await world.quiet();
    expect(world.story()).toEqual(['STARTED move', 'FAILED move HARDWARE_FAULT', 'STARTED rotate']);
    expect(world.cuts.length).toBe(1);
  });
});
