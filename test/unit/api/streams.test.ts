import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EventMessage, eventMessage, robotMessage } from '../../../daemon/api/streams/messages.js';
import { origin, type Served, serve, signIn, withToken } from '../../support/api/serve.js';
import { Refused, StreamClient } from '../../support/api/stream-client.js';
import { taskEvent } from '../../support/api/work.js';
import { until } from '../../support/until.js';

let served: Served;
const clients: StreamClient[] = [];
beforeEach(async () => {
  served = await serve({ streamBufferBytes: 32 * 1024 });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await served.stop();
});

async function follow(path = '/api/events/stream'): Promise<StreamClient> {
  const client = await StreamClient.overUnix(served, path);
  clients.push(client);
  return client;
}

async function overTcp(path: string, headers: Record<string, string>): Promise<StreamClient> {
  const client = await StreamClient.overTcp(served, path, headers);
  clients.push(client);
  return client;
}

const bearer = () => ({ authorization: `Bearer ${served.token}` });
const completed = (n: number, padding = 0) =>
  taskEvent({ event: 'COMPLETED', task_id: `t-${n}`, message: 'x'.repeat(padding) });

/** Two pings apart: whoever does not answer is gone. */
const PING_MS = 20_000;

describe('opening a stream', () => {
  const streams = ['/api/events/stream', '/api/robot/stream'];
  for (const path of streams) {
    it(`${path} takes the token, the console's session and the Unix socket`, async () => {
      const cookie = await signIn(served);
      await overTcp(path, bearer());
      await overTcp(path, { cookie, origin: origin(served) });
      await follow(path);
    });

    it(`${path} refuses pages of other origins, and sessions that name none`, async () => {
      const cookie = await signIn(served);
      const attempts: [Record<string, string>, number, string | undefined][] = [
        [{ cookie, origin: 'https://evil.example' }, 403, 'Origin'],
        [{ cookie, origin: 'null' }, 403, 'Origin'],
        [{ cookie, origin: `http://localhost:${served.port}` }, 403, 'Origin'],
        [{ cookie }, 403, 'Origin'],
        [{ ...bearer(), origin: 'https://evil.example' }, 403, 'Origin'],
        [{ ...bearer(), host: 'evil.example' }, 421, 'Host'],
        [{ authorization: 'Bearer wrong' }, 401, undefined],
        [{}, 401, undefined],
      ];
      for (const [headers, status, field] of attempts) {
        const refused = await overTcp(path, headers).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(Refused);
        expect(refused).toMatchObject({ status, body: { error: { code: 'POLICY_DENIED' } } });
        expect((refused as { body: { error: { field?: string } } }).body.error.field).toBe(field);
      }
    });

    it(`${path} is a WebSocket and says so to others`, async () => {
      const answer = await withToken(served, { path });
      expect(answer.status).toBe(426);
      expect(answer.json).toMatchObject({ error: { code: 'MALFORMED', field: 'Upgrade' } });
    });
  }

  it('refuses to upgrade an ordinary address', async () => {
    await expect(overTcp('/api/tasks', bearer())).rejects.toMatchObject({ status: 400 });
    await expect(overTcp('/api/none', bearer())).rejects.toMatchObject({ status: 404 });
  });

  it('refuses a bad position by name', async () => {
    await expect(follow('/api/events/stream?since=x')).rejects.toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_PARAMS', field: 'since' } },
    });
  });

  it('opens 32 at most', async () => {
    for (let i = 0; i < 32; i++) await follow();
    await expect(follow()).rejects.toMatchObject({
      status: 503,
      body: { error: { code: 'TASK_MANAGER_BUSY' } },
    });
  });
});

