/** Trap 8 of the peers: retained or replayed commands executed at reconnect. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { BROKER_KINDS, type TestBroker } from '../../support/brokers.js';
import { TestDevice } from '../../support/device.js';
import { Observer, until } from '../../support/observer.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

describe.each(BROKER_KINDS)('trap 8: what comes at a reconnect over $name', (kind) => {
  const clock = new SystemClock();
  let broker: TestBroker;
  let proxy: TcpProxy;
  let cloud: Observer;
  let device: TestDevice;

  beforeEach(async (context) => {
    if (kind.skip !== null) context.skip(kind.skip);
    broker = await kind.start();
    proxy = await TcpProxy.start(broker.port);
    cloud = await Observer.connect(broker.url, 'da-test', { protocolVersion: kind.protocol === '5' ? 5 : 4 });
    device = new TestDevice({
      clock,
      networkClock: clock,
      cloud: { url: proxy.url, protocol: kind.protocol },
    });
    device.start();
    await connected();
  });
  afterEach(async () => {
    if (kind.skip !== null) return;
    await device.dispose();
    await cloud.close();
    await proxy.close();
    await broker.close();
  });

  const connected = () => until(() => expect(device.cloud.facts().subscription_ready).toBe(true));
  const reconnect = async () => {
    const before = device.cloud.counters().mqtt_connects_total ?? 0;
    proxy.cut();
    await until(() => expect(device.cloud.counters().mqtt_connects_total ?? 0).toBeGreaterThan(before));
    await connected();
  };
  const move = (id: string, change: object = {}) => ({
    command_id: id,
    kind: 'task',
    method: 'setMoveTo',
    params: { positionName: '거실' },
    task: {},
    issued_at: new Date(clock.wall()).toISOString(),
    ...change,
  });
  const answers = (id: string) => cloud.json('command/response').filter((answer) => answer.command_id === id);
  const ago = (ms: number) => new Date(clock.wall() - ms).toISOString();

  it('a retained command is carried out at no reconnect, and is gone after the first', async () => {
    await device.cloud.stop(500);
    await cloud.command(move('c-1'), { retain: true });
    await device.crashAndRestart();
    await until(() => expect(answers('c-1').at(0)).toBeDefined());
    for (let i = 0; i < 3; i++) await reconnect();
    // Queued in the session as well, it may come twice: live and retained. It ran at most once.
    expect(device.tasks.listTasks().length).toBeLessThanOrEqual(1);
    await until(() => expect(cloud.on('command').at(-1)?.payload).toBe(''));
    const late = await Observer.connect(broker.url, 'da-test');
    await until(() => expect(late.on('status')).toHaveLength(1));
    expect(late.on('command')).toEqual([]);
    await late.close();
  });

  it('a command whose PUBACK was lost comes again, and is carried out once', async () => {
    await cloud.command(move('c-1'));
    await until(() => expect(answers('c-1')).toHaveLength(1));
    // Delivered, carried out, and cut off before PUBACK could leave.
    const sent = cloud.command(move('c-2'));
    proxy.cut();
    await sent;
    await connected();
    await until(() => expect(answers('c-2').length).toBeGreaterThan(0));
    for (let i = 0; i < 3; i++) await reconnect();
    const tasks = device.tasks.listTasks().filter((task) => task.method === 'setMoveTo');
    expect(tasks).toHaveLength(2);
    expect(answers('c-2').filter((answer) => answer.duplicate === false)).toHaveLength(1);
  });

  it('what waited at the broker is carried out only while it is wanted: in the window, or before it expires', async () => {
    await device.cloud.stop(500);
    await cloud.command(move('stale', { issued_at: ago(3_600_000) }));
    await cloud.command(move('expired', { issued_at: ago(3_600_000), expires_at: ago(60_000) }));
    await cloud.command(
      move('wanted', {
        issued_at: ago(3_600_000),
        expires_at: new Date(clock.wall() + 60_000).toISOString(),
      }),
    );
    await device.crashAndRestart();
    await until(() => expect(answers('wanted')).toMatchObject([{ status: 'accepted' }]));
    expect(answers('stale')).toMatchObject([{ status: 'rejected', reason_code: 'STALE_COMMAND' }]);
    expect(answers('expired')).toMatchObject([{ status: 'rejected', reason_code: 'EXPIRED' }]);
    expect(device.tasks.listTasks()).toHaveLength(1);
    // Replayed by whoever recorded it: the same body again is the same command.
    await cloud.command(move('stale', { issued_at: ago(3_600_000) }));
    await until(() => expect(answers('stale')).toHaveLength(2));
    expect(device.tasks.listTasks()).toHaveLength(1);
  });
});
