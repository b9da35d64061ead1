import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  appendEvent,
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  type StoreWorld,
} from './store-world.js';

afterEach(removeTemporaryDirectories);

function keys(world: StoreWorld, afterId = 0, limit = 1000): (string | null)[] {
  return world.outbox.peek(afterId, limit).map((row) => row.idempotencyKey);
}

async function published(world: StoreWorld, limit = 1000): Promise<void> {
  for (const row of world.outbox.peek(0, limit)) world.outbox.acknowledged(row.id);
  await world.store.committed();
}

describe('the ordered lane', () => {
  it('numbers its rows without gaps, also when some of them are undone', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'a');
    expect(() =>
      world.store.write(() => {
        appendEvent(world, 'undone');
        throw new Error('no');
      }),
    ).toThrow();
    appendEvent(world, 'b');
    await world.store.committed();
    world.store.faults.commitError = new Error('disk');
    appendEvent(world, 'lost with its turn');
    await world.store.committed().catch(() => undefined);
    world.store.faults.commitError = null;
    appendEvent(world, 'c');
    await world.store.committed();
    expect(world.outbox.peek(0, 10).map((row) => [row.seq, row.idempotencyKey])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('stamps each row, and its payload says the same', async () => {
    const world = openStoreWorld();
    world.outbox.appendOrdered('events/observation', null, (stamp) => ({
      ...stamp,
      type: 'dock.stateChanged',
    }));
    await world.store.committed();
    const [row] = world.outbox.peek(0, 1);
    const payload = JSON.parse(row?.payload ?? '{}');
    expect(payload).toMatchObject({
      seq: 1,
      device_id: 'da-test',
      boot_id: 'b-1',
      store_epoch: world.store.epoch,
    });
    expect(payload.idempotency_key).toBe(payload.event_id);
    expect(row?.idempotencyKey).toBe(payload.event_id);
  });

  it('shows nobody a row before its commit, and tells of it once per commit', async () => {
    const world = openStoreWorld();
    let told = 0;
    world.outbox.onAppended(() => told++);
    appendEvent(world, 'a');
    appendEvent(world, 'b');
    expect(world.outbox.peek(0, 10)).toEqual([]);
    expect(world.outbox.recentEvents(0, 10)).toEqual([]);
    await world.store.committed();
    expect(told).toBe(1);
    expect(keys(world)).toEqual(['a', 'b']);
    await published(world);
    expect(told).toBe(1);
  });

  it('goes on numbering after a restart, and sends again what was not acknowledged', async () => {
    const world = openStoreWorld();
    for (const key of ['a', 'b', 'c']) appendEvent(world, key);
    await world.store.committed();
    const [first] = world.outbox.peek(0, 1);
    world.outbox.acknowledged(first?.id ?? 0);
    await world.store.committed();
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file), seed: 2 });
    appendEvent(after, 'd');
    await after.store.committed();
    expect(after.outbox.peek(0, 10).map((row) => [row.seq, row.idempotencyKey])).toEqual([
      [2, 'b'],
      [3, 'c'],
      [4, 'd'],
    ]);
  });

  it('takes acknowledgements in any order, and remembers them', async () => {
    const world = openStoreWorld();
    for (const key of ['a', 'b', 'c', 'd']) appendEvent(world, key);
    await world.store.committed();
    const ids = world.outbox.peek(0, 10).map((row) => row.id);
    world.outbox.acknowledged(ids[3] ?? 0);
    world.outbox.acknowledged(ids[1] ?? 0);
    world.outbox.acknowledged(ids[1] ?? 0);
    await world.store.committed();
    expect(keys(world)).toEqual(['a', 'c']);
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file) });
    expect(keys(after)).toEqual(['a', 'c']);
    after.outbox.acknowledged(ids[0] ?? 0);
    await after.store.committed();
    expect(keys(after)).toEqual(['c']);
    await published(after);
    expect(after.outbox.stats()).toMatchObject({ depth: 0, bytes: 0, publishedTotal: 4 });
    // Nothing is left to remember one by one.
    expect(after.store.db.prepare('SELECT acked_seq FROM outbox_state').pluck().get()).toBe(4);
  });

  it('keeps an acknowledgement whose commit failed for the next one', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'a');
    await world.store.committed();
    const [row] = world.outbox.peek(0, 1);
    world.store.faults.commitError = new Error('disk');
    world.outbox.acknowledged(row?.id ?? 0);
    await world.store.committed().catch(() => undefined);
    expect(world.outbox.stats().depth).toBe(1);
    world.store.faults.commitError = null;
    appendEvent(world, 'b');
    await world.store.committed();
    expect(keys(world)).toEqual(['b']);
  });

  it('keeps a bounded history of what was sent', async () => {
    const world = openStoreWorld({ limits: { historyRows: 50 } });
    for (let i = 1; i <= 1000; i++) appendEvent(world, `k${i}`);
    await world.store.committed();
    expect(world.outbox.recentEvents(0, 5).map((e) => e.seq)).toEqual([1, 2, 3, 4, 5]);
    await published(world);
    appendEvent(world, 'last');
    await world.store.committed();
    const recent = world.outbox.recentEvents(0, 2000);
    expect(recent.length).toBeLessThan(400);
    expect(recent.length).toBeGreaterThanOrEqual(51);
    expect(recent.at(-1)).toMatchObject({ seq: 1001, topic: 'events/task' });
    expect(world.outbox.recentEvents(1000, 10).map((e) => e.seq)).toEqual([1001]);
  });
});

