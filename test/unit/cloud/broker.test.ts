import { MqttClient } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimBroker } from '../../../simulator/broker/broker.js';
import { PacketCounter } from '../../../simulator/broker/packet-counter.js';
import type { SimBroker } from '../../../simulator/broker/types.js';
import { until } from '../../support/observer.js';

describe('the embedded broker', () => {
  let broker: SimBroker;
  let clients: MqttClient[];
  let wall: number;

  /** A client over a connection in memory that does not come back by itself. */
  const connect = async (clientId: string, options: { clean?: boolean; manualAck?: boolean } = {}) => {
    const client = new MqttClient(() => broker.connect(), {
      clientId,
      clean: options.clean ?? true,
      reconnectPeriod: 0,
    });
    clients.push(client);
    client.on('error', () => {});
    const received: string[] = [];
    client.handleMessage = (packet, done) => {
      received.push(packet.payload.toString());
      if (options.manualAck !== true) done();
    };
    await new Promise<void>((resolve) => client.once('connect', () => resolve()));
    return { client, received };
  };

  beforeEach(async () => {
    clients = [];
    wall = 0;
    broker = await createSimBroker({ port: 0, wall: () => wall });
    await broker.start();
  });
  afterEach(async () => {
    for (const client of clients) client.stream.destroy();
    await broker.close();
  });

  it('listens on loopback only, on a port that stays the same through a restart', async () => {
    const { port } = broker;
    expect(broker.url).toBe(`mqtt://127.0.0.1:${port}`);
    await broker.restart({ keepSessions: true });
    expect(broker.port).toBe(port);
  });

  it.each([
    [true, ['kept']],
    [false, []],
  ])('restarts with its sessions or without them (kept: %s)', async (keepSessions, expected) => {
    const first = await connect('robot', { clean: false });
    await first.client.subscribeAsync('t', { qos: 1 });
    const publisher = await connect('cloud');
    await publisher.client.publishAsync('status', 'kept', { qos: 1, retain: true });
    first.client.stream.destroy();
    await until(() => expect(broker.clients()).toEqual(['cloud']));
    await publisher.client.publishAsync('t', 'kept', { qos: 1 });
    await broker.restart({ keepSessions });
    const again = await connect('robot', { clean: false });
    const witness = await connect('witness');
    await witness.client.subscribeAsync('status', { qos: 1 });
    await until(() => expect(broker.inFlight()).toBe(0));
    await until(() => expect(again.received).toEqual(expected));
    await until(() => expect(witness.received).toEqual(expected));
  });

  it('counts what is under way until it has arrived and was acknowledged', async () => {
    const slow = await connect('slow', { manualAck: true });
    await slow.client.subscribeAsync('t', { qos: 1 });
    const publisher = await connect('cloud');
    const before = broker.activity();
    await publisher.client.publishAsync('t', 'x', { qos: 1 });
    await until(() => expect(slow.received).toEqual(['x']));
    expect(broker.inFlight()).toBe(1);
    expect(broker.activity()).toBeGreaterThan(before);
    // A consumer that never answers must not hold up a simulation for ever.
    wall = 2500;
    expect(broker.inFlight()).toBe(0);
  });

  it('half open: connections stay, and nothing passes', async () => {
    const a = await connect('a');
    await a.client.subscribeAsync('t', { qos: 1 });
    const b = await connect('b');
    broker.setHalfOpen(true);
    b.client.publish('t', 'lost', { qos: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(a.client.connected && b.client.connected).toBe(true);
    expect(broker.inFlight()).toBe(0);
    broker.setHalfOpen(false);
    await until(() => expect(a.client.connected || b.client.connected).toBe(false));
    expect(a.received).toEqual([]);
  });

  it('refuses and cuts', async () => {
    const a = await connect('a');
    broker.setRefusing(true);
    await until(() => expect(a.client.connected).toBe(false));
    expect(broker.connect().destroyed).toBe(false);
    await until(() => expect(broker.clients()).toEqual([]));
    broker.setRefusing(false);
    const b = await connect('b');
    broker.cutConnections();
    await until(() => expect(b.client.connected).toBe(false));
  });
});

describe('the counter of MQTT packets', () => {
  it('sees every packet once, however the bytes are cut', () => {
    const bytes = Buffer.from([
      0x32,
      0x05,
      1,
      2,
      3,
      4,
      5,
      0x40,
      0x02,
      0,
      1,
      0xc0,
      0x00,
      0x30,
      0x81,
      0x01,
      ...Buffer.alloc(129),
    ]);
    for (let size = 1; size <= bytes.length; size++) {
      const seen: string[] = [];
      const counter = new PacketCounter(({ type, qos }) => seen.push(`${type}/${qos}`));
      for (let at = 0; at < bytes.length; at += size) counter.push(bytes.subarray(at, at + size));
      expect(seen).toEqual(['3/1', '4/0', '12/0', '3/0']);
    }
  });
});
