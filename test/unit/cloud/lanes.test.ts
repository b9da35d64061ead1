import { beforeEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { OutboxPublisher } from '../../../daemon/cloud/publisher.js';
import type { ReplayRate } from '../../../daemon/cloud/replay-pace.js';
import { FakeLink, type Sent } from '../../support/fake-link.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';

const WINDOW = 200;

describe('a backlog and what is live', () => {
  let clock: SimClock;
  let outbox: MemoryOutbox;
  let link: FakeLink;
  let publisher: OutboxPublisher;

  const build = (options: { replay?: ReplayRate; window?: number } = {}) => {
    clock = new SimClock(1_790_000_000_000);
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
        ackTimeoutMs: 15_000,
        maxPacketBytes: null,
        maxTries: 3,
        replay: options.replay ?? { perS: null, burst: 10 },
      },
    });
  };
  beforeEach(() => build());

  const answer = (id: string) => {
    outbox.appendResponse('command/response', { command_id: id });
    outbox.commit();
  };
  const telemetry = (n: number) => {
    for (let i = 0; i < n; i++) outbox.appendTelemetry('context', null, () => ({ context: i }));
    outbox.commit();
  };
  const topics = (sent: readonly Sent[]) => sent.map(({ topic }) => topic);

  /** Works off one packet per `eachMs`, in the order of arrival; the acknowledgement travels `pathMs` more. */
  function slowBroker(eachMs: number, pathMs = 0): { answered: (sent: Sent) => number } {
    const queue: Sent[] = [];
    const took = new Map<Sent, number>();
    const arrivedAt = new Map<Sent, number>();
    link.onPublish = (sent) => {
      link.arrived.push(sent);
      arrivedAt.set(sent, clock.mono());
      queue.push(sent);
    };
    clock.every(eachMs, () => {
      const sent = queue.shift();
      if (sent === undefined) return;
      clock.after(Math.max(1, pathMs), () => {
        took.set(sent, clock.mono() - (arrivedAt.get(sent) ?? 0));
        sent.answer({ kind: 'acknowledged' });
      });
    });
    return { answered: (sent) => took.get(sent) ?? Number.POSITIVE_INFINITY };
  }

  it('an answer to a command overtakes every event that waits', () => {
    outbox.add(1000);
    clock.advance(3_600_000);
    connectAndFill();
    answer('c-1');
    link.acknowledge(1);
    expect(link.arrived.at(-1)).toMatchObject({ topic: 'command/response' });
    expect(link.seqs().filter((seq) => seq !== undefined)).toEqual(
      Array.from({ length: link.arrived.length - 1 }, (_, i) => i + 1),
    );
  });

  /** A full window is under way. */
  function connectAndFill() {
    link.connect();
    for (let i = 0; i < 20; i++) link.acknowledge(10);
  }

  it('of many answers one in nine lets an event through: neither waits for the other', () => {
    for (let i = 0; i < 100; i++) answer(`c-${i}`);
    outbox.add(100);
    link.connect();
    for (let i = 0; i < 18; i++) link.acknowledge(1);
    const first = topics(link.arrived.slice(0, 18));
    expect(first.filter((topic) => topic === 'events/task')).toHaveLength(2);
  });

  it('how things stand now is told every ninth row, not after the backlog', () => {
    outbox.add(1000);
    clock.advance(3_600_000);
    telemetry(3);
    link.connect();
    expect(topics(link.arrived.slice(0, 9))).toEqual([...Array(8).fill('events/task'), 'context']);
  });

  it('without a backlog events and telemetry go in the order in which they were written', () => {
    link.connect();
    telemetry(1);
    outbox.add(20);
    telemetry(1);
    expect(topics(link.arrived)).toEqual(['context', ...Array(20).fill('events/task'), 'context']);
  });

  it('a slow broker is kept busy, and an answer does not wait in its queue behind a window of events', async () => {
    const broker = slowBroker(10);
    outbox.add(3000);
    link.connect();
    await clock.advanceAsync(10_000);
    answer('c-1');
    await clock.advanceAsync(2000);
    const sent = link.arrived.find(({ topic }) => topic === 'command/response');
    expect(sent && broker.answered(sent)).toBeLessThan(250);
    // 100 packets a second for 12 s: it was never without work.
    expect(outbox.acknowledgedIds.length).toBeGreaterThan(1190);
  });

  it('a long path is filled: it is the broker that bounds the speed', async () => {
    slowBroker(1, 300);
    outbox.add(20_000);
    link.connect();
    await clock.advanceAsync(5000);
    expect(publisher.inFlight()).toBe(WINDOW);
  });

  it('a rate holds back old events, and neither answers nor events of the moment', async () => {
    build({ replay: { perS: 100, burst: 20 } });
    link.onPublish = (sent) => {
      link.arrived.push(sent);
      queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
    };
    outbox.add(250);
    clock.advance(60_000);
    link.connect();
    await clock.advanceAsync(1);
    expect(link.arrived.length).toBeLessThanOrEqual(21);
    answer('c-1');
    await clock.advanceAsync(1);
    expect(topics(link.arrived)).toContain('command/response');
    await clock.advanceAsync(1000);
    expect(link.arrived.length).toBeGreaterThan(110);
    expect(link.arrived.length).toBeLessThan(130);
    await clock.advanceAsync(3000);
    expect(outbox.depth).toBe(0);
    outbox.add(500);
    await clock.advanceAsync(1);
    expect(outbox.depth).toBe(0);
  });

  it('telemetry tells the broker for how long it is of use; events and answers are kept as long as it takes', () => {
    telemetry(1);
    clock.advance(60_000);
    outbox.add(1);
    answer('c-1');
    link.connect();
    expect(link.arrived.map(({ topic, expiryS }) => [topic, expiryS])).toEqual([
      ['command/response', null],
      ['context', 540],
      ['events/task', null],
    ]);
  });

  it('telemetry that is too old to be of use is dropped and counted, and nothing else is', async () => {
    telemetry(5);
    outbox.add(5);
    clock.advance(600_001);
    telemetry(1);
    link.connect();
    expect(topics(link.arrived)).toEqual([...Array(5).fill('events/task'), 'context']);
    expect(publisher.counters().outbox_expired_telemetry_total).toBe(5);
    expect(outbox.stats().droppedTelemetryTotal).toBe(5);
  });

  it('an event that the broker refuses for now holds up no answer, and a refused answer no event', async () => {
    link.onPublish = (sent) => {
      if (sent.topic === 'events/task')
        queueMicrotask(() => sent.answer({ kind: 'refused', code: 0x97, reason: 'quota' }));
      else {
        link.arrived.push(sent);
        queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
      }
    };
    outbox.add(3);
    link.connect();
    await clock.advanceAsync(60_000);
    answer('c-1');
    await clock.advanceAsync(1);
    expect(topics(link.arrived)).toEqual(['command/response']);
    expect(outbox.dead).toEqual([]);
  });

  it('an event on which the broker ends the connection is found although answers get through each time', async () => {
    let n = 0;
    link.onPublish = (sent) => {
      const payload = JSON.parse(sent.payload);
      if (payload.seq === 1 && payload.event !== 'DEAD_LETTERED') queueMicrotask(() => link.disconnect());
      else {
        link.arrived.push(sent);
        queueMicrotask(() => sent.answer({ kind: 'acknowledged' }));
      }
    };
    outbox.add(3);
    for (let i = 0; i < 12; i++) {
      answer(`c-${n++}`);
      if (!link.up) link.connect();
      await clock.advanceAsync(4000);
    }
    expect(outbox.dead).toMatchObject([{ seq: 1 }]);
    expect(outbox.depth).toBe(0);
  });

  it('says how many rows are under way, and how fast they go and are acknowledged', async () => {
    slowBroker(10);
    outbox.add(1000);
    link.connect();
    await clock.advanceAsync(8000);
    const { flow } = outbox.stats();
    expect(flow?.ackPerS).toBeGreaterThan(95);
    expect(flow?.ackPerS).toBeLessThan(105);
    expect(flow?.inFlight).toBeGreaterThan(0);
    await clock.advanceAsync(60_000);
    expect(outbox.stats().flow).toEqual({ inFlight: 0, publishPerS: 0, ackPerS: 0 });
  });
});