describe('the other lanes', () => {
  it('share the order of appending, and leave when they are acknowledged', async () => {
    const world = openStoreWorld();
    world.outbox.appendResponse('command/response', { command_id: 'c-1' });
    appendEvent(world, 'a');
    world.outbox.appendTelemetry('context', 'context', (stamp) => ({ ...stamp }));
    world.outbox.appendResponse('command/response', { command_id: 'c-2' });
    await world.store.committed();
    const rows = world.outbox.peek(0, 10);
    expect(rows.map((row) => row.lane)).toEqual(['response', 'ordered', 'telemetry', 'response']);
    expect(world.outbox.peek(rows[1]?.id ?? 0, 1).map((row) => row.lane)).toEqual(['telemetry']);
    world.outbox.acknowledged(rows[0]?.id ?? 0);
    world.outbox.acknowledged(rows[2]?.id ?? 0);
    await world.store.committed();
    expect(world.outbox.peek(0, 10).map((row) => row.lane)).toEqual(['ordered', 'response']);
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file) });
    expect(after.outbox.peek(0, 10).map((row) => row.lane)).toEqual(['ordered', 'response']);
    expect(after.outbox.stats().depth).toBe(2);
  });

  it('compact telemetry of one subject, and count telemetry_seq without seq', async () => {
    const world = openStoreWorld();
    for (let i = 0; i < 5; i++) {
      world.outbox.appendTelemetry('events/task', 'progress:t-1', (stamp) => ({ ...stamp, i }));
    }
    world.outbox.appendTelemetry('events/task', 'progress:t-2', (stamp) => ({ ...stamp, i: 9 }));
    await world.store.committed();
    const payloads = world.outbox.peek(0, 10).map((row) => JSON.parse(row.payload));
    expect(payloads.map((p) => [p.i, p.telemetry_seq, p.seq])).toEqual([
      [4, 5, undefined],
      [9, 6, undefined],
    ]);
    expect(world.outbox.stats()).toMatchObject({ nextSeq: 1, depth: 2, droppedTelemetryTotal: 0 });
    expect(world.outbox.counters().compacted_telemetry_total).toBe(4);
  });

  it('drop the oldest telemetry first when there is too much, and count it', async () => {
    const world = openStoreWorld({ limits: { maxTelemetryRows: 3 } });
    for (let i = 0; i < 5; i++) world.outbox.appendTelemetry('context', null, (stamp) => ({ ...stamp, i }));
    await world.store.committed();
    expect(world.outbox.peek(0, 10).map((row) => JSON.parse(row.payload).i)).toEqual([2, 3, 4]);
    expect(world.outbox.stats().droppedTelemetryTotal).toBe(2);
  });
});

