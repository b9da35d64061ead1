import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { OutboxPublisher } from '../../../daemon/cloud/publisher.js';
import type { ReplayRate } from '../../../daemon/cloud/replay-pace.js';
import { FakeLink, type Sent } from '../../support/fake-link.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';

const WINDOW = 8;
const ACK_TIMEOUT_MS = 15_000;

describe('the publisher that drains the outbox', () => {
  let clock: SimClock;
  let outbox: MemoryOutbox;
  let link: FakeLink;
  let publisher: OutboxPublisher;

  const build = (
    options: { maxPacketBytes?: number; wall?: () => number; replay?: ReplayRate; window?: number } = {},
  ) => {
    clock = new SimClock(1_790_000_000_000, options.wall);
    outbox = new MemoryOutbox();
    outbox.now = () => clock.now();
    link = new FakeLink();
    publisher = new OutboxPublisher({
      clock,
      networkClock: clock,
      outbox,
      link,
      log: SILENT_LOG,
      options: {
        deviceId: 'da-test',
        window: options.window ?? WINDOW,
        ackTimeoutMs: ACK_TIMEOUT_MS,
        maxPacketBytes: options.maxPacketBytes ?? null,
        maxTries: 3,
        replay: options.replay ?? { perS: null, burst: 10 },
      },
    });
  };
  beforeEach(() => build());

  it('sends in the order of the outbox and removes a row only after its PUBACK', () => {
    outbox.add(3);
    link.connect();
    expect(link.seqs()).toEqual([1, 2, 3]);
    expect(outbox.depth).toBe(3);
    link.acknowledge(1);
    expect(outbox.acknowledgedIds).toEqual([1]);
    expect(outbox.depth).toBe(2);
  });

  it('sends rows appended while connected at once', () => {
    link.connect();
    outbox.add(1);
    expect(link.seqs()).toEqual([1]);
  });

  it('sends nothing while disconnected', () => {
    outbox.add(5);
    expect(link.arrived).toEqual([]);
    link.connect();
    link.disconnect();
    outbox.add(5);
    expect(link.arrived).toHaveLength(5);
  });

  it('keeps no more rows under way than the window', () => {
    outbox.add(50);
    link.connect();
    expect(link.waiting).toHaveLength(WINDOW);
    link.acknowledge(3);
    expect(link.waiting).toHaveLength(WINDOW);
    expect(link.seqs()).toEqual(Array.from({ length: WINDOW + 3 }, (_, i) => i + 1));
    expect(publisher.inFlight()).toBe(WINDOW);
  });

  it("keeps within the broker's receive maximum, leaving one place for the session itself", () => {
    link.limits = { receiveMaximum: 4, maximumPacketBytes: null };
    outbox.add(50);
    link.connect();
    expect(link.waiting).toHaveLength(3);
  });

  it('goes back to the oldest row without PUBACK after a lost connection, and says that it repeats', () => {
    outbox.add(20);
    link.connect();
    link.acknowledge(2);
    link.disconnect();
    const before = link.arrived.length;
    link.connect();
    const again = link.arrived.slice(before);
    expect(link.seqs(again)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(again.every((sent) => sent.dup)).toBe(true);
    link.acknowledge(1);
    expect(link.arrived.at(-1)).toMatchObject({ dup: false });
  });

  it('does not let rows appended during an outage overtake older ones', () => {
    outbox.add(3);
    link.connect();
    link.disconnect();
    outbox.add(2);
    link.connect();
    expect(link.seqs().slice(3)).toEqual([1, 2, 3, 4, 5]);
  });

  it('ignores an answer that belongs to an earlier connection', () => {
    outbox.add(1);
    link.connect();
    const old = link.waiting[0];
    link.disconnect();
    link.connect();
    old?.answer({ kind: 'acknowledged' });
    expect(outbox.depth).toBe(1);
  });

  describe('a row that the broker refuses', () => {
    const refuseSeq = (seq: number, code: number) => {
      link.onPublish = (sent) => {
        const payload = JSON.parse(sent.payload);
        if (payload.seq === seq && payload.event !== 'DEAD_LETTERED')
          queueMicrotask(() => sent.answer({ kind: 'refused', code, reason: 'Publish error' }));
        else {
          link.arrived.push(sent);
          queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
        }
      };
    };

    it('goes to the dead letters after a bounded number of tries, and the rows behind it go on', async () => {
      refuseSeq(2, 0x87);
      outbox.add(30);
      link.connect();
      await clock.advanceAsync(5000);
      expect(outbox.dead).toMatchObject([{ seq: 2, attempts: 3, reason: expect.stringContaining('0x87') }]);
      expect(outbox.depth).toBe(0);
      expect([...link.seqs()].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
    });

    it('leaves a tombstone under the same seq', async () => {
      refuseSeq(2, 0x87);
      outbox.add(3);
      link.connect();
      await clock.advanceAsync(5000);
      const tombstone = link.arrived.find((sent) => JSON.parse(sent.payload).event === 'DEAD_LETTERED');
      expect(JSON.parse(tombstone?.payload ?? '{}')).toMatchObject({ seq: 2, reason: expect.any(String) });
    });

    it('is tried again with growing pauses when the reason may pass', async () => {
      refuseSeq(1, 0x83);
      outbox.add(1);
      link.connect();
      await clock.advanceAsync(199);
      expect(outbox.dead).toEqual([]);
      await clock.advanceAsync(500);
      expect(outbox.dead).toHaveLength(1);
    });

    it('is never given up while the broker only says that a quota is exceeded', async () => {
      refuseSeq(1, 0x97);
      outbox.add(2);
      link.connect();
      await clock.advanceAsync(3_600_000);
      expect(outbox.dead).toEqual([]);
      refuseSeq(0, 0);
      await clock.advanceAsync(60_000);
      expect(link.seqs().slice(-1)).toEqual([1]);
      expect(outbox.depth).toBe(0);
    });

    it('does not stop the others when a whole topic is forbidden', async () => {
      link.onPublish = (sent) => {
        const payload = JSON.parse(sent.payload);
        const refused = payload.seq % 2 === 0 && payload.event !== 'DEAD_LETTERED';
        if (!refused) link.arrived.push(sent);
        queueMicrotask(() =>
          sent.answer(
            refused ? { kind: 'refused', code: 0x87, reason: 'Not authorized' } : { kind: 'acknowledged' },
          ),
        );
      };
      outbox.add(100);
      link.connect();
      await clock.advanceAsync(60_000);
      expect(outbox.depth).toBe(0);
      expect(outbox.dead.map((d) => d.seq)).toEqual(Array.from({ length: 50 }, (_, i) => 2 * i + 2));
    });
  });

  it('moves a row that is larger than the broker allows to the dead letters without sending it, in its place', () => {
    build({ maxPacketBytes: 2000 });
    link.onPublish = (sent) => {
      link.arrived.push(sent);
      queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
    };
    outbox.add(5, (seq) => ({ text: seq === 3 ? 'x'.repeat(3000) : '' }));
    link.connect();
    return clock.advanceAsync(10).then(() => {
      expect(link.seqs()).toEqual([1, 2, 3, 4, 5]);
      expect(JSON.parse(link.arrived[2]?.payload ?? '{}')).toMatchObject({ event: 'DEAD_LETTERED' });
      expect(outbox.dead[0]?.reason).toMatch(/packet of \d+ bytes; the broker takes at most 2000/);
    });
  });

  describe('a link on which nothing is acknowledged', () => {
    it('is dropped after the time-out, and not while acknowledgements keep coming', async () => {
      outbox.add(20);
      link.connect();
      await clock.advanceAsync(ACK_TIMEOUT_MS - 1);
      link.acknowledge(1);
      await clock.advanceAsync(ACK_TIMEOUT_MS - 1);
      expect(link.drops).toEqual([]);
      await clock.advanceAsync(1);
      expect(link.drops).toHaveLength(1);
      expect(link.drops[0]).toContain('no PUBACK');
    });

    it('is not dropped for being idle', async () => {
      outbox.add(1);
      link.connect();
      link.acknowledge();
      await clock.advanceAsync(3_600_000);
      expect(link.drops).toEqual([]);
    });

    it('is given real time to answer when the robot runs faster than real time', async () => {
      let wall = 0;
      build({ wall: () => wall });
      outbox.add(1);
      link.connect();
      await clock.advanceAsync(600_000);
      expect(link.drops).toEqual([]);
      wall = 2001;
      await clock.advanceAsync(ACK_TIMEOUT_MS);
      expect(link.drops).toHaveLength(1);
    });

    it('no longer holds up a lock-step simulation once waiting makes no sense', () => {
      let wall = 0;
      build({ wall: () => wall });
      outbox.add(3);
      link.connect();
      expect(publisher.busy()).toBe(3);
      wall = 3000;
      expect(publisher.busy()).toBe(0);
    });
  });

  describe('a broker that closes the connection on one row (MQTT 3.1.1 has no other refusal)', () => {
    const reconnectFor = async (rounds: number) => {
      for (let i = 0; i < rounds; i++) {
        if (!link.up) link.connect();
        await clock.advanceAsync(4000);
      }
    };

    it('is understood: the row goes to the dead letters and the rest is delivered', async () => {
      link.onPublish = (sent) => {
        const payload = JSON.parse(sent.payload);
        if (payload.seq === 5 && payload.event !== 'DEAD_LETTERED') {
          queueMicrotask(() => link.disconnect());
          return;
        }
        link.arrived.push(sent);
        queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
      };
      outbox.add(20);
      await reconnectFor(12);
      expect(outbox.dead).toMatchObject([
        { seq: 5, reason: expect.stringContaining('the connection ends on this row') },
      ]);
      expect(outbox.depth).toBe(0);
      expect(link.seqs().slice(-16)).toEqual(Array.from({ length: 16 }, (_, i) => i + 5));
    });

    it('is not confused with a network that flaps by itself', async () => {
      link.onPublish = (sent) => {
        link.arrived.push(sent);
        queueMicrotask(() => link.disconnect());
      };
      outbox.add(3);
      for (let i = 0; i < 50; i++) {
        link.connect();
        await clock.advanceAsync(i < 3 ? 10 : 100);
        link.disconnect();
      }
      expect(outbox.dead).toEqual([]);
      link.onPublish = (sent) => queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
      for (let i = 0; i < 4; i++) {
        link.connect();
        await clock.advanceAsync(1000);
        link.disconnect();
      }
      expect(outbox.depth).toBe(0);
    });
  });

  it('loses nothing and keeps first arrivals in order, whenever the connection breaks', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), n: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ do: fc.constant('connect' as const), n: fc.constant(0) }),
      fc.record({ do: fc.constant('arrive' as const), n: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ do: fc.constant('acknowledge' as const), n: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ do: fc.constant('disconnect' as const), n: fc.integer({ min: 0, max: 12 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        build();
        let wire: Sent[] = [];
        let arrivedHere: Sent[] = [];
        link.onPublish = (sent) => wire.push(sent);
        const arrive = (n: number) => {
          const part = wire.splice(0, n);
          link.arrived.push(...part);
          arrivedHere.push(...part);
        };
        const acknowledge = (n: number) => {
          for (const sent of arrivedHere.splice(0, n)) sent.answer({ kind: 'acknowledged' });
        };
        for (const { do: action, n } of steps) {
          if (action === 'append') outbox.add(n);
          else if (action === 'arrive') arrive(n);
          else if (action === 'acknowledge') acknowledge(n);
          else if (action === 'connect' && !link.up) link.connect();
          else if (action === 'disconnect' && link.up) {
            arrive(n);
            wire = [];
            arrivedHere = [];
            link.disconnect();
          }
        }
        if (!link.up) link.connect();
        clock.advance(4000);
        while (wire.length > 0 || arrivedHere.length > 0) {
          arrive(1);
          acknowledge(1);
        }
        const first = [...new Set(link.seqs())];
        expect(first).toEqual(Array.from({ length: first.length }, (_, i) => i + 1));
        expect(outbox.depth).toBe(0);
        expect(outbox.dead).toEqual([]);
        expect(new Set(outbox.acknowledgedIds).size).toBe(first.length);
      }),
      { numRuns: 500 },
    );
  });

  it('delivers or dead-letters every row, whatever the broker refuses and whenever the connection breaks', async () => {
    const kinds = fc.oneof(
      { weight: 2, arbitrary: fc.constant('acknowledge' as const) },
      { weight: 8, arbitrary: fc.constant('refuse' as const) },
      { weight: 1, arbitrary: fc.constant('disconnect' as const) },
    );
    // Any of the rows under way may be answered next.
    const answer = fc.record({ kind: kinds, which: fc.nat(WINDOW - 1) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(answer, { maxLength: 400, size: 'max' }),
        async (rows, answers) => {
          build();
          const delivered = new Set<number>();
          outbox.add(rows);
          link.connect();
          for (const { kind, which } of answers) {
            if (!link.up) link.connect();
            const sent = link.waiting[which % Math.max(1, link.waiting.length)];
            if (sent === undefined) await clock.advanceAsync(1000);
            else if (kind === 'disconnect') link.disconnect();
            else if (kind === 'refuse') sent.answer({ kind: 'refused', code: 0x87, reason: 'no' });
            else {
              delivered.add(JSON.parse(sent.payload).seq);
              sent.answer({ kind: 'acknowledged' });
            }
          }
          for (let i = 0; i < 300 && outbox.depth > 0; i++) {
            if (!link.up) link.connect();
            for (const sent of [...link.waiting]) delivered.add(JSON.parse(sent.payload).seq);
            link.acknowledge();
            if (link.waiting.length === 0) await clock.advanceAsync(1000);
          }
          expect(outbox.depth).toBe(0);
          // Every seq reached the broker, as itself or as its tombstone, unless the tombstone was refused as well.
          const missing = Array.from({ length: rows }, (_, i) => i + 1).filter((seq) => !delivered.has(seq));
          const refusedTwice = missing.filter((seq) => outbox.dead.filter((d) => d.seq === seq).length === 2);
          expect(missing).toEqual(refusedTwice);
        },
      ),
      { numRuns: 300 },
    );
  });
});
