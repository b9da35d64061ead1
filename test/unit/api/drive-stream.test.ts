/** Driving by hand over the WebSocket: who may, what each message does, and how a press ends. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { driveMessage } from '../../../daemon/api/streams/messages.js';
import { origin, type Served, serve, signIn } from '../../support/api/serve.js';
import { StreamClient } from '../../support/api/stream-client.js';
import { taskEvent } from '../../support/api/work.js';
import { until } from '../../support/until.js';

const PATH = '/api/drive/stream';
const PRESS = { type: 'press', v: 0.2, w: 0 };

let served: Served;
const clients: StreamClient[] = [];
beforeEach(async () => {
  served = await serve({});
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await served.stop();
});

async function driver(headers?: Record<string, string>): Promise<StreamClient> {
  const client =
    headers === undefined
      ? await StreamClient.overUnix(served, PATH)
      : await StreamClient.overTcp(served, PATH, headers);
  clients.push(client);
  return client;
}

async function pressed(client: StreamClient): Promise<string> {
  const before = client.of('pressed').length;
  client.send(PRESS);
  await client.until(() => client.of('pressed').length > before);
  return String(client.of('pressed').at(-1)?.task_id);
}
const heldSoFar = () => [...served.runtime.held];

describe('driving by hand', () => {
  it('makes a task of its own of each press, for now or not at all, under the name of who presses', async () => {
    const client = await driver();
    const taskId = await pressed(client);
    const { raw, principal } = served.runtime.handled.at(-1) ?? {};
    expect(raw).toMatchObject({
      kind: 'task',
      method: 'manualMove',
      params: { v: 0.2, w: 0 },
      task: { executionMode: 'IMMEDIATE' },
    });
    expect(principal).toEqual({ source: 'LOCAL', name: 'unix-socket' });
    expect(heldSoFar()).toEqual([`keep ${taskId}`]);
    for (const message of client.messages) expect(driveMessage.safeParse(message).success).toBe(true);
  });

  it('passes on every sign of life, and the release', async () => {
    const client = await driver();
    const taskId = await pressed(client);
    client.send({ type: 'hold' });
    client.send({ type: 'hold', task_id: taskId });
    client.send({ type: 'release' });
    client.send({ type: 'hold' });
    await until(() => heldSoFar().length === 4);
    await client.answered();
    expect(heldSoFar()).toEqual([`keep ${taskId}`, `keep ${taskId}`, `keep ${taskId}`, `release ${taskId}`]);
  });

  it('says how a press ended', async () => {
    const client = await driver();
    const taskId = await pressed(client);
    const evidence = {
      completion_target: 'movement.hand_drive_ended',
      observed_at_ms: 1,
      ended: 'no_keep_alive',
    };
    served.runtime.taskEvents.emit(
      taskEvent({ event: 'COMPLETED', task_id: taskId, method: 'manualMove', evidence }),
    );
    await client.until(() => client.of('ended').length === 1);
    expect(client.of('ended')[0]).toMatchObject({
      task_id: taskId,
      event: 'COMPLETED',
      ended: 'no_keep_alive',
    });
  });

  it('tells a refusal with its code', async () => {
    served.runtime.refuse.set('manualMove', {
      reason: 'RESOURCE_BUSY',
      message: 'motion is held by setMoveTo',
    });
    const client = await driver();
    client.send(PRESS);
    await client.until(() => client.of('refused').length === 1);
    expect(client.of('refused')[0]).toMatchObject({ code: 'RESOURCE_BUSY' });
    expect(heldSoFar()).toEqual([]);
  });

  it('lets go of everything when the socket is gone', async () => {
    const client = await driver();
    const taskId = await pressed(client);
    client.close();
    await until(() => heldSoFar().includes(`release ${taskId}`));
  });

  it('lets go of the press before when a new one comes', async () => {
    const client = await driver();
    const first = await pressed(client);
    const second = await pressed(client);
    expect(heldSoFar()).toEqual([`keep ${first}`, `release ${first}`, `keep ${second}`]);
  });

  it('nobody can hold or release what somebody else presses', async () => {
    const one = await driver();
    const taskId = await pressed(one);
    const other = await driver();
    other.send({ type: 'hold', task_id: taskId });
    other.send({ type: 'release', task_id: taskId });
    await other.until(() => other.of('refused').length === 1);
    expect(other.of('refused')[0]).toMatchObject({ code: 'RESOURCE_BUSY' });
    expect(heldSoFar()).toEqual([`keep ${taskId}`]);
    other.send({ type: 'hold', task_id: 't-none' });
    await other.until(() => other.of('refused').length === 2);
    expect(other.of('refused')[1]).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('refuses what it does not understand by field, and goes on', async () => {
    const client = await driver();
    for (const bad of ['{', '[]', { type: 'fly' }, { ...PRESS, v: 'fast' }, { ...PRESS, extra: 1 }]) {
      client.send(bad);
    }
    await client.until(() => client.of('refused').length === 5);
    for (const message of client.messages) expect(message).toMatchObject({ code: 'INVALID_PARAMS' });
    await pressed(client);
  });

  it('closes a socket that says too much, and lets go', async () => {
    const client = await driver();
    const taskId = await pressed(client);
    for (let i = 0; i < 100; i++) client.send({ type: 'hold' });
    await client.until(() => client.closed !== null);
    expect(client.closed?.code).toBe(1008);
    expect(heldSoFar()).toContain(`release ${taskId}`);
  });

  it('is for those who may control: a session of the console, or a token with the scope', async () => {
    const cookie = await signIn(served);
    await driver({ cookie, origin: origin(served) });
    await driver({ authorization: `Bearer ${served.token}` });
    await expect(driver({ cookie, origin: 'https://evil.example' })).rejects.toMatchObject({ status: 403 });
    await expect(driver({})).rejects.toMatchObject({ status: 401 });
  });
});