describe('following events', () => {
  it('begins with what happens from now on', async () => {
    const client = await follow();
    await client.until(() => client.messages.length === 1);
    expect(client.messages).toEqual([{ type: 'hello', seq: 7, since: 7 }]);
    served.runtime.append('events/task', completed(1));
    await client.until(() => client.messages.length === 2);
    expect(client.messages[1]).toMatchObject({
      type: 'event',
      seq: 8,
      topic: 'events/task',
      payload: { event: 'COMPLETED', task_id: 't-1', seq: 8 },
    });
  });

  it('brings what was missed first, in order, then goes on', async () => {
    const client = await follow('/api/events/stream?since=4');
    served.runtime.append('events/task', completed(1));
    await client.until(() => client.of('event').length === 4);
    expect(client.of('event').map((m) => m.seq)).toEqual([5, 6, 7, 8]);
  });

  it('says which events are no longer kept', async () => {
    served.runtime.events.splice(0, 3);
    const client = await follow('/api/events/stream?since=1');
    await client.until(() => client.of('event').length === 4);
    expect(client.messages.slice(1, 3)).toMatchObject([
      { type: 'gap', from: 2, to: 3 },
      { type: 'event', seq: 4 },
    ]);
  });

  it('begins at the end of a store that began anew', async () => {
    const client = await follow('/api/events/stream?since=5000');
    await client.until(() => client.messages.length === 1);
    expect(client.messages).toEqual([{ type: 'hello', seq: 7, since: 7 }]);
    served.runtime.append('events/task', completed(1));
    await client.until(() => client.of('event').length === 1);
  });

  it('tells nothing of a transaction that is still open', async () => {
    const client = await follow();
    await client.until(() => client.messages.length === 1);
    served.runtime.heldCommits = [];
    served.runtime.append('events/task', completed(1));
    served.runtime.heldCommits.push(() => {});
    for (let i = 0; i < 50; i++) await new Promise((r) => setImmediate(r));
    expect(client.of('event')).toEqual([]);
    for (const resolve of served.runtime.heldCommits) resolve();
    await client.until(() => client.of('event').length === 1);
  });

  it('carries progress between events, after what was committed before it', async () => {
    const client = await follow();
    await client.until(() => client.messages.length === 1);
    served.runtime.append('events/task', taskEvent({ event: 'STARTED' }));
    served.runtime.taskEvents.emit(taskEvent({ event: 'PROGRESS', progress: { remaining_m: 2 } }));
    await client.until(() => client.messages.length === 3);
    expect(client.messages.slice(1).map((m) => m.type)).toEqual(['event', 'progress']);
  });

  it('carries domain events only to who asks for them', async () => {
    const [plain, curious] = [await follow(), await follow('/api/events/stream?domain=true')];
    await curious.until(() => curious.messages.length === 1 && plain.messages.length === 1);
    served.runtime.domainEvents.emit({
      type: 'dock.stateChanged',
      at: 1,
      areaId: null,
      attributes: { docked: true },
    });
    served.runtime.append('events/task', completed(1));
    await curious.until(() => curious.messages.length === 3 && plain.messages.length === 2);
    expect(curious.of('domain')).toMatchObject([{ payload: { type: 'dock.stateChanged' } }]);
    expect(plain.of('domain')).toEqual([]);
  });

  it('sends nothing that its documented shape does not allow', async () => {
    const client = await follow('/api/events/stream?since=0&domain=true');
    served.runtime.taskEvents.emit(taskEvent({ event: 'PROGRESS' }));
    await client.until(() => client.of('event').length === 7 && client.of('progress').length === 1);
    const parsed: EventMessage[] = client.messages.map((m) => eventMessage.parse(m));
    expect(parsed).toHaveLength(9);
  });

  it('stops listening to the daemon when nobody follows any more', async () => {
    const client = await follow();
    expect(served.runtime.taskEvents.size).toBe(1);
    client.close();
    await client.until(() => served.runtime.taskEvents.size === 0);
    expect(served.runtime.appended.size).toBe(0);
  });
});

