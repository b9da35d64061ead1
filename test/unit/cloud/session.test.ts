import { type Duplex, duplexPair } from 'node:stream';
import { Aedes } from 'aedes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud, CloudOptions } from '../../../daemon/cloud/types.js';
import { createSimBroker } from '../../../simulator/broker/broker.js';
import type { SimBroker } from '../../../simulator/broker/types.js';
import { DEFAULT_CLOUD_OPTIONS } from '../../support/device.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';

const START = 1_790_000_000_000;
const PINGRESP = 0xd0;

describe('the cloud session on a simulated clock, over a connection in memory', () => {
  let clock: SimClock;
  let networkClock: SimClock;
  let broker: SimBroker;
  let outbox: MemoryOutbox;
  let cloud: Cloud;
  let opened: number[];
  let random: number;
  let openStream: () => Duplex;

  const build = (options: Partial<CloudOptions> = {}) =>
    createCloud({
      clock,
      networkClock,
      random: () => random,
      options: {
        ...DEFAULT_CLOUD_OPTIONS,
        url: 'mqtt://in-memory',
        protocol: '3.1.1',
        deviceId: 'da-test',
        backoff: { minMs: 1000, maxMs: 8000 },
        connectTimeoutMs: 10_000,
        ackTimeoutMs: 15_000,
        ...options,
      },
      bootId: 'b',
      version: '0',
      outbox,
      onCommand: async () => {},
      log: SILENT_LOG,
      openStream: () => {
        opened.push(clock.mono());
        return openStream();
      },
    });
  /** Lets messages pass between the two ends without the clock moving. */
  const exchange = () => settle(30);

  beforeEach(async () => {
    clock = new SimClock(START);
    networkClock = new SimClock(START);
    opened = [];
    random = 0.999_999;
    outbox = new MemoryOutbox();
    broker = await createSimBroker({ port: null, wall: () => clock.mono() });
    await broker.start();
    openStream = () => broker.connect();
    cloud = build();
  });
  afterEach(async () => {
    const stopped = cloud.stop(10);
    await exchange();
    networkClock.advance(10);
    await stopped;
    await broker.close();
  });

  it('connects, subscribes and publishes without the clock moving', async () => {
    outbox.add(500);
    cloud.start();
    await exchange();
    for (let i = 0; i < 50 && outbox.depth > 0; i++) await exchange();
    expect(cloud.facts()).toMatchObject({ transport_connected: true, subscription_ready: true });
    expect(outbox.depth).toBe(0);
    expect(cloud.busy()).toBe(0);
    expect(broker.inFlight()).toBe(0);
  });

  it('waits longer before each try while the broker refuses, up to a limit, and starts over after a sound connection', async () => {
    broker.setRefusing(true);
    cloud.start();
    await clock.advanceAsync(40_000);
    const waits = opened.slice(1).map((at, i) => Math.round((at - (opened[i] ?? 0)) / 1000));
    expect(waits.slice(0, 6)).toEqual([1, 2, 4, 8, 8, 8]);
    broker.setRefusing(false);
    await clock.advanceAsync(8000);
    await exchange();
    expect(cloud.facts().transport_connected).toBe(true);
    await clock.advanceAsync(60_000);
    opened = [];
    broker.cutConnections();
    await exchange();
    const cutAt = clock.mono();
    await clock.advanceAsync(1000);
    expect(opened).toHaveLength(1);
    expect((opened[0] ?? 0) - cutAt).toBeLessThanOrEqual(1000);
  });

  it('spreads the tries of a fleet: half of each wait is random', async () => {
    random = 0;
    broker.setRefusing(true);
    cloud.start();
    await clock.advanceAsync(3500);
    expect(opened).toEqual([0, 500, 1500, 3500]);
  });

  it('gives up on a broker that accepts the connection and says nothing', async () => {
    broker.setHalfOpen(true);
    cloud.start();
    await exchange();
    expect(cloud.busy()).toBe(1);
    await clock.advanceAsync(9999);
    expect(opened).toHaveLength(1);
    await clock.advanceAsync(1001);
    expect(opened).toHaveLength(2);
    expect(cloud.facts()).toMatchObject({ transport_connected: false });
  });

  it('pings in network time, and takes a link for dead that does not answer', async () => {
    cloud.start();
    await exchange();
    const before = cloud.counters().mqtt_disconnects_total;
    // An hour of robot time in an instant of network time: a fast simulation must not look like a dead link.
    await clock.advanceAsync(3_600_000);
    expect(cloud.counters().mqtt_disconnects_total).toBe(before);
    for (let i = 0; i < 10; i++) {
      await networkClock.advanceAsync(15_000);
      await exchange();
    }
    expect(cloud.facts().transport_connected).toBe(true);
    broker.setHalfOpen(true);
    for (let i = 0; i < 4; i++) {
      await networkClock.advanceAsync(15_000);
      await exchange();
    }
    expect(cloud.facts()).toMatchObject({ transport_connected: false, last_publish_error: null });
    expect(cloud.counters().mqtt_disconnects_total).toBe(1);
  });

  it('does not take a link for dead whose answers wait behind other packets', async () => {
    let hold = false;
    const held: Buffer[] = [];
    openStream = () => {
      // A link on which pings are not answered and everything else comes through.
      const [client, inner] = duplexPair();
      const stream = broker.connect();
      inner.on('data', (chunk: Buffer) => stream.write(chunk));
      stream.on('data', (chunk: Buffer) => {
        if (hold && chunk[0] === PINGRESP) held.push(chunk);
        else inner.write(chunk);
      });
      return client;
    };
    cloud.start();
    await exchange();
    hold = true;
    for (let i = 0; i < 40; i++) {
      outbox.add(1);
      await networkClock.advanceAsync(5000);
      await exchange();
    }
    expect(held.length).toBeGreaterThan(1);
    expect(cloud.counters().mqtt_disconnects_total).toBe(0);
    // Nothing is heard any more at all.
    await networkClock.advanceAsync(60_000);
    await exchange();
    expect(cloud.counters().mqtt_disconnects_total).toBe(1);
  });

  it('keeps publishing while a subscription is refused, says so, and tries it again', async () => {
    let granted = false;
    const strict = await Aedes.createBroker({
      authorizeSubscribe: (_client, subscription, done) => done(null, granted ? subscription : null),
    });
    openStream = () => {
      const [client, inner] = duplexPair();
      strict.handle(inner);
      return client;
    };
    cloud.start();
    outbox.add(3);
    await exchange();
    expect(cloud.facts()).toMatchObject({ transport_connected: true, subscription_ready: false });
    expect(outbox.depth).toBe(0);
    granted = true;
    await clock.advanceAsync(30_000);
    await exchange();
    expect(cloud.facts()).toMatchObject({ transport_connected: true, subscription_ready: true });
    await new Promise<void>((resolve) => strict.close(() => resolve()));
  });

  it('says how long each fact has held', async () => {
    cloud.start();
    await exchange();
    await clock.advanceAsync(5000);
    broker.cutConnections();
    await exchange();
    expect(cloud.facts()).toMatchObject({
      transport_connected: false,
      transport_transition_at: START + 5000,
      subscription_transition_at: START + 5000,
      last_transition_at: START + 5000,
    });
  });

  it('is busy while a publish is under way, and no longer once waiting makes no sense', async () => {
    cloud.start();
    await exchange();
    broker.setHalfOpen(true);
    outbox.add(3);
    expect(cloud.busy()).toBe(3);
    await clock.advanceAsync(2500);
    expect(cloud.busy()).toBe(0);
    expect(cloud.facts().transport_connected).toBe(true);
    await clock.advanceAsync(12_500);
    expect(cloud.facts().transport_connected).toBe(false);
  });

  it('stops within the time it is given, also on a dead link', async () => {
    cloud.start();
    await exchange();
    broker.setHalfOpen(true);
    const stopped = cloud.stop(500);
    await networkClock.advanceAsync(500);
    await stopped;
    expect(cloud.facts().transport_connected).toBe(false);
    cloud = build();
  });
});
