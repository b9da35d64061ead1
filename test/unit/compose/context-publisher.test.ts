import { afterEach, describe, expect, it } from 'vitest';
import type { Cloud } from '../../../daemon/cloud/types.js';
import { createContextPublisher } from '../../../daemon/compose/context-publisher.js';
import type { OutboxRow } from '../../../daemon/store/outbox-types.js';
import { openStoreWorld, removeTemporaryDirectories } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

/** A publisher of contexts over a real outbox; `acknowledge` is the broker's PUBACK of one of its rows. */
function publisher() {
  const world = openStoreWorld();
  const listeners = new Set<(row: OutboxRow) => void>();
  const cloud: Pick<Cloud, 'onAcknowledged'> = {
    onAcknowledged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const publish = createContextPublisher({
    ...world,
    cloud: cloud as Cloud,
    context: () => ({ contract_version: 'device_context.v1' }),
  });
  const acknowledge = (row: OutboxRow) => {
    for (const listener of [...listeners]) listener(row);
  };
  return { world, publish, acknowledge, listening: () => listeners.size };
}

describe('a context that is asked for to be sent', () => {
  it('is sent once the broker has acknowledged it, not another context or another row', async () => {
    const { world, publish, acknowledge, listening } = publisher();
    world.outbox.appendTelemetry('context', null, (stamp) => stamp);
    world.outbox.appendOrdered('events/task', null, (stamp) => stamp);
    let sent: { ackedAtMs: number; bytes: number } | null = null;
    const done = publish.publish(new AbortController().signal).then((result) => {
      sent = result;
    });
    await world.store.committed();
    const [other, event, own] = world.outbox.peek(0, 10);
    if (other === undefined || event === undefined || own === undefined) throw new Error('three rows');
    acknowledge(other);
    acknowledge(event);
    await world.store.committed();
    expect(sent).toBeNull();
    world.clock.advance(700);
    acknowledge(own);
    await done;
    expect(sent).toEqual({ ackedAtMs: world.clock.now(), bytes: Buffer.byteLength(own.payload) });
    expect(listening()).toBe(0);
  });

  it('is waited for no longer once that is called off', async () => {
    const { publish, listening } = publisher();
    const abort = new AbortController();
    const done = publish.publish(abort.signal);
    abort.abort(new Error('called off'));
    await expect(done).rejects.toThrow('called off');
    expect(listening()).toBe(0);
  });
});
