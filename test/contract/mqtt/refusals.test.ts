import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud, CloudOptions } from '../../../daemon/cloud/types.js';
import { FastClock } from '../../support/fast-clock.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';
import { hasMosquitto, Mosquitto } from '../../support/mosquitto.js';
import { Observer, until } from '../../support/observer.js';

const DEVICE = 'da-test';

describe.skipIf(!hasMosquitto)('rows that mosquitto refuses', () => {
  let cleanUp: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const step of cleanUp.reverse()) await step();
    cleanUp = [];
  });

  const start = async (protocol: '3.1.1' | '5', config: string[], change: Partial<CloudOptions> = {}) => {
    const broker = await Mosquitto.start({ config });
    const observer = await Observer.connect(broker.url, DEVICE);
    const outbox = new MemoryOutbox();
    const clock = new FastClock(20);
    const cloud = createCloud({
      clock,
      networkClock: new SystemClock(),
      random: Math.random,
      options: {
        url: broker.url,
        protocol,
        deviceId: DEVICE,
        username: null,
        password: null,
        ca: null,
        cert: null,
        key: null,
        keepaliveS: 30,
        sessionExpiryS: 600,
        connectTimeoutMs: 60_000,
        ackTimeoutMs: 60_000,
        backoff: { minMs: 100, maxMs: 1000 },
        window: 200,
        maxPacketBytes: null,
        maxTries: 3,
        replay: { perS: null, burst: 200 },
        ...change,
      },
      bootId: 'b',
      version: '0',
      outbox,
      onCommand: async () => {},
      log: SILENT_LOG,
    });
    cleanUp = [() => broker.close(), () => observer.close(), () => cloud.stop(500)];
    return { cloud, outbox, observer };
  };
  const seqs = (observer: Observer) => [...new Set(observer.json('events/task').map((event) => event.seq))];
  const oversized = (outbox: MemoryOutbox) =>
    outbox.add(60, (seq) => ({ text: seq === 30 ? 'x'.repeat(5000) : '' }));
  const expectTombstone = async (cloud: Cloud, outbox: MemoryOutbox, observer: Observer) => {
    cloud.start();
    await until(() => expect(outbox.depth).toBe(0), 20_000);
    await until(() => expect(seqs(observer)).toHaveLength(60));
    expect(outbox.dead).toMatchObject([{ seq: 30 }]);
    const tombstone = observer.json('events/task').find((event) => event.event === 'DEAD_LETTERED');
    expect(tombstone).toMatchObject({ seq: 30, idempotency_key: outbox.dead[0] && expect.any(String) });
  };

  it('too large for a broker that says its limit in the CONNACK: a tombstone in its place', async () => {
    const { cloud, outbox, observer } = await start('5', ['max_packet_size 2000']);
    oversized(outbox);
    await expectTombstone(cloud, outbox, observer);
    expect(outbox.dead[0]?.reason).toContain('the broker takes at most 2000');
    expect(seqs(observer)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  });

  // mosquitto 2.0 answers with 0x95, which MQTT 5 does not allow in a PUBACK: the library refuses to parse it.
  it('too large, said with a reason code that does not parse: bounded tries, then a tombstone', async () => {
    const { cloud, outbox, observer } = await start('5', ['message_size_limit 2000']);
    oversized(outbox);
    await expectTombstone(cloud, outbox, observer);
    expect(outbox.dead[0]).toMatchObject({
      attempts: 3,
      reason: expect.stringContaining('the connection ends on this row'),
    });
  });

  it('too large, said by closing the connection (MQTT 3.1.1): found, and a tombstone in its place', async () => {
    const { cloud, outbox, observer } = await start('3.1.1', ['max_packet_size 2000']);
    oversized(outbox);
    await expectTombstone(cloud, outbox, observer);
    expect(outbox.dead[0]?.reason).toContain('the connection ends on this row');
    expect(seqs(observer)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  });

  it('a topic that the access list forbids: the other topics go on', async () => {
    const acl = join(tmpdir(), `acl-${process.pid}-${Math.random().toString(16).slice(2)}`);
    writeFileSync(acl, 'topic deny deviceagent/+/events/observation\ntopic readwrite deviceagent/#\n');
    const { cloud, outbox, observer } = await start('5', [`acl_file ${acl}`]);
    for (let i = 0; i < 40; i++) {
      const topic = i % 2 === 0 ? 'events/task' : 'events/observation';
      outbox.appendOrdered(topic, null, (stamp) => stamp);
    }
    outbox.commit();
    cloud.start();
    await until(() => expect(outbox.depth).toBe(0), 20_000);
    await until(() => expect(seqs(observer)).toHaveLength(20));
    expect(
      outbox.dead.filter((letter) => letter.topic === 'events/observation').length,
    ).toBeGreaterThanOrEqual(20);
    expect(cloud.facts().transport_connected).toBe(true);
  });
});
