/**
 * Trap 1 of the peers: client stores that discard or reorder QoS 1 publishes when the link drops again during replay,
 * or key rows by the 16-bit packet id.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { Aedes } from 'aedes';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { createCloud } from '../../../daemon/cloud/cloud.js';
import type { Cloud } from '../../../daemon/cloud/types.js';
import { EventLog, type LogRow } from '../../../simulator/cloud/event-log.js';
import { BROKER_KINDS } from '../../support/brokers.js';
import { DEFAULT_CLOUD_OPTIONS } from '../../support/device.js';
import { Observer, until } from '../../support/observer.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { openStoreWorld, removeTemporaryDirectories } from '../../unit/store/store-world.js';

afterEach(removeTemporaryDirectories);

function startCloud(world: ReturnType<typeof openStoreWorld>, url: string, protocol: '3.1.1' | '5'): Cloud {
  const clock = new SystemClock();
  const cloud = createCloud({
    clock,
    networkClock: clock,
    random: Math.random,
    options: { ...DEFAULT_CLOUD_OPTIONS, deviceId: 'da-test', url, protocol },
    bootId: 'b-1',
    version: '0.0.0',
    outbox: world.outbox,
    onCommand: async () => {},
    log: SILENT_LOG,
  });
  cloud.start();
  return cloud;
}

function append(world: ReturnType<typeof openStoreWorld>, rows: number): void {
  for (let n = 0; n < rows; n++)
    world.outbox.appendOrdered('events/task', `k${n}`, (stamp) => ({ ...stamp }));
}

describe.each(BROKER_KINDS)('trap 1: the link drops again during replay, over $name', (kind) => {
  it('nothing is discarded, first arrivals stay in order, and the log is exact', async (context) => {
    if (kind.skip !== null) context.skip(kind.skip);
    const broker = await kind.start();
    const proxy = await TcpProxy.start(broker.port);
    const observer = await Observer.connect(broker.url, 'da-test', {
      protocolVersion: kind.protocol === '5' ? 5 : 4,
    });
    const world = openStoreWorld();
    append(world, 900);
    await world.store.committed();
    const cloud = startCloud(world, proxy.url, kind.protocol);
    for (let cut = 1; cut <= 8; cut++) {
      const seen = observer.on('events/task').length;
      await until(() => expect(observer.on('events/task').length).toBeGreaterThan(Math.min(seen + 30, 890)));
      proxy.cut();
    }
    await until(() => expect(world.outbox.stats().depth).toBe(0));
    await until(() => expect(observer.json('events/task').at(-1)?.seq).toBe(900));
    const rows = observer.json('events/task') as unknown as LogRow[];
    const first = [...new Set(rows.map(({ seq }) => seq))];
    expect(first).toEqual(Array.from({ length: 900 }, (_, i) => i + 1));
    const log: string[] = [];
    const reader = new EventLog(({ row }) => log.push(row.idempotency_key), { first: 1 });
    for (const row of rows) reader.accept(row);
    expect(log).toEqual(Array.from({ length: 900 }, (_, i) => `k${i}`));
    await cloud.stop(500);
    await observer.close();
    await proxy.close();
    await broker.close();
    world.store.close();
  });
});

describe('trap 1: packet ids of 16 bits', () => {
  it('more rows than there are packet ids, with the link cut where they begin anew, arrive each in order', async () => {
    const aedes = await Aedes.createBroker();
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      aedes.handle(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    let highest = 0;
    let disorder = 0;
    const cuts = [65_300, 65_536, 65_700];
    aedes.on('publish', (packet) => {
      if (!packet.topic.endsWith('events/task')) return;
      const { seq } = JSON.parse(packet.payload.toString());
      if (seq > highest + 1) disorder += 1;
      highest = Math.max(highest, seq);
      if (cuts[0] !== undefined && highest >= cuts[0]) {
        cuts.shift();
        for (const socket of sockets) socket.destroy();
      }
    });
    const world = openStoreWorld();
    append(world, 67_000);
    await world.store.committed();
    const cloud = startCloud(world, `mqtt://127.0.0.1:${port}`, '3.1.1');
    await until(() => expect(world.outbox.stats().depth).toBe(0), 60_000);
    expect(highest).toBe(67_000);
    expect(disorder).toBe(0);
    expect(cuts).toEqual([]);
    await cloud.stop(500);
    world.store.close();
    await new Promise<void>((resolve) => aedes.close(resolve));
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }, 90_000);
});
