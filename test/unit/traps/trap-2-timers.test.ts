/**
 * Trap 2: timers of a state machine that never fire after a snapshot was restored. Here every wait of a workflow is a row:
 * whatever it waits for, and wherever the power goes, it ends when it would have ended.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkflowStep } from '../../../config/contracts/wire/workflow.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { isTerminal, openTaskWorld, type TaskWorld } from '../task-manager/task-world.js';

afterEach(removeTemporaryDirectories);

interface Wait {
  name: string;
  steps: Partial<WorkflowStep>[];
  /** Brings `step` into its wait. */
  enter(world: TaskWorld): Promise<void>;
  ms: number;
  /** What has been told once the time has come. */
  due: string;
}

const nothing = async () => {};
const fails = async (world: TaskWorld) => {
  world.run('move').fail('OBSTRUCTED', 'a chair');
  await world.quiet();
};

const WAITS: Wait[] = [
  {
    name: 'after_step',
    steps: [
      { step_id: 'a', method: 'note' },
      { step_id: 'step', method: 'say', after_step: { step_id: 'a', delay_ms: 60_000 } },
    ],
    enter: async (world) => {
      world.run('note').complete();
      await world.quiet();
    },
    ms: 60_000,
    due: 'WORKFLOW_STEP_STARTED step',
  },
  {
    name: 'the time-out of wait_until',
    steps: [
      { step_id: 'step', method: 'say', wait_until: { condition: 'context.never == 1', timeout_ms: 60_000 } },
    ],
    enter: nothing,
    ms: 60_000,
    due: 'FAILED step TIMEOUT',
  },
  {
    name: 'the back-off of a retry',
    steps: [{ step_id: 'step', method: 'move', retry: { max: 1, backoff_ms: 60_000 } }],
    enter: fails,
    ms: 60_000,
    due: 'WORKFLOW_STEP_STARTED step',
  },
  {
    name: 'the time for an amendment',
    steps: [{ step_id: 'step', method: 'move', failure_policy: 'REPLAN' }],
    enter: fails,
    ms: 300_000,
    due: 'FAILED wf-1 OBSTRUCTED',
  },
];

async function waiting({ steps, enter }: Wait): Promise<TaskWorld> {
  const world = openTaskWorld();
  world.submitWorkflow(steps);
  await world.quiet();
  await enter(world);
  await world.store.committed();
  return world;
}

const times = (world: TaskWorld, line: string) => world.story().filter((told) => told === line).length;
const ends = (world: TaskWorld) =>
  world.events().filter((e) => isTerminal(e) && e.task_id === null && e.step_id === null);

describe.each(WAITS)('trap 2: $name', (wait) => {
  it('fires after a restart, at its own time, once', async () => {
    const world = await waiting(wait);
    const before = times(world, wait.due);
    await world.clock.advanceAsync(wait.ms / 3);
    const after = await world.powerCut();
    await after.clock.advanceAsync((wait.ms * 2) / 3 - 1);
    expect(times(after, wait.due)).toBe(before);
    await after.clock.advanceAsync(1);
    await after.quiet();
    expect(times(after, wait.due)).toBe(before + 1);
    await after.clock.advanceAsync(2 * wait.ms);
    expect(times(after, wait.due)).toBe(before + 1);
    expect(ends(after).length).toBeLessThanOrEqual(1);
  });

  it('fires at once when its time came while the robot was off', async () => {
    const world = await waiting(wait);
    const before = times(world, wait.due);
    const file = world.file;
    await world.tasks.stop();
    await world.clock.advanceAsync(10 * wait.ms);
    const after = await world.powerCut({ file });
    await after.clock.advanceAsync(1);
    await after.quiet();
    expect(times(after, wait.due)).toBe(before + 1);
  });

  it('survives a restart while the workflow is paused, and fires after it goes on', async () => {
    const world = await waiting(wait);
    const before = times(world, wait.due);
    world.tasks.pauseWorkflow('wf-1');
    await world.store.committed();
    const paused = await world.powerCut();
    await paused.clock.advanceAsync(10 * wait.ms);
    await paused.quiet();
    expect(times(paused, wait.due), 'nothing starts or fails while it is paused').toBe(before);
    expect(paused.tasks.getWorkflow('wf-1')?.state).toBe('PAUSED');
    paused.tasks.resumeWorkflow('wf-1');
    await paused.store.committed();
    const after = await paused.powerCut();
    await after.clock.advanceAsync(wait.ms);
    await after.quiet();
    expect(times(after, wait.due)).toBe(before + 1);
  });
});
