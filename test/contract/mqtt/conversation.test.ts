import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isoWithOffset, SystemClock } from '../../../config/contracts/clock.js';
import { Ids, seededRandom } from '../../../config/contracts/ids.js';
import { createSimCloud } from '../../../simulator/cloud/cloud.js';
import type { SimCloud } from '../../../simulator/cloud/types.js';
import { BROKER_KINDS, type TestBroker } from '../../support/brokers.js';
import { TestDevice } from '../../support/device.js';
import { Observer, until } from '../../support/observer.js';

describe.each(BROKER_KINDS)('the conversation with a cloud over $name', (kind) => {
  const clock = new SystemClock();
  let broker: TestBroker;
  let device: TestDevice;
  let cloud: SimCloud;
  let observer: Observer;

  beforeEach(async (context) => {
    if (kind.skip !== null) context.skip(kind.skip);
    broker = await kind.start();
    observer = await Observer.connect(broker.url, 'da-test');
    device = new TestDevice({
      clock,
      networkClock: clock,
      // Slower to come back than the cloud, as robots are.
      cloud: { url: broker.url, protocol: kind.protocol, backoff: { minMs: 200, maxMs: 400 } },
    });
    cloud = createSimCloud({
      broker: { url: broker.url },
      deviceId: 'da-test',
      clock,
      ids: new Ids(() => clock.now(), seededRandom(3)),
    });
    await cloud.start();
    device.start();
    await until(() => expect(device.cloud.facts().subscription_ready).toBe(true));
  });
  afterEach(async () => {
    if (kind.skip !== null) return;
    await cloud.stop();
    await device.dispose();
    await observer.close();
    await broker.close();
  });

  let n = 0;
  const envelope = (fields: Record<string, unknown>) => ({
    command_id: `c-${++n}`,
    correlation_id: null,
    reply_to: null,
    issued_at: isoWithOffset(clock.wall()),
    expires_at: null,
    ...fields,
  });
  const move = () =>
    envelope({ kind: 'task', method: 'setMoveTo', params: { positionName: '거실' }, task: {} });
  const answersTo = (id: unknown) =>
    observer.json('command/response').filter((answer) => answer.command_id === id);

  it('carries a workflow from the goal to its end, every event once and in order', async () => {
    const pushed = await cloud.pushWorkflow('거실로 갔다가 안방으로 이동해서 청정해줘');
    expect(await pushed.response).toMatchObject({
      status: 'accepted',
      workflow_id: pushed.document.workflow_id,
    });
    const end = await pushed.ended;
    expect(end).toMatchObject({ event: 'COMPLETED', reasonCode: null });
    const report = cloud.report();
    expect(report).toMatchObject({ problems: [], missing: [], repeats: 0, status: 'online' });
    const steps = report.events.filter((event) => event.event === 'COMPLETED' && event.taskId !== null);
    expect(steps.map((event) => event.method)).toEqual([
      'undock',
      'setMoveTo',
      'setMoveTo',
      'startCleaning',
      'setLlmTts',
      'returnToStation',
    ]);
    for (const step of steps) expect(step.evidence).toMatchObject({ observed_at_ms: expect.any(Number) });
  });

  it('answers a plain MQTT client as the contract says', async () => {
    const command = move();
    await observer.command(command);
    await until(() => expect(answersTo(command.command_id)).toHaveLength(1));
    expect(answersTo(command.command_id)[0]).toMatchObject({
      status: 'accepted',
      task_id: expect.stringMatching(/^t-/),
      duplicate: false,
      legacy: false,
      reason_code: null,
    });
    await until(() =>
      expect(observer.json('events/task').map((event) => event.event)).toContain('COMPLETED'),
    );
    expect(observer.on('events/task').every((message) => !message.retain)).toBe(true);
  });

  it('does nothing twice for a repeated command, also after a crash of the device', async () => {
    const command = move();
    await observer.command(command);
    await observer.command(command);
    await until(() => expect(answersTo(command.command_id)).toHaveLength(2));
    await device.crashAndRestart();
    await until(() => expect(device.cloud.facts().subscription_ready).toBe(true));
    await observer.command(command);
    await until(() => expect(answersTo(command.command_id)).toHaveLength(3));
    expect(answersTo(command.command_id).map((answer) => answer.duplicate)).toEqual([false, true, true]);
    expect(new Set(answersTo(command.command_id).map((answer) => answer.task_id)).size).toBe(1);
    expect(cloud.report().problems).toEqual([]);
  });

  it('refuses and clears a retained command that was waiting for it', async () => {
    const planner = await Observer.connect(broker.url, 'da-new');
    await planner.command(move(), { retain: true });
    const fresh = new TestDevice({
      clock,
      networkClock: clock,
      deviceId: 'da-new',
      cloud: { url: broker.url, protocol: kind.protocol },
    });
    fresh.start();
    await until(() =>
      expect(planner.json('command/response')).toMatchObject([
        { status: 'rejected', reason_code: 'POLICY_DENIED', message: expect.stringContaining('retained') },
      ]),
    );
    await until(() => expect(planner.on('command').at(-1)?.payload).toBe(''));
    const late = await Observer.connect(broker.url, 'da-new');
    await until(() => expect(late.on('status')).toHaveLength(1));
    expect(late.on('command')).toEqual([]);
    expect(fresh.tasks.listTasks()).toEqual([]);
    await Promise.all([late.close(), planner.close(), fresh.dispose()]);
  });

  it('carries a retained command out once when it came live, and clears it', async () => {
    const command = move();
    await observer.command(command, { retain: true });
    await until(() => expect(answersTo(command.command_id)).toMatchObject([{ status: 'accepted' }]));
    await device.crashAndRestart();
    await until(() => expect(answersTo(command.command_id)).toHaveLength(2));
    expect(answersTo(command.command_id)[1]).toMatchObject({ status: 'accepted', duplicate: true });
    await until(() => expect(observer.on('command').at(-1)?.payload).toBe(''));
  });

  it.each([
    ['a 1 MiB payload', () => Buffer.alloc(1024 * 1024, 'x'), 'PAYLOAD_TOO_LARGE'],
    ['no JSON', () => 'hello', 'MALFORMED'],
    ['a stale time stamp', () => ({ ...move(), issued_at: '2020-01-01T00:00:00Z' }), 'STALE_COMMAND'],
    [
      'an offset-less time stamp',
      () => ({ ...move(), issued_at: '2026-11-30T09:00:00' }),
      'TIMESTAMP_INVALID',
    ],
    [
      'a step that depends on itself',
      () =>
        envelope({
          kind: 'workflow',
          workflow: {
            workflow_id: `wf-${n}`,
            steps: [{ step_id: 's1', method: 'setMoveTo', depends_on: ['s1'] }],
          },
        }),
      'INVALID_PARAMS',
    ],
  ])('answers %s once, by name, and goes on', async (_name, payload, reason) => {
    await observer.command(payload());
    await until(() => expect(observer.json('command/response')).toHaveLength(1));
    expect(observer.json('command/response')[0]).toMatchObject({ status: 'rejected', reason_code: reason });
    const next = move();
    await observer.command(next);
    await until(() => expect(answersTo(next.command_id)).toMatchObject([{ status: 'accepted' }]));
  });

  it('stays correct with a cloud that misbehaves', async () => {
    cloud.misbehave({ repeatCommands: true });
    expect(
      await cloud.sendCommand({ kind: 'task', method: 'setMoveTo', params: {}, task: {} }),
    ).toMatchObject({ status: 'accepted' });
    cloud.misbehave({ repeatCommands: false, staleTimestamps: true });
    expect(await cloud.sendCommand({ kind: 'task', method: 'setMoveTo', params: {} })).toMatchObject({
      reason_code: 'STALE_COMMAND',
    });
    cloud.misbehave({ staleTimestamps: false, reuseIds: true });
    expect(await cloud.sendCommand({ kind: 'task', method: 'setMoveTo', params: {} })).toMatchObject({
      reason_code: 'COMMAND_ID_REUSED',
    });
    cloud.misbehave({ reuseIds: false, wrongIds: true });
    expect(
      await cloud.sendCommand({ kind: 'control', method: 'cancelTask', params: { task_id: 't-1' } }),
    ).toMatchObject({ reason_code: 'NOT_FOUND' });
    cloud.misbehave({ wrongIds: false, padBytes: 1000 });
    expect(await cloud.sendCommand({ kind: 'task', method: 'setMoveTo', params: {} })).toMatchObject({
      reason_code: 'INVALID_PARAMS',
    });
    cloud.misbehave({ padBytes: 0 });
    expect(
      await cloud.sendCommand({ kind: 'task', method: 'setMoveTo', params: {}, task: {} }),
    ).toMatchObject({ status: 'accepted' });
    await until(() =>
      expect(cloud.report().events.filter((event) => event.event === 'COMPLETED')).toHaveLength(2),
    );
    expect(cloud.report().problems).toEqual([]);
  });

  it('stops on an emergency stop, whatever else is wrong with the message', async () => {
    await observer.command('{"kind":"control","method":"emergencyStop","x":');
    await until(() => expect(device.stops).toEqual(['mqtt']));
  });

  it('loses nothing through restarts of broker and device in the middle of a workflow', async () => {
    const pushed = await cloud.pushWorkflow('거실로 갔다가 안방으로 이동해서 청정해줘');
    await broker.restart({ keepSessions: true });
    await device.crashAndRestart();
    await pushed.ended;
    await until(() => expect(device.outbox.stats().depth).toBe(0));
    await until(() => expect(cloud.report().lastSeq).toBe(device.outbox.stats().nextSeq - 1));
    expect(cloud.report()).toMatchObject({ problems: [], missing: [] });
  });

  it('goes on without a gap after the broker has forgotten every session', async () => {
    const first = await cloud.pushWorkflow('거실로 가');
    await first.ended;
    await until(() => expect(cloud.report().lastSeq).toBe(device.outbox.stats().nextSeq - 1));
    const connects = device.cloud.counters().mqtt_connects_total ?? 0;
    await broker.restart({ keepSessions: false });
    await until(() => expect(device.cloud.counters().mqtt_connects_total).toBeGreaterThan(connects));
    await until(() => expect(device.cloud.facts().subscription_ready).toBe(true));
    const second = await cloud.pushWorkflow('안방을 청정해줘');
    await second.ended;
    expect(cloud.report()).toMatchObject({ problems: [], missing: [], status: 'online' });
  });
});
