/** Trap 4, its first part: remaining steps running after a failed one. Nothing does, unless the policy says so. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld, type TaskWorld } from '../task-manager/task-world.js';

afterEach(removeTemporaryDirectories);

/** One of everything that can be under way or ahead when `bad` fails. */
const STEPS: Partial<WorkflowStep>[] = [
  { step_id: 'bad', method: 'say' },
  { step_id: 'later', method: 'note', depends_on: ['bad'] },
  { step_id: 'running', method: 'move' },
  { step_id: 'queued', method: 'rotate' },
  { step_id: 'queued_too', method: 'lead' },
  { step_id: 'delayed', method: 'set', after_step: { step_id: 'bad', delay_ms: 5_000 } },
  { step_id: 'awaiting', method: 'set', wait_until: { condition: 'context.go == 1', timeout_ms: 600_000 } },
];

async function failing(policy: NonNullable<WorkflowStep['failure_policy']>): Promise<TaskWorld> {
  const world = openTaskWorld();
  world.submitWorkflow(STEPS.map((s) => (s.step_id === 'bad' ? { ...s, failure_policy: policy } : s)));
  await world.quiet();
  return world;
}

async function fail(world: TaskWorld): Promise<void> {
  world.run('say').fail('CAPABILITY_UNAVAILABLE', 'no speaker');
  await world.quiet();
}

/** Everything that could set something off again: facts, time, a free lease. */
async function tempt(world: TaskWorld): Promise<void> {
  world.setContext({ go: 1 });
  await world.clock.advanceAsync(60_000);
  await world.quiet();
}

const startsAfterTheFailure = (world: TaskWorld) => {
  const events = world.events();
  const at = events.findIndex((e) => e.event === 'FAILED' && e.method === 'say');
  return events.slice(at + 1).filter((e) => e.event === 'STARTED' || e.event === 'WORKFLOW_STEP_STARTED');
};

describe('trap 4: after a failed step', () => {
  it.each(['ABORT', 'COMPENSATE'] as const)('nothing starts any more (%s)', async (policy) => {
    const world = await failing(policy);
    await fail(world);
    expect(world.run('move').context.signal.aborted, 'what runs is stopped').toBe(true);
    world.setContext({ go: 1 });
    await world.quiet();
    world.run('move').proveStop();
    await world.quiet();
    await tempt(world);
    expect(startsAfterTheFailure(world)).toEqual([]);
    expect(world.story().at(-1)).toBe('FAILED wf-1 CAPABILITY_UNAVAILABLE');
  });

  it('nothing starts when the lease becomes free in the very moment of the failure', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'bad', method: 'move' },
      { step_id: 'queued', method: 'rotate' },
      { step_id: 'queued_too', method: 'lead' },
    ]);
    await world.quiet();
    world.run('move').fail('OBSTRUCTED', 'a chair');
    await world.quiet();
    await tempt(world);
    expect(world.runs.map((r) => r.method)).toEqual(['move']);
    const started = world.story().filter((line) => line.startsWith('STARTED'));
    expect(started).toEqual(['STARTED move']);
    expect(world.story().at(-1)).toBe('FAILED wf-1 OBSTRUCTED');
  });

  it('nothing starts before the amendment that REPLAN waits for', async () => {
    const world = await failing('REPLAN');
    await fail(world);
    world.run('move').complete();
    await world.quiet();
    await tempt(world);
    expect(startsAfterTheFailure(world)).toEqual([]);
    expect(world.tasks.getWorkflow('wf-1')?.state).toBe('RUNNING');
  });

  it('the rest goes on when the policy is CONTINUE', async () => {
    const world = await failing('CONTINUE');
    await fail(world);
    expect(startsAfterTheFailure(world).map((e) => e.step_id)).toContain('later');
  });

  it('nothing starts after a restart either, wherever it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(6), fc.boolean(), async (turns, proven) => {
        const world = await failing('ABORT');
        await world.store.committed();
        world.run('say').fail('CAPABILITY_UNAVAILABLE', 'no speaker');
        for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
        if (proven && turns > 3) world.run('move').proveStop();
        const after = await world.powerCut();
        await after.quiet();
        await tempt(after);
        const failed = after.story().findIndex((line) => line.startsWith('FAILED say'));
        expect(failed).toBeGreaterThanOrEqual(0);
        expect(
          after
            .story()
            .slice(failed)
            .filter((line) => line.startsWith('STARTED')),
        ).toEqual([]);
        const ends = after.events().filter((e) => isTerminal(e) && e.task_id === null && e.step_id === null);
        expect(ends).toHaveLength(1);
        removeTemporaryDirectories();
      }),
      { numRuns: 20 },
    );
  });
});
