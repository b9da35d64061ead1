/** Steps that end while their workflow is already ending are taken back like those that had ended before. */
import { afterEach, describe, expect, it } from 'vitest';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { complete, isTerminal, openTaskWorld, type TaskWorld } from './task-world.js';

afterEach(removeTemporaryDirectories);

const undo = (of: string) => ({ method: 'note', params: { undo: of } });
const ends = (world: TaskWorld) => world.events().filter((e) => isTerminal(e) && e.task_id === null);
const undone = (world: TaskWorld) =>
  world.runs.filter((r) => r.method === 'note').map((r) => r.context.params.undo);

describe('a step that ends while its workflow is ending', () => {
  it('is taken back when it completes although it was to stop, before those that ended earlier', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'set', compensation: undo('a') },
      { step_id: 'b', method: 'move', compensation: undo('b') },
    ]);
    await complete(world, 'set');
    world.tasks.cancelWorkflow('wf-1', 'USER');
    world.run('move').complete();
    await world.quiet();
    expect(undone(world)).toEqual(['b']);
    await complete(world, 'note');
    await complete(world, 'note');
    expect(undone(world)).toEqual(['b', 'a']);
    expect(ends(world)).toHaveLength(1);
  });

  it('is taken back when a restart cuts it short, too, and not only the first of them', async () => {
    const world = openTaskWorld();
    world.submitWorkflow([
      { step_id: 'a', method: 'rotate', compensation: undo('a') },
      { step_id: 'b', method: 'say', compensation: undo('b') },
    ]);
    await world.quiet();
    await world.store.committed();
    const after = await world.powerCut();
    await complete(after, 'note');
    await complete(after, 'note');
    expect(undone(after).sort()).toEqual(['a', 'b']);
    expect(ends(after)).toMatchObject([{ event: 'FAILED', reason_code: 'RESTARTED' }]);
  });

  it.each<[string, { on_cancel?: 'NONE' }]>([
    ['was stopped with proof', {}],
    ['completes, and nothing is to be taken back', { on_cancel: 'NONE' }],
  ])('is not taken back when it %s', async (_, more) => {
    const world = openTaskWorld();
    world.submitWorkflow([{ step_id: 'b', method: 'move', compensation: undo('b') }], more);
    await world.quiet();
    world.tasks.cancelWorkflow('wf-1', 'USER');
    if (more.on_cancel === 'NONE') world.run('move').complete();
    else world.run('move').proveStop();
    await world.quiet();
    expect(undone(world)).toEqual([]);
    expect(ends(world)).toMatchObject([{ event: 'CANCELLED' }]);
  });
});