describe('a client that does not read', () => {
  it('costs a bounded number of bytes, loses progress, and no event', async () => {
    const client = await follow();
    await client.until(() => client.messages.length === 1);
    client.pause();
    // Far more than the sockets of both sides hold.
    const count = 4000;
    for (let n = 0; n < count; n++) {
      served.runtime.append('events/task', completed(n, 4000));
      served.runtime.taskEvents.emit(taskEvent({ event: 'PROGRESS', message: 'x'.repeat(1000) }));
      if (n % 100 === 0) await new Promise((r) => setImmediate(r));
    }
    const { text } = await withToken(served, { path: '/metrics' });
    const dropped = Number(/name="stream_dropped"} (\d+)/.exec(text)?.[1]);
    expect(dropped).toBeGreaterThan(count / 2);
    client.resume();
    await client.until(() => client.of('event').length === count);
    expect(client.of('event').map((m) => m.seq)).toEqual(Array.from({ length: count }, (_, i) => i + 8));
    // The next progress tells how many were left out.
    served.runtime.taskEvents.emit(taskEvent({ event: 'PROGRESS' }));
    await client.until(() => client.of('dropped').length > 0);
    const reported = client.of('dropped').reduce((sum, m) => sum + Number(m.count), 0);
    expect(reported).toBe(dropped);
    expect(client.of('progress').length + dropped).toBe(count + 1);
  });

  it('is cut off when it answers no ping', async () => {
    const client = await follow();
    await client.until(() => client.messages.length === 1);
    client.pause();
    served.clock.advance(PING_MS);
    expect(client.closed).toBeNull();
    served.clock.advance(PING_MS);
    await until(async () =>
      (await withToken(served, { path: '/metrics' })).text.includes('name="stream_terminated"} 1'),
    );
  });

  it('stays when it answers', async () => {
    const client = await follow();
    for (let i = 0; i < 5; i++) {
      served.clock.advance(PING_MS);
      await client.answered();
    }
    expect(client.closed).toBeNull();
  });
});

describe('following the robot', () => {
  it('shows it at once, then five times a second, with scan and path only where they changed', async () => {
    const client = await follow('/api/robot/stream');
    await client.until(() => client.messages.length === 1);
    const first = robotMessage.parse(client.messages[0]);
    expect(first.state?.pose).toEqual({ x: 4.1, y: 3.15, theta: -0.1 });
    expect(first.scan?.ranges).toHaveLength(360);
    expect(first.path?.length).toBe(12);
    served.clock.advance(200);
    await client.until(() => client.messages.length === 2);
    expect(client.messages[1]).not.toHaveProperty('scan');
    expect(client.messages[1]).not.toHaveProperty('path');
    if (served.runtime.robot !== null) served.runtime.robot.lidar.lastScanAt = 1;
    served.runtime.path = [];
    served.clock.advance(200);
    await client.until(() => client.messages.length === 3);
    expect(robotMessage.parse(client.messages[2])).toMatchObject({ scan: { at_ms: 1 }, path: [] });
  });

  it('says null for a robot that has never reported', async () => {
    served.runtime.robot = null;
    const client = await follow('/api/robot/stream');
    await client.until(() => client.messages.length === 1);
    expect(robotMessage.parse(client.messages[0])).toMatchObject({ state: null, scan: null, path: [] });
  });

  it('leaves frames out for a client that is behind', async () => {
    const client = await follow('/api/robot/stream');
    await client.until(() => client.messages.length === 1);
    client.pause();
    for (let i = 0; i < 3000; i++) {
      if (served.runtime.robot !== null) served.runtime.robot.lidar.lastScanAt = i;
      served.clock.advance(200);
      if (i % 50 === 0) await new Promise((r) => setImmediate(r));
      if (i % 90 === 0) client.resume();
      if (i % 90 === 1) client.pause();
    }
    client.resume();
    await client.until(() => client.messages.length > 1);
    expect(client.messages.length).toBeLessThan(3000);
  });
});

describe('the end of a session', () => {
  it('ends its streams', async () => {
    const cookie = await signIn(served);
    const client = await overTcp('/api/events/stream', { cookie, origin: origin(served) });
    await client.until(() => client.messages.length === 1);
    for (let minutes = 0; minutes <= 12 * 60; minutes += 30) {
      served.clock.advance(PING_MS);
      await client.answered();
      served.clock.jump(30 * 60_000);
    }
    served.clock.advance(PING_MS);
    await client.until(() => client.closed !== null);
    expect(client.closed?.code).toBe(4401);
  });
});

describe('stopping the daemon', () => {
  it('says goodbye to everybody', async () => {
    const client = await follow();
    const other = await serve();
    const otherClient = await StreamClient.overUnix(other, '/api/robot/stream');
    await other.stop();
    await otherClient.until(() => otherClient.closed !== null);
    expect(otherClient.closed).toEqual({ code: 1001, reason: 'the daemon stops' });
    expect(client.closed).toBeNull();
  });
});
