import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { OutboxPublisher } from '../../../daemon/cloud/publisher.js';
import { EventLog, type LogEntry, type LogRow } from '../../../simulator/cloud/event-log.js';
import { FakeLink, type Sent } from '../../support/fake-link.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';

const row = (seq: number, more: Partial<LogRow> = {}): LogRow => ({
  store_epoch: 'e-1',
  seq,
  idempotency_key: `t-${seq}:COMPLETED:1`,
  ...more,
});

function reader(options = {}) {
  const entries: LogEntry[] = [];
  const log = new EventLog((entry) => entries.push(entry), options);
  return { log, entries, shown: () => entries.map((e) => `${e.kind} ${e.row.store_epoch}:${e.row.seq}`) };
}

describe('a consumer that follows docs/consumer.md', () => {
  it('takes each row once, in order, whatever order they come in', () => {
    const { log, shown } = reader();
    for (const seq of [1, 3, 2, 2, 1, 5, 3, 4]) log.accept(row(seq));
    expect(shown()).toEqual([1, 2, 3, 4, 5].map((seq) => `event e-1:${seq}`));
    expect(log.repeats).toBe(3);
  });

  it('takes a tombstone in the place of its row, also when it comes behind others', () => {
    const { log, shown } = reader();
    log.accept(row(1));
    log.accept(row(3));
    log.accept(row(2, { event: 'DEAD_LETTERED' }));
    expect(shown()).toEqual(['event e-1:1', 'lost e-1:2', 'event e-1:3']);
  });

  it('takes the requeued event under its old key and new number, once', () => {
    const { log, shown } = reader();
    log.accept(row(1, { event: 'DEAD_LETTERED', idempotency_key: 'k' }));
    log.accept(row(2, { idempotency_key: 'k' }));
    log.accept(row(3, { idempotency_key: 'k' }));
    expect(shown()).toEqual(['lost e-1:1', 'event e-1:2']);
  });

  it('begins where it began to listen, and a later epoch at 1', () => {
    const { log, shown } = reader();
    log.accept(row(17));
    log.accept(row(2, { store_epoch: 'e-2', idempotency_key: 'b' }));
    expect(shown()).toEqual(['event e-1:17']);
    log.accept(row(1, { store_epoch: 'e-2', idempotency_key: 'a' }));
    log.accept(row(18));
    expect(shown()).toEqual(['event e-1:17', 'event e-2:1', 'event e-2:2', 'event e-1:18']);
  });

  it('gives a gap up that stays, says so, and goes on', () => {
    const { log, entries } = reader({ maxWaiting: 10 });
    log.accept(row(1));
    for (let seq = 4; seq <= 20; seq++) log.accept(row(seq));
    expect(log.skipped).toBe(2);
    expect(entries.map((e) => e.row.seq)).toEqual([1, ...Array.from({ length: 17 }, (_, i) => i + 4)]);
  });

  it('any delivery in which every row comes at least once gives exactly the log', () => {
    const delivery = fc.integer({ min: 1, max: 40 }).chain((rows) =>
      fc.tuple(
        fc.constant(rows),
        fc.shuffledSubarray(
          Array.from({ length: rows * 3 }, (_, i) => (i % rows) + 1),
          { minLength: rows * 3 },
        ),
      ),
    );
    fc.assert(
      fc.property(delivery, ([rows, order]) => {
        const { log, entries } = reader({ first: 1 });
        for (const seq of order) log.accept(row(seq));
        expect(entries.map((e) => e.row.seq)).toEqual(Array.from({ length: rows }, (_, i) => i + 1));
        expect(log.waiting).toBe(0);
      }),
    );
  });

  it('whenever the link breaks and whatever is refused, it ends with every event, or its loss, once and in order', async () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('append' as const), n: fc.integer({ min: 1, max: 9 }) }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('connect' as const), n: fc.constant(0) }) },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('arrive' as const), n: fc.integer({ min: 1, max: 9 }) }),
      },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('ack' as const), n: fc.nat(7) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), n: fc.nat(7) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), n: fc.nat(9) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const clock = new SimClock(1_790_000_000_000);
        const outbox = new MemoryOutbox();
        const link = new FakeLink();
        const options = {
          deviceId: 'da-test',
          window: 8,
          ackTimeoutMs: 15_000,
          maxPacketBytes: null,
          maxTries: 2,
          replay: { perS: null, burst: 10 },
        };
        const publisher = new OutboxPublisher({
          clock,
          networkClock: clock,
          outbox,
          link,
          log: SILENT_LOG,
          options,
        });
        const { log, entries } = reader({ first: 1 });
        let appended = 0;
        let wire: Sent[] = [];
        let here: Sent[] = [];
        link.onPublish = (sent) => wire.push(sent);
        // A refused packet never reaches the consumer; what was delivered and cut off before its PUBACK does.
        const arrive = (n: number) => here.push(...wire.splice(0, n));
        const acknowledge = (sent: Sent | undefined) => {
          if (sent === undefined) return;
          here = here.filter((other) => other !== sent);
          log.accept(JSON.parse(sent.payload));
          sent.answer({ kind: 'acknowledged' });
        };
        for (const { do: action, n } of steps) {
          const one = here[n % Math.max(1, here.length)];
          if (action === 'append') {
            outbox.add(n);
            appended += n;
          } else if (action === 'connect' && !link.up) link.connect();
          else if (action === 'arrive') arrive(n);
          // A broker works packets off in order.
          else if (action === 'ack') acknowledge(here[0]);
          else if (action === 'refuse' && one !== undefined && one === here[0]) {
            here.shift();
            one.answer({ kind: 'refused', code: 0x87, reason: 'no' });
            await clock.advanceAsync(50);
          } else if (action === 'cut' && link.up) {
            arrive(n);
            for (const sent of here) log.accept(JSON.parse(sent.payload));
            wire = [];
            here = [];
            link.disconnect();
          }
        }
        for (let i = 0; i < 200 && outbox.depth > 0; i++) {
          if (!link.up) link.connect();
          arrive(100);
          acknowledge(here[0]);
          if (here.length === 0 && wire.length === 0) await clock.advanceAsync(4000);
        }
        publisher.dispose();
        const dead = new Set(
          outbox.dead.filter((l) => !l.payload.includes('DEAD_LETTERED')).map((l) => l.seq),
        );
        const gone = new Set(
          outbox.dead.filter((l) => l.payload.includes('DEAD_LETTERED')).map((l) => l.seq),
        );
        if (gone.size > 0) return;
        expect(entries.map((e) => e.row.seq)).toEqual(Array.from({ length: appended }, (_, i) => i + 1));
        for (const { row: taken, kind } of entries) {
          // A row may have arrived on a connection that ended before it was refused on the next.
          if (kind === 'lost') expect(dead.has(taken.seq)).toBe(true);
        }
        expect(log.waiting).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
