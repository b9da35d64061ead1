/** What MQTT 5 lets broker and robot agree on, against real mosquitto. */
import type { IPublishPacket } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud, CloudOptions } from '../../../daemon/cloud/types.js';
import { DEFAULT_CLOUD_OPTIONS } from '../../support/device.js';
import { MemoryOutbox } from '../../support/memory-outbox.js';
import { hasMosquitto, Mosquitto } from '../../support/mosquitto.js';
import { Observer, until } from '../../support/observer.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const DEVICE = 'da-test';

describe.skipIf(!hasMosquitto)('MQTT 5 with mosquitto', () => {
  let cleanUp: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const step of cleanUp.reverse()) await step();
    cleanUp = [];
  });

  const startBroker = async (config: string[]) => {
    const broker = await Mosquitto.start({ config });
    const observer = await Observer.connect(broker.url, DEVICE, { protocolVersion: 5 });
    const outbox = new MemoryOutbox();
    outbox.now = () => Date.now();
    cleanUp = [() => broker.close(), () => observer.close()];
    return { broker, observer, outbox };
  };
  const create = (url: string, outbox: MemoryOutbox, change: Partial<CloudOptions> = {}): Cloud => {
    const clock = new SystemClock();
    const cloud = createCloud({
      clock,
      networkClock: clock,
      random: () => 1,
      options: { ...DEFAULT_CLOUD_OPTIONS, deviceId: DEVICE, url, protocol: '5', ...change },
      bootId: 'b',
      version: '0',
      outbox,
      onCommand: async () => {},
      log: SILENT_LOG,
    });
    cleanUp.push(() => cloud.stop(500));
    return cloud;
  };

  it('telemetry carries a message expiry; events and answers do not', async () => {
    const { broker, observer, outbox } = await startBroker([]);
    const cloud = create(broker.url, outbox);
    const expiry = new Map<string, number | undefined>();
    observer.client.on('message', (topic: string, _payload: Buffer, packet: IPublishPacket) =>
      expiry.set(topic.slice(observer.root.length + 1), packet.properties?.messageExpiryInterval),
    );
    outbox.appendTelemetry('context', null, () => ({ now: 1 }));
    outbox.appendResponse('command/response', { command_id: 'c-1' });
    outbox.add(1);
    cloud.start();
    await until(() => expect(expiry.size).toBe(4));
    expect(expiry.get('context')).toBeGreaterThan(590);
    expect(expiry.get('context')).toBeLessThanOrEqual(600);
    expect(expiry.get('events/task')).toBeUndefined();
    expect(expiry.get('command/response')).toBeUndefined();
  });

  it("never has more under way than the broker's receive maximum", async () => {
    const { broker, outbox } = await startBroker(['max_inflight_messages 6']);
    const cloud = create(broker.url, outbox);
    let most = 0;
    cloud.onAcknowledged(() => {
      most = Math.max(most, outbox.stats().flow?.inFlight ?? 0);
    });
    outbox.add(500);
    cloud.start();
    await until(() => expect(outbox.depth).toBe(0));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(5);
    expect(cloud.counters().mqtt_disconnects_total).toBe(0);
  });

  it('a session that ran out is noticed, subscribed anew, and the outbox goes on where it was', async () => {
    const { broker, observer, outbox } = await startBroker([]);
    const proxy = await TcpProxy.start(broker.port);
    cleanUp.push(() => proxy.close());
    // Its session ends a second after it has gone, and it stays away for longer.
    const away = create(proxy.url, outbox, { sessionExpiryS: 1, backoff: { minMs: 2500, maxMs: 2500 } });
    away.start();
    outbox.add(10);
    await until(() => expect(outbox.depth).toBe(0));
    expect(away.counters().mqtt_sessions_lost_total).toBe(0);
    proxy.cut();
    outbox.add(10);
    await until(() => expect(away.counters().mqtt_sessions_lost_total).toBe(1));
    await until(() => expect(away.facts().subscription_ready).toBe(true));
    await until(() =>
      expect(observer.json('events/task').map(({ seq }) => seq)).toEqual(
        Array.from({ length: 20 }, (_, i) => i + 1),
      ),
    );
  });
});