describe('a full outbox', () => {
  const limits = { maxRows: 100, reserve: 0.2, maxTelemetryRows: 50 };

  it('refuses new work while there is still room for the end of what was accepted', async () => {
    const world = openStoreWorld({ limits });
    for (let i = 0; i < 80; i++) appendEvent(world, `k${i}`);
    expect(world.outbox.hasRoom()).toBe(false);
    for (let i = 0; i < 15; i++) appendEvent(world, `end ${i}`);
    await world.store.committed();
    expect(world.outbox.stats().depth).toBe(95);
    await published(world, 50);
    expect(world.outbox.hasRoom()).toBe(true);
  });

  it('drops telemetry, then misses what may be missed without a gap, and never an end of a task', async () => {
    const world = openStoreWorld({ limits });
    for (let i = 0; i < 10; i++) world.outbox.appendTelemetry('context', null, (stamp) => ({ ...stamp }));
    for (let i = 0; i < 100; i++) appendEvent(world, `k${i}`);
    world.outbox.appendTelemetry('context', null, (stamp) => ({ ...stamp }));
    world.outbox.appendOrdered('events/observation', null, (stamp) => ({ ...stamp }), { droppable: true });
    appendEvent(world, 'COMPLETED');
    await world.store.committed();
    const rows = world.outbox.peek(0, 1000);
    expect(rows.filter((row) => row.lane === 'telemetry')).toEqual([]);
    expect(rows.at(-1)).toMatchObject({ seq: 101, idempotencyKey: 'COMPLETED' });
    expect(world.outbox.counters()).toMatchObject({ dropped_ordered_total: 1, dropped_telemetry_total: 11 });
  });

  it('counts bytes as well as rows', () => {
    const world = openStoreWorld({ limits: { maxBytes: 10_000, reserve: 0.1 } });
    appendEvent(world, 'big', 9_000);
    expect(world.outbox.hasRoom()).toBe(false);
  });
});

describe('rows that a publisher takes as they come', () => {
  it('are given once each, in order, also when more come than are kept at hand', async () => {
    const world = openStoreWorld();
    let cursor = 0;
    const taken: string[] = [];
    const take = (limit: number) => {
      for (const row of world.outbox.peek(cursor, limit, 'ordered')) {
        cursor = row.id;
        taken.push(row.idempotencyKey ?? '');
      }
    };
    let n = 0;
    for (const [appended, limit] of [
      [3, 10],
      [5, 2],
      [1, 10],
      [6_000, 256],
      [2, 10_000],
      [4, 10],
    ] as const) {
      for (let i = 0; i < appended; i++) appendEvent(world, `k${n++}`);
      await world.store.committed();
      take(limit);
    }
    expect(taken).toEqual(Array.from({ length: n }, (_, i) => `k${i}`));
    await quiet(world.store);
  });

  it('are not given once they were replaced, whether before or after their commit', async () => {
    const world = openStoreWorld();
    const append = (n: number) => world.outbox.appendTelemetry('context', 'c', (stamp) => ({ ...stamp, n }));
    const given = () => world.outbox.peek(0, 10, 'telemetry').map((row) => JSON.parse(row.payload).n);
    expect(given()).toEqual([]);
    append(1);
    append(2);
    await world.store.committed();
    expect(given()).toEqual([2]);
    const [row] = world.outbox.peek(0, 10);
    world.outbox.acknowledged(row?.id ?? 0);
    await world.store.committed();
    expect(given()).toEqual([]);
    append(3);
    await world.store.committed();
    append(4);
    await world.store.committed();
    expect(given()).toEqual([4]);
  });
});

