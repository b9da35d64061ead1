import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud, CloudOptions, CommandHandler, SessionFacts } from '../../../daemon/cloud/types.js';
import { BROKER_KINDS, type TestBroker } from '../../support/brokers.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';
import { Observer, until } from '../../support/observer.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const DEVICE = 'da-test';

const OPTIONS: Omit<CloudOptions, 'url' | 'protocol'> = {
  deviceId: DEVICE,
  username: null,
  password: null,
  ca: null,
  cert: null,
  key: null,
  keepaliveS: 30,
  sessionExpiryS: 600,
  connectTimeoutMs: 2000,
  ackTimeoutMs: 400,
  backoff: { minMs: 20, maxMs: 200 },
  window: 200,
  maxPacketBytes: null,
  maxTries: 3,
  replay: { perS: null, burst: 200 },
};

describe.each(BROKER_KINDS)('the cloud session against $name', (kind) => {
  let broker: TestBroker;
  let outbox: MemoryOutbox;
  let observer: Observer;
  let clouds: Cloud[];
  let commands: { text: string; retained: boolean }[];

  const startCloud = (options: { url?: string; onCommand?: CommandHandler } = {}): Cloud => {
    const clock = new SystemClock();
    const cloud = createCloud({
      clock,
      networkClock: clock,
      random: Math.random,
      options: { ...OPTIONS, protocol: kind.protocol, url: options.url ?? broker.url },
      bootId: 'b-test',
      version: '0.0.0',
      outbox,
      onCommand:
        options.onCommand ??
        (async (payload, { retained }) => {
          commands.push({ text: payload.toString(), retained });
        }),
      log: SILENT_LOG,
    });
    clouds.push(cloud);
    cloud.start();
    return cloud;
  };
  const ready = (cloud: Cloud) => until(() => expect(cloud.facts().subscription_ready).toBe(true));
  /** Ordered rows as the cloud saw them, by first arrival. */
  const firstArrivals = () => [...new Set(observer.json('events/task').map((event) => event.seq))];
  const oneTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  beforeEach(async (context) => {
    if (kind.skip !== null) context.skip(kind.skip);
    clouds = [];
    commands = [];
    outbox = new MemoryOutbox();
    broker = await kind.start();
    observer = await Observer.connect(broker.url, DEVICE, { protocolVersion: kind.protocol === '5' ? 5 : 4 });
  });
  afterEach(async () => {
    if (kind.skip !== null) return;
    await Promise.all(clouds.map((cloud) => cloud.stop(500)));
    await observer.close();
    await broker.close();
  });

  it('says online, retained, and keeps the three facts apart with the time of each change', async () => {
    const seen: SessionFacts[] = [];
    const cloud = startCloud();
    cloud.onFacts((facts) => seen.push(facts));
    await ready(cloud);
    expect(seen[0]).toMatchObject({
      transport_connected: true,
      subscription_ready: false,
      subscription_transition_at: null,
    });
    expect(seen[1]).toMatchObject({ transport_connected: true, subscription_ready: true });
    expect(cloud.facts()).toMatchObject({
      last_publish_ack_at: null,
      transport_transition_at: expect.any(Number),
    });
    outbox.add(1);
    await until(() => expect(cloud.facts().last_publish_ack_at).toEqual(expect.any(Number)));
    const late = await Observer.connect(broker.url, DEVICE);
    await until(() => expect(late.on('status')).toHaveLength(1));
    expect(late.on('status')[0]?.retain).toBe(true);
    expect(late.json('status')[0]).toMatchObject({ state: 'online', boot_id: 'b-test', version: '0.0.0' });
    await late.close();
  });

  it('says offline when it stops, and the broker says it when the connection breaks', async () => {
    const proxy = await TcpProxy.start(broker.port);
    const cloud = startCloud({ url: proxy.url });
    await ready(cloud);
    await proxy.close();
    await until(() => expect(observer.json('status').at(-1)).toMatchObject({ state: 'offline' }));
    // Whoever comes later is told as well.
    const late = await Observer.connect(broker.url, DEVICE);
    await until(() => expect(late.json('status')).toMatchObject([{ state: 'offline' }]));
    expect(late.on('status')[0]?.retain).toBe(true);
    await late.close();
    const second = startCloud();
    await ready(second);
    await until(() => expect(observer.json('status').at(-1)).toMatchObject({ state: 'online' }));
    await second.stop();
    await until(() => expect(observer.json('status').at(-1)).toMatchObject({ state: 'offline' }));
  });

  it('delivers the outbox in order and empties it', async () => {
    outbox.add(2000);
    const cloud = startCloud();
    await until(() => expect(outbox.depth).toBe(0));
    await until(() => expect(observer.on('events/task')).toHaveLength(2000));
    expect(firstArrivals()).toEqual(oneTo(2000));
    expect(cloud.busy()).toBe(0);
  });

  it.each([true, false])(
    'goes on in order after the broker restarted (sessions kept: %s)',
    async (keepSessions) => {
      const cloud = startCloud();
      await ready(cloud);
      outbox.add(500);
      await until(() => expect(observer.on('events/task').length).toBeGreaterThan(20));
      await broker.restart({ keepSessions });
      outbox.add(100);
      await until(() => expect(outbox.depth).toBe(0));
      await ready(cloud);
      if (!keepSessions) return;
      await until(() => expect(firstArrivals()).toHaveLength(600));
      expect(firstArrivals()).toEqual(oneTo(600));
    },
  );

  it('receives commands again after the broker lost its sessions', async () => {
    const cloud = startCloud();
    await ready(cloud);
    await broker.restart({ keepSessions: false });
    await until(() => expect(cloud.facts().subscription_ready).toBe(true));
    await until(() => expect(cloud.counters().mqtt_connects_total).toBe(2));
    await ready(cloud);
    await observer.command('{"a":1}');
    await until(() => expect(commands.map((c) => c.text)).toEqual(['{"a":1}']));
  });

  it('notices a half-open link by the missing PUBACK and repeats what was not acknowledged', async () => {
    const proxy = await TcpProxy.start(broker.port);
    const cloud = startCloud({ url: proxy.url });
    await ready(cloud);
    proxy.setSilent(true);
    outbox.add(10);
    await until(() => expect(cloud.facts().last_publish_error).toContain('no PUBACK'));
    expect(outbox.depth).toBe(10);
    proxy.setSilent(false);
    await until(() => expect(outbox.depth).toBe(0));
    await until(() => expect(firstArrivals()).toEqual(oneTo(10)));
    await proxy.close();
  });

  it('keeps every row through a link that breaks again and again', async () => {
    const proxy = await TcpProxy.start(broker.port);
    startCloud({ url: proxy.url });
    outbox.add(1500);
    for (let cut = 1; cut <= 8; cut++) {
      await until(() => expect(observer.on('events/task').length).toBeGreaterThan(cut * 100));
      proxy.cut();
    }
    await until(() => expect(outbox.depth).toBe(0));
    await until(() => expect(firstArrivals()).toHaveLength(1500));
    expect(firstArrivals()).toEqual(oneTo(1500));
    await proxy.close();
  });

  it('acknowledges a command only once it is durable: otherwise it is delivered again', async () => {
    let failures = 2;
    const cloud = startCloud({
      onCommand: async (payload) => {
        if (failures-- > 0) throw new Error('disk full');
        commands.push({ text: payload.toString(), retained: false });
      },
    });
    await ready(cloud);
    await observer.command('{"n":1}');
    await until(() => expect(commands).toHaveLength(1));
    expect(cloud.counters()).toMatchObject({ mqtt_commands_total: 3, mqtt_commands_not_stored_total: 2 });
  });

  it('receives what was sent while it was away, in order', async () => {
    const cloud = startCloud();
    await ready(cloud);
    await cloud.stop();
    for (let n = 1; n <= 20; n++) await observer.command(`{"n":${n}}`);
    startCloud();
    await until(() => expect(commands).toHaveLength(20));
    expect(commands.map((c) => JSON.parse(c.text).n)).toEqual(oneTo(20));
  });

  it('clears a retained command after handing it over as retained', async () => {
    await observer.command('{"n":1}', { retain: true });
    const cloud = startCloud();
    await until(() => expect(commands).toContainEqual({ text: '{"n":1}', retained: true }));
    await until(() => expect(cloud.counters().mqtt_retained_cleared_total).toBe(1));
    await until(() => expect(observer.on('command').map((m) => m.payload)).toContain(''));
    const late = await Observer.connect(broker.url, DEVICE);
    await until(() => expect(late.on('status')).toHaveLength(1));
    expect(late.on('command')).toEqual([]);
    await late.close();
  });

  it('takes a payload of 1 MiB, so that it can be answered', async () => {
    const cloud = startCloud();
    await ready(cloud);
    await observer.command(Buffer.alloc(1024 * 1024, 'x'));
    await until(() => expect(commands.map((c) => c.text.length)).toEqual([1024 * 1024]));
    await observer.command('{"after":true}');
    await until(() => expect(commands).toHaveLength(2));
  });

  it('keeps trying while the broker is away, and says so in the facts', async () => {
    await broker.stop();
    const cloud = startCloud();
    await until(() => expect(cloud.counters().mqtt_connect_failures_total).toBeGreaterThan(2));
    expect(cloud.facts()).toMatchObject({ transport_connected: false, subscription_ready: false });
    await broker.start();
    await ready(cloud);
  });
});
