import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { BROKER_KINDS, type TestBroker } from '../../support/brokers.js';
import { TestDevice } from '../../support/device.js';
import { Observer, until } from '../../support/observer.js';

/** Mosquitto keeps 1000 for a slow subscriber, as it comes. */
const BURST = 800;
const STOP = { kind: 'control', method: 'emergencyStop', command_id: 'stop' };

describe.each(BROKER_KINDS)('a burst of commands over $name', (kind) => {
  let broker: TestBroker;
  let observer: Observer;
  let device: TestDevice;

  beforeEach(async (context) => {
    if (kind.skip !== null) context.skip(kind.skip);
    broker = await kind.start();
    observer = await Observer.connect(broker.url, 'da-test', {
      protocolVersion: kind.protocol === '5' ? 5 : 4,
    });
    const clock = new SystemClock();
    device = new TestDevice({
      clock,
      networkClock: clock,
      cloud: { url: broker.url, protocol: kind.protocol },
    });
    device.start();
    await until(() => expect(device.cloud.facts().subscription_ready).toBe(true));
  });
  afterEach(async () => {
    if (kind.skip !== null) return;
    await device.dispose();
    await observer.close();
    await broker.close();
  });

  const command = (n: number) => ({
    command_id: `c-${n}`,
    kind: 'query',
    method: 'outboxStatus',
    params: {},
    issued_at: new Date().toISOString(),
  });
  const responses = () => new Set(observer.json('command/response').map((answer) => answer.command_id));

  it('is taken many to a commit, each is answered, and nothing is taken twice', async () => {
    const commits = device.store.counters().commits ?? 0;
    const sent = Array.from({ length: BURST }, (_, n) => observer.command(command(n)));
    await Promise.all(sent);
    await until(() => expect(responses().size).toBe(BURST));
    const counters = device.intake.counters();
    expect(counters.intake_accepted_total).toBe(BURST);
    expect(counters.intake_duplicates_total ?? 0).toBe(0);
    expect((device.store.counters().commits ?? 0) - commits).toBeLessThan(BURST / 2);
  });

  // That it acts before those that lie in front of it is held in test/unit/cloud/command-inbox.test.ts: here a broker may hand it on last.
  it('an emergency stop among them acts once, and is answered once', async () => {
    for (let n = 0; n < 200; n++) void observer.command(command(n));
    await observer.command(STOP);
    await until(() => expect(device.stops).toHaveLength(1));
    await until(() => expect(responses().has('stop')).toBe(true));
    expect(device.stops).toHaveLength(1);
  });

  it('an emergency stop that cannot be stored stops once, and is answered once it can be', async (context) => {
    if (kind.name.startsWith('aedes')) context.skip('aedes delivers again without the DUP flag');
    device.store.faults.commitError = Object.assign(new Error('database or disk is full'), {
      code: 'SQLITE_FULL',
    });
    await observer.command(STOP);
    await until(() => expect(device.stops).toHaveLength(1));
    await until(() => expect(device.cloud.counters().mqtt_commands_not_stored_total).toBeGreaterThan(2));
    expect(device.stops).toHaveLength(1);
    device.store.faults.commitError = null;
    await until(() => expect(responses().has('stop')).toBe(true));
    expect(device.stops).toHaveLength(1);
    // Sent again by the cloud, the very same bytes are another stop.
    await observer.command(STOP);
    await until(() => expect(device.stops).toHaveLength(2));
  });
});