describe('dead letters', () => {
  async function withDeadLetter() {
    const world = openStoreWorld();
    for (const key of ['a', 'b', 'c']) appendEvent(world, key);
    await world.store.committed();
    const row = world.outbox.peek(0, 10)[1];
    expect(world.outbox.countAttempt(row?.id ?? 0)).toBe(1);
    expect(world.outbox.countAttempt(row?.id ?? 0)).toBe(2);
    world.outbox.deadLetter(row?.id ?? 0, 'refused: 0x97 quota exceeded');
    await world.store.committed();
    return { world, id: row?.id ?? 0 };
  }

  it('leave a tombstone under the same seq and key, at the same place', async () => {
    const { world, id } = await withDeadLetter();
    const [tombstone] = world.outbox.peek(id - 1, 1);
    expect(tombstone).toMatchObject({ id, seq: 2, idempotencyKey: 'b', attempts: 0 });
    expect(JSON.parse(tombstone?.payload ?? '')).toMatchObject({
      event: 'DEAD_LETTERED',
      seq: 2,
      idempotency_key: 'b',
      reason: 'refused: 0x97 quota exceeded',
      contract_version: 'device-task-event.v1',
    });
    expect(keys(world)).toEqual(['a', 'b', 'c']);
    expect(world.outbox.deadLetters(10)).toMatchObject([{ seq: 2, attempts: 2, topic: 'events/task' }]);
    expect(world.outbox.stats().deadLetters).toBe(1);
  });

  it('take their old place when they are requeued before the tombstone was sent', async () => {
    const { world } = await withDeadLetter();
    const [letter] = world.outbox.deadLetters(1);
    expect(world.outbox.requeue(letter?.id ?? 0)).toBe(true);
    await world.store.committed();
    const rows = world.outbox.peek(0, 10);
    expect(rows.map((row) => row.seq)).toEqual([1, 2, 3]);
    expect(JSON.parse(rows[1]?.payload ?? '').event).toBeUndefined();
    expect(world.outbox.deadLetters(1)).toEqual([]);
  });

  it('get a new seq, and keep their key, when they are requeued after it', async () => {
    const { world } = await withDeadLetter();
    await published(world);
    const [letter] = world.outbox.deadLetters(1);
    world.outbox.requeue(letter?.id ?? 0);
    await world.store.committed();
    const [row] = world.outbox.peek(0, 10);
    expect(row).toMatchObject({ seq: 4, idempotencyKey: 'b' });
    expect(JSON.parse(row?.payload ?? '').seq).toBe(4);
    expect(world.outbox.requeue(letter?.id ?? 0)).toBe(false);
  });

  it('can be dropped, and only once', async () => {
    const { world } = await withDeadLetter();
    const [letter] = world.outbox.deadLetters(1);
    expect(world.outbox.drop(letter?.id ?? 0)).toBe(true);
    expect(world.outbox.drop(letter?.id ?? 0)).toBe(false);
    expect(world.outbox.stats().deadLetters).toBe(0);
  });

  it('keep answers to commands as well, without a tombstone', async () => {
    const world = openStoreWorld();
    world.outbox.appendResponse('command/response', { command_id: 'c-1' });
    await world.store.committed();
    world.outbox.deadLetter(world.outbox.peek(0, 1)[0]?.id ?? 0, 'too large');
    await world.store.committed();
    expect(world.outbox.peek(0, 1)).toEqual([]);
    const [letter] = world.outbox.deadLetters(1);
    world.outbox.requeue(letter?.id ?? 0);
    await world.store.committed();
    expect(world.outbox.peek(0, 1)[0]?.payload).toBe('{"command_id":"c-1"}');
  });

  it('keep new work out when too many wait for a person', () => {
    const world = openStoreWorld({ limits: { maxDeadRows: 1 } });
    world.outbox.appendResponse('command/response', {});
    world.store.touch();
    world.outbox.deadLetter(1, 'x');
    expect(world.outbox.hasRoom()).toBe(false);
  });
});

type Action =
  | { do: 'append'; lane: 'ordered' | 'response' | 'telemetry' }
  | { do: 'undone' }
  | { do: 'commit' }
  | { do: 'fail' }
  | { do: 'send'; count: number }
  | { do: 'ack'; pick: number }
  | { do: 'refuse'; pick: number }
  | { do: 'linkDown' }
  | { do: 'powerCut' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('append' as const), lane: fc.constant('ordered' as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      lane: fc.constantFrom('response' as const, 'telemetry' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'undone' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'commit' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'fail' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('ack' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'linkDown' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'powerCut' as const }) },
);

