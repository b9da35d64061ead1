import { beforeEach, describe, expect, it } from 'vitest';
import type { AmrEvent } from '../../../config/contracts/amr.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import type { DaemonToRt, RtToDaemon } from '../../../config/contracts/rt-protocol.js';
import { SimClock, settle } from '../../../config/contracts/sim-clock.js';
import { RestartPolicy } from '../../../daemon/rt-client/restart-policy.js';
import { RtClient } from '../../../daemon/rt-client/rt-client.js';
import { onboardAbilities } from '../../../drivers/rt/abilities.js';
import { memoryChannel, type RtEnd } from '../../../drivers/rt/channel.js';
import { DRIVE } from '../../support/rt/rig.js';

describe('the daemon without a motion process', () => {
  const latched: string[] = [];
  const client = new RtClient({
    clock: new SimClock(0),
    log: SILENT_LOG,
    heartbeat: 'thread',
    latchEstop: async (by) => {
      latched.push(by);
    },
  });

  it('knows nothing of the robot', () => {
    expect(client.state()).toBeNull();
    expect(client.view()).toEqual({ scan: null, path: [] });
  });

  it('refuses motion with HARDWARE_FAULT', async () => {
    await expect(client.start('a', DRIVE, 1)).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
    await expect(client.plan({ from: null, goal: { x: 0, y: 0, theta: 0 } })).rejects.toMatchObject({
      reason: 'HARDWARE_FAULT',
    });
    await expect(client.loadMap('map.yaml')).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
  });

  it('has nothing to stop', async () => {
    await expect(client.stop('test')).resolves.toBeUndefined();
  });

  it('latches an e-stop on disk for the next one', async () => {
    await client.estop('console');
    expect(latched).toEqual(['console']);
  });
});

