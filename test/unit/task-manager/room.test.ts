/** Who gets in, and who comes before whom. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Source } from '../../../config/contracts/wire/events.js';
import { capsPerSource, loadPolicyConfig } from '../../../daemon/policy/load-policy.js';
import { DEFAULT_TASK_MANAGER_LIMITS } from '../../../daemon/task-manager/deps.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const from = (source: Source) => ({ source });
const state = (world: TaskWorld, taskId: string) => world.tasks.getTask(taskId)?.state;

describe('each source', () => {
  const caps = { CLOUD: { maxLive: 5, maxQueued: 3 } };

  it('has its own room, and is refused by the name of the cap it has used up', async () => {
    const world = openTaskWorld({ taskLimits: { perSource: caps } });
    for (let i = 0; i < 4; i++) world.submit('move');
    expect(() => world.submit('move')).toThrow(
      expect.objectContaining({
        reason: 'TASK_MANAGER_BUSY',
        message: expect.stringContaining('3 tasks of CLOUD are waiting (max_queued_tasks)'),
      }),
    );
    world.submit('move', {}, from('APP'));
    world.submit('move', {}, from('SCHEDULE'));
    await world.quiet();
    world.run('move').complete();
    await world.quiet();
    world.submit('move');
  });

  it('counts what runs, and gives room back with every end, also after a restart', async () => {
    const world = openTaskWorld({ taskLimits: { perSource: { CLOUD: { maxLive: 2, maxQueued: 2 } } } });
    const parallel = { executionMode: 'PARALLEL' } as const;
    world.submit('note', parallel);
    world.submit('set', parallel);
    expect(() => world.submit('note', parallel)).toThrow(/2 tasks of CLOUD are waiting or running/);
    await world.quiet();
    world.run('note').complete();
    await world.quiet();
    world.submit('note', parallel);
    await world.quiet();
    const after = await world.powerCut();
    await after.quiet();
    expect(() => after.submit('note', parallel)).not.toThrow();
    expect(() => after.submit('note', parallel)).toThrow(/max_live_tasks/);
  });

  it('is counted right when a submission is undone', async () => {
    const world = openTaskWorld({ taskLimits: { perSource: { CLOUD: { maxLive: 1, maxQueued: 1 } } } });
    world.store.faults.commitError = new Error('disk');
    world.submit('note');
    await world.quiet();
    world.store.faults.commitError = null;
    world.submit('note');
    await world.quiet();
    expect(world.runs.length).toBe(1);
  });

  it('never keeps a person out, whatever machines have filled', async () => {
    const world = openTaskWorld({ taskLimits: { maxQueued: 3, maxLive: 4 } });
    for (let i = 0; i < 4; i++) world.submit('move');
    expect(() => world.submit('move')).toThrow(/TASK_MANAGER_BUSY|no further task/);
    for (const source of ['LOCAL', 'APP', 'VOICE'] as const) world.submit('move', {}, from(source));
  });

  it('has caps in the policy that leave people room beside all machines together', () => {
    const caps = capsPerSource(loadPolicyConfig());
    const machines = (['CLOUD', 'SCHEDULE', 'PROACTIVE', 'SUPERVISOR'] as const).map(
      (source) => caps[source],
    );
    const sum = (key: 'maxLive' | 'maxQueued') => machines.reduce((total, cap) => total + cap[key], 0);
    expect(sum('maxLive')).toBeLessThan(DEFAULT_TASK_MANAGER_LIMITS.maxLive);
    expect(sum('maxQueued')).toBeLessThan(DEFAULT_TASK_MANAGER_LIMITS.maxQueued);
  });
});

describe('a stopping method', () => {
  it('acts on what runs also when there is no room for it as a task', async () => {
    const world = openTaskWorld({ taskLimits: { perSource: { VOICE: { maxLive: 1, maxQueued: 1 } } } });
    const move = world.submit('move');
    world.submit('note', {}, from('VOICE'));
    await world.quiet();
    expect(() => world.submit('stop move', {}, from('VOICE'))).toThrow(/max_live_tasks/);
    await world.quiet();
    expect(world.run('move').context.signal.aborted).toBe(true);
    world.run('move').proveStop();
    await world.quiet();
    expect(world.tasks.getTask(move.taskId)).toMatchObject({
      state: 'CANCELLED',
      reasonCode: 'CANCELLED_BY_USER',
    });
  });
});

describe('what a person asks for', () => {
  it('takes the place of what a machine is doing, which goes on afterwards', async () => {
    const world = openTaskWorld();
    const machine = world.submit('drive', { priority: 55 });
    world.submit('drive');
    await world.quiet();
    const person = world.submit('drive', {}, from('VOICE'));
    await world.quiet();
    world.run(machine.taskId).proveStop();
    await world.quiet();
    expect([state(world, machine.taskId), state(world, person.taskId)]).toEqual(['PAUSED', 'STARTED']);
    world.run(person.taskId).complete();
    await world.quiet();
    expect(state(world, machine.taskId)).toBe('STARTED');
  });

  it('waits for another person, for what is more urgent, and where it says so itself', async () => {
    for (const [first, second] of [
      [{ source: 'APP' }, {}],
      [{ source: 'CLOUD', priority: 80 }, {}],
      [{ source: 'CLOUD' }, { preemptPolicy: 'NONE' }],
    ] as const) {
      const world = openTaskWorld();
      const { source, ...task } = first;
      world.submit('drive', task, from(source));
      await world.quiet();
      const person = world.submit('drive', second, from('VOICE'));
      await world.quiet();
      expect(state(world, person.taskId)).toBe('PENDING');
    }
  });
});

describe('ageing', () => {
  it('gives the least of all its turn, however many more urgent ones keep coming', async () => {
    const world = openTaskWorld();
    const started = world.clock.now();
    const long = { timeoutMs: 3_600_000 };
    world.submit('move', { ...long, priority: 80 });
    const least = world.submit('move', { ...long, priority: 0 });
    let minutes = 0;
    for (; minutes < 120 && state(world, least.taskId) === 'PENDING'; minutes++) {
      // Always one more than what is done.
      world.submit('move', { ...long, priority: 80 });
      await world.clock.advanceAsync(60_000);
      await world.quiet();
      world.runs.find((run) => !run.over)?.complete();
      await world.quiet();
    }
    expect(state(world, least.taskId)).toBe('STARTED');
    // 80 points at 30 s each.
    expect(world.clock.now() - started).toBeLessThanOrEqual(42 * 60_000);
  });
});

describe('the board of leases', () => {
  it('says who holds what, under which token, and who waits for it and why', async () => {
    const world = openTaskWorld();
    const holder = world.submit('move');
    const next = world.submit('rotate', { priority: 60 });
    const last = world.submit('rotate');
    const lookers = [1, 2].map(() => world.submit('look', { executionMode: 'PARALLEL' }).taskId);
    await world.quiet();
    const board = new Map(world.tasks.leaseBoard().map((entry) => [entry.resource, entry]));
    expect(board.get('motion')).toMatchObject({
      owners: [holder.taskId],
      mode: 'exclusive',
      fence: 1,
      waitingCount: 2,
      waiting: [
        { taskId: next.taskId, method: 'rotate', priority: 60, why: expect.stringContaining(holder.taskId) },
        { taskId: last.taskId },
      ],
    });
    expect(board.get('camera')).toMatchObject({ owners: lookers, mode: 'shared', waiting: [] });
    expect(board.get('speaker')).toEqual({
      resource: 'speaker',
      owners: [],
      mode: null,
      fence: 0,
      waiting: [],
      waitingCount: 0,
    });
  });
});