/** The payloads that a publisher has to get, straight from the tables. */
function inDatabase(world: StoreWorld, afterId: number, limit: number): unknown[] {
  return world.store.db
    .prepare(
      `SELECT payload FROM (
         SELECT id, payload FROM outbox_ordered WHERE acked = 0 AND seq > (SELECT acked_seq FROM outbox_state)
         UNION ALL SELECT id, payload FROM outbox_responses
         UNION ALL SELECT id, payload FROM outbox_telemetry)
       WHERE id > ? ORDER BY id LIMIT ?`,
    )
    .pluck()
    .all(afterId, limit);
}

describe('whatever happens in whatever order', () => {
  it('every committed event arrives in order of seq, without a gap, under one key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (actions) => {
        let world = openStoreWorld({ limits: { historyRows: 5 } });
        let n = 0;
        let cursor = 0;
        /** Sent over the link that is up now, and not acknowledged yet. */
        let inFlight: number[] = [];
        let uncommitted: string[] = [];
        const promised: string[] = [];
        const received = new Map<number, string>();
        let highest = 0;
        const receive = (limit: number) => {
          const rows = world.outbox.peek(cursor, limit);
          if (!world.store.pending)
            expect(rows.map((row) => row.payload)).toEqual(inDatabase(world, cursor, limit));
          for (const row of rows) {
            cursor = row.id;
            inFlight.push(row.id);
            if (row.seq === null || row.idempotencyKey === null) continue;
            // New ones come in order; what comes again comes under its old number.
            if (row.seq > highest) expect(row.seq).toBe(highest + 1);
            highest = Math.max(highest, row.seq);
            const known = received.get(row.seq);
            if (known !== undefined) expect(row.idempotencyKey).toBe(known);
            received.set(row.seq, row.idempotencyKey);
          }
        };
        const commit = async (fails: boolean) => {
          world.store.faults.commitError = fails ? new Error('disk') : null;
          await world.store.committed().catch(() => undefined);
          world.store.faults.commitError = null;
          if (!fails) promised.push(...uncommitted);
          uncommitted = [];
        };
        for (const a of actions) {
          if (a.do === 'append' && a.lane === 'ordered') {
            const key = `k${n++}`;
            appendEvent(world, key);
            uncommitted.push(key);
          } else if (a.do === 'append' && a.lane === 'response')
            world.outbox.appendResponse('command/response', {});
          else if (a.do === 'append')
            world.outbox.appendTelemetry('context', `c${n % 2}`, (stamp) => ({ ...stamp }));
          else if (a.do === 'undone') {
            expect(() =>
              world.store.write(() => {
                appendEvent(world, `undone ${n++}`);
                throw new Error('no');
              }),
            ).toThrow();
          } else if (a.do === 'commit') await commit(false);
          else if (a.do === 'fail' && world.store.pending) await commit(true);
          else if (a.do === 'send') receive(a.count);
          else if (a.do === 'ack') {
            const [id] = inFlight.splice(a.pick % Math.max(1, inFlight.length), 1);
            if (id !== undefined) world.outbox.acknowledged(id);
          } else if (a.do === 'refuse') {
            const [id] = inFlight.splice(a.pick % Math.max(1, inFlight.length), 1);
            if (id !== undefined) world.outbox.deadLetter(id, 'refused');
          } else if (a.do === 'linkDown') {
            cursor = Math.min(cursor, ...inFlight.map((id) => id - 1));
            inFlight = [];
          } else if (a.do === 'powerCut') {
            world = openStoreWorld({
              file: filesAfterPowerCut(world.file),
              seed: n + 2,
              limits: { historyRows: 5 },
            });
            cursor = 0;
            inFlight = [];
            uncommitted = [];
          }
        }
        await commit(false);
        // The link is made anew and drains.
        cursor = 0;
        inFlight = [];
        while (world.outbox.peek(cursor, 1).length > 0) receive(7);
        for (const id of inFlight) world.outbox.acknowledged(id);
        await quiet(world.store);
        expect([...received.values()]).toEqual(promised);
        expect([...received.keys()]).toEqual(promised.map((_key, i) => i + 1));
        expect(world.outbox.stats()).toMatchObject({ depth: 0, bytes: 0, nextSeq: promised.length + 1 });
        world.store.close();
      }),
      { numRuns: 60 },
    );
  });
});