describe('the daemon with a motion process', () => {
  let clock: SimClock;
  let client: RtClient;
  let rt: RtEnd;
  let asked: DaemonToRt[];
  let events: AmrEvent[];
  let latched: string[];
  /** Answers everything while true. */
  let answering: boolean;

  const attach = () => {
    const channel = memoryChannel();
    rt = channel.rt;
    client.attach(channel.daemon);
    rt.onMessage((message) => {
      asked.push(message);
      if (answering && message.t === 'request') rt.send({ t: 'response', n: message.n, ok: true });
    });
  };
  const ready = async () => {
    rt.send({ t: 'ready', bootId: 'rt-1', pid: 1, abilities: onboardAbilities(true) });
    await settle();
  };
  const links = () => events.flatMap((e) => (e.type === 'link' ? [[e.connected, e.reason]] : []));
  const ends = () => events.flatMap((e) => (e.type === 'action' ? [[e.update.id, e.update.status]] : []));
  const ended = (id: string): RtToDaemon => ({
    t: 'event',
    event: {
      type: 'action',
      update: { id, kind: 'followPath', at: 1, status: 'succeeded', pose: null, docked: null, detail: {} },
    },
  });

  beforeEach(() => {
    clock = new SimClock(0);
    asked = [];
    events = [];
    latched = [];
    answering = true;
    client = new RtClient({
      clock,
      log: SILENT_LOG,
      heartbeat: 'on_clock',
      latchEstop: async (by) => {
        latched.push(by);
      },
    });
    client.subscribe((event) => events.push(event));
    attach();
  });

  it('uses it from the moment it is ready, and says so', async () => {
    expect(client.connected).toBe(false);
    await expect(client.start('a', DRIVE, 1)).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
    await ready();
    expect(links()).toEqual([[true, null]]);
    await expect(client.start('a', DRIVE, 1)).resolves.toBeUndefined();
  });

  it('beats on the clock of the robot, every 50 ms, counting', async () => {
    await clock.advanceAsync(200);
    expect(asked).toEqual([1, 2, 3, 4].map((beat) => ({ t: 'heartbeat', beat })));
  });

  it('fails a running action when the process dies, once', async () => {
    await ready();
    await client.start('a', DRIVE, 1);
    await client.start('b', DRIVE, 1);
    rt.send(ended('a'));
    rt.close();
    await settle();
    client.detach('killed');
    expect(ends()).toEqual([
      ['a', 'succeeded'],
      ['b', 'failed'],
    ]);
    expect(links().at(-1)?.[0]).toBe(false);
    expect(client.connected).toBe(false);
  });

  it('rejects what was asked of a process that dies', async () => {
    await ready();
    answering = false;
    const plan = client.plan({ from: null, goal: { x: 0, y: 0, theta: 0 } });
    const start = client.start('a', DRIVE, 1);
    rt.close();
    await expect(plan).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
    await expect(start).rejects.toMatchObject({ reason: 'HARDWARE_FAULT' });
    expect(ends()).toEqual([]);
  });

  it('gives up waiting after a time-out that names what was asked, and stops what may have begun', async () => {
    await ready();
    answering = false;
    const start = client.start('a', DRIVE, 1);
    const caught = start.catch((error: unknown) => String(error));
    await clock.advanceAsync(2100);
    expect(await caught).toContain('"start followPath" within 2000 ms');
    expect(asked.at(-1)).toMatchObject({ t: 'heartbeat' });
    expect(asked.some((m) => m.t === 'request' && m.request.op === 'stop')).toBe(true);
  });

  it('latches an e-stop on disk when the process does not confirm it', async () => {
    await ready();
    answering = false;
    const pressed = client.estop('voice');
    await clock.advanceAsync(2100);
    await pressed;
    expect(latched).toEqual(['voice']);
  });

  it('says that the robot stands and a restart would forget it, when an e-stop can nowhere be written down', async () => {
    client = new RtClient({
      clock,
      log: SILENT_LOG,
      heartbeat: 'on_clock',
      latchEstop: async () => {
        throw new Error('read-only file system');
      },
    });
    attach();
    await ready();
    answering = false;
    const pressed = client.estop('voice').catch((error: unknown) => error);
    await clock.advanceAsync(2100);
    expect(await pressed).toMatchObject({
      reason: 'HARDWARE_FAULT',
      message: expect.stringContaining('read-only file system'),
    });
  });

  it('gives the map back to a process that was started again, before it says that it is there', async () => {
    await ready();
    await client.loadMap('/maps/home.yaml');
    rt.close();
    attach();
    asked.length = 0;
    events.length = 0;
    rt.send({ t: 'ready', bootId: 'rt-2', pid: 2, abilities: onboardAbilities(true) });
    expect(links()).toEqual([]);
    await settle();
    expect(asked).toMatchObject([{ t: 'request', request: { op: 'loadMap', mapYaml: '/maps/home.yaml' } }]);
    expect(links()).toEqual([[true, null]]);
  });

  it('passes on how it was refused', async () => {
    await ready();
    answering = false;
    const start = client.start('a', DRIVE, 1);
    const release = client.releaseEstop('console');
    for (const message of asked) {
      if (message.t !== 'request') continue;
      const reason = message.request.op === 'start' ? 'RESOURCE_BUSY' : 'ILLEGAL_STATE';
      rt.send({ t: 'response', n: message.n, ok: false, reason, message: 'no' });
    }
    await expect(start).rejects.toMatchObject({ name: 'Refusal', reason: 'RESOURCE_BUSY' });
    await expect(release).rejects.toMatchObject({ reason: 'ILLEGAL_STATE' });
  });

  it('bounds what it asks of a process that does not answer', async () => {
    await ready();
    answering = false;
    const asks = Array.from({ length: 70 }, () => client.relocalize({ x: 0, y: 0, theta: 0 }).catch(String));
    await clock.advanceAsync(2100);
    const outcomes = await Promise.all(asks);
    expect(outcomes.filter((o) => String(o).includes('unanswered'))).toHaveLength(6);
  });

  it('is not brought down by a listener that throws', async () => {
    client.subscribe(() => {
      throw new Error('a defect elsewhere');
    });
    await ready();
    expect(links()).toEqual([[true, null]]);
    expect(client.counters().amr_listener_errors).toBe(1);
  });
});

describe('restarting a motion process that died', () => {
  it('is done at once, and with growing pauses when it keeps dying', () => {
    const policy = new RestartPolicy();
    const delays = Array.from({ length: 10 }, (_, i) => policy.delayAfterDeath(i * 100));
    expect(delays).toEqual([0, 0, 0, 250, 500, 1000, 2000, 4000, 8000, 10_000]);
  });

  it('is done at once again after it has run for a while', () => {
    const policy = new RestartPolicy();
    for (let i = 0; i < 6; i++) policy.delayAfterDeath(i);
    expect(policy.delayAfterDeath(60_000)).toBe(0);
  });
});
