import { afterEach, describe, expect, it } from 'vitest';
import { commandsFromCloud } from '../../../daemon/intake/from-cloud.js';
import type { Principal } from '../../../daemon/intake/types.js';
import { openStoreWorld, removeTemporaryDirectories } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

/** A gate that stores its answer, as the real one does. */
function gate() {
  const world = openStoreWorld();
  const callers: Principal[] = [];
  const handleBytes = (_payload: Uint8Array, _meta: object, caller: Principal): null => {
    callers.push(caller);
    world.store.write(() => world.outbox.appendResponse('command/response', { status: 'accepted' }));
    return null;
  };
  const handle = commandsFromCloud(() => ({ handleBytes, actAtArrival: () => null }), world.store);
  return {
    world,
    callers,
    handle: () => handle.onCommand(Buffer.from('{}'), { retained: false, stopActed: false }),
  };
}

describe('a command from the cloud', () => {
  it('is done with, and acknowledged to the broker, only once its answer is on disk', async () => {
    const { world, handle, callers } = gate();
    const commits = world.store.counters().commits ?? 0;
    await handle();
    expect(world.store.pending).toBe(false);
    expect(world.store.counters().commits).toBe(commits + 1);
    expect(callers).toEqual([{ source: 'CLOUD', name: 'mqtt' }]);
  });

  it('shares one commit with all that were taken in the same turn', async () => {
    const { world, handle } = gate();
    const commits = world.store.counters().commits ?? 0;
    await Promise.all([handle(), handle(), handle()]);
    expect(world.store.counters().commits).toBe(commits + 1);
    expect(world.outbox.stats().depth).toBe(3);
  });

  it('is not acknowledged when the disk refuses it: the broker delivers it again', async () => {
    const { world, handle } = gate();
    world.store.faults.commitError = new Error('disk');
    await expect(handle()).rejects.toThrow('disk');
    world.store.faults.commitError = null;
    await handle();
    expect(world.outbox.stats().depth).toBe(1);
  });
});
