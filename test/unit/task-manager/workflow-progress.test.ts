/** What PROGRESS of a workflow says, and how often. */
import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const told = (world: TaskWorld) => world.told.filter((e) => e.domain_stage === 'workflow.progress');

describe('the progress of a workflow', () => {
  it('says what is done, what runs and what is waited for, and for whom it is taking back', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: { method: 'note' } },
      { step_id: 'b', method: 'move', depends_on: ['a'] },
      { step_id: 'c', method: 'say', after_step: { step_id: 'a', delay_ms: 60_000 } },
      { step_id: 'd', method: 'note', depends_on: ['b', 'c'] },
    ]);
    await complete(world, 'set');
    await world.clock.advanceAsync(500);
    expect(told(world).at(-1)).toMatchObject({
      workflow_id: 'wf-1',
      task_id: null,
      step_id: null,
      progress: {
        state: 'RUNNING',
        steps_done: 1,
        steps_total: 4,
        running: ['b'],
        waiting: [{ step_id: 'c', hold: 'delay', waiting_for: '60000 ms after the end of a' }],
        taking_back: [],
      },
    });
    world.run('move').fail('OBSTRUCTED', 'a chair');
    await world.quiet();
    await world.clock.advanceAsync(500);
    expect(told(world).at(-1)?.progress).toMatchObject({
      state: 'CANCELLING',
      running: [],
      waiting: [],
      taking_back: ['a'],
    });
  });

  it('comes at most twice a second, and not after the end', async () => {
    const world = openTaskWorld();
    const heard: number[] = [];
    world.tasks.onEvent((e) => {
      if (e.domain_stage === 'workflow.progress') heard.push(world.clock.now());
    });
    const steps = Array.from({ length: 40 }, (_, i) => ({ step_id: `s${i}`, method: 'note' }));
    world.submitWorkflow(steps);
    const began = world.clock.now();
    for (let i = 0; i < steps.length; i++) {
      await complete(world, 'note');
      await world.clock.advanceAsync(100);
    }
    expect(heard.length).toBeGreaterThan(4);
    expect(heard.length).toBeLessThanOrEqual((2 * (world.clock.now() - began)) / 1000 + 1);
    expect(world.story().at(-1)).toBe('COMPLETED wf-1');
    const before = heard.length;
    await world.clock.advanceAsync(10_000);
    expect(heard.length).toBe(before);
  });
});
