import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { settle } from '../../../config/contracts/sim-clock.js';
import { LockstepParticipant, type ParticipantSources } from '../../../drivers/lockstep/participant.js';
import { type Line, LockstepServer } from '../../../simulator/lockstep/server.js';

const START = 1_790_000_000_000;

/** One line as the simulator counts it, and the host's end of it. */
function countedLine(name: string) {
  const host = { rx: 0, tx: 0, opens: 1 };
  const device = { sent: 0, received: 0 };
  const line: Line = {
    name,
    sent: () => device.sent,
    received: () => device.received,
    session: () => 1,
  };
  return { line, host, device };
}

describe('a participant of a lock-step simulation', () => {
  let folder: string;
  let server: LockstepServer;
  const base = countedLine('base');
  let mono = 10_000;
  const lost: string[] = [];
  const joined: LockstepParticipant[] = [];

  const join_ = async (name: 'rt' | 'daemon', sources: Partial<ParticipantSources> = {}) => {
    const participant = await LockstepParticipant.join({
      socketPath: join(folder, 'lockstep.sock'),
      name,
      pid: 1,
      wall: () => performance.now(),
      onLost: (reason) => lost.push(reason),
    });
    participant.watch({ ports: () => ({}), links: () => ({}), busy: () => 0, ...sources });
    joined.push(participant);
    return participant;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lockstep-'));
    mono = 10_000;
    lost.length = 0;
    Object.assign(base.host, { rx: 0, tx: 0, opens: 1 });
    Object.assign(base.device, { sent: 0, received: 0 });
    server = new LockstepServer({
      socketPath: join(folder, 'lockstep.sock'),
      lines: [base.line],
      local: { advance: async () => {}, busy: () => 0, activity: () => 0 },
      time: () => ({ now: START + mono, mono }),
      wall: new SystemClock(),
      patienceMs: 1000,
    });
    await server.start();
  });
  afterEach(async () => {
    for (const participant of joined.splice(0)) participant.leave();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const tick = async (ms: number) => {
    mono += ms;
    await server.advance(mono);
  };

  it('runs on the time of the simulator, which joins it wherever it is', async () => {
    const rt = await join_('rt');
    expect(rt.clock.now()).toBe(START + 10_000);
    await server.settleNow();
    await tick(50);
    expect(rt.clock.now()).toBe(START + 10_050);
    server.jump(3_600_000);
    await tick(50);
    expect(rt.clock.now()).toBe(START + 10_100 + 3_600_000);
    expect(rt.clock.mono()).toBe(100);
  });

  it('fires timers one by one at their own times, with the promises that each sets off', async () => {
    const rt = await join_('rt');
    const seen: string[] = [];
    rt.clock.every(20, () => {
      seen.push(`timer ${rt.clock.mono()}`);
      void settle(1).then(() => seen.push(`after ${rt.clock.mono()}`));
    });
    await tick(50);
    expect(seen).toEqual(['timer 20', 'after 20', 'timer 40', 'after 40']);
  });

  it('lets the motion process act before the daemon in every tick', async () => {
    const rt = await join_('rt');
    const daemon = await join_('daemon');
    const order: string[] = [];
    daemon.clock.every(50, () => order.push('daemon'));
    rt.clock.every(50, () => order.push('rt'));
    await tick(50);
    await tick(50);
    expect(order).toEqual(['rt', 'daemon', 'rt', 'daemon']);
  });

  it('waits for the announced bytes before it fires a timer', async () => {
    const rt = await join_('rt', { ports: () => ({ base: { ...base.host } }) });
    await server.settleNow();
    const heard: number[] = [];
    rt.clock.after(50, () => heard.push(base.host.rx));
    base.device.sent = 80;
    setTimeout(() => {
      base.host.rx = 80;
    }, 30);
    await tick(50);
    expect(heard).toEqual([80]);
    expect(server.unsettled).toBe(0);
  });

  it('holds time back while a job outside the event loop runs', async () => {
    let jobs = 0;
    const rt = await join_('rt', { busy: () => jobs });
    rt.clock.after(10, () => {
      jobs = 1;
      setTimeout(() => {
        jobs = 0;
      }, 60);
    });
    await tick(50);
    expect(jobs).toBe(0);
    expect(server.unsettled).toBe(0);
  });

  it('is not waited for any more when it hangs', async () => {
    const socketPath = join(folder, 'impatient.sock');
    const impatient = new LockstepServer({
      socketPath,
      lines: [],
      local: { advance: async () => {}, busy: () => 0, activity: () => 0 },
      time: () => ({ now: START, mono: 0 }),
      wall: new SystemClock(),
      answerMs: 100,
    });
    await impatient.start();
    const hung = connect(socketPath);
    hung.write(`${JSON.stringify({ t: 'hello', name: 'daemon', pid: 2 })}\n`);
    hung.resume();
    expect(await impatient.waitFor(['daemon'], 5000)).toBe(true);
    await impatient.advance(50);
    expect(impatient.present()).toEqual([]);
    await impatient.stop();
  });

  it('counts as busy until it has been put together', async () => {
    const rt = await LockstepParticipant.join({
      socketPath: join(folder, 'lockstep.sock'),
      name: 'rt',
      pid: 1,
      wall: () => performance.now(),
      onLost: () => {},
    });
    joined.push(rt);
    let settled = false;
    const settling = server.settleNow().then(() => {
      settled = true;
    });
    await settle(50);
    expect(settled).toBe(false);
    rt.watch({ ports: () => ({}), links: () => ({}), busy: () => 0 });
    await settling;
  });

  it('does not let a tick end while a message between the processes is under way', async () => {
    const links = { rt: { sent: 0, received: 0 }, daemon: { sent: 0, received: 0 } };
    const rt = await join_('rt', { links: () => ({ rt: { ...links.rt } }) });
    await join_('daemon', { links: () => ({ rt: { ...links.daemon } }) });
    rt.clock.after(10, () => {
      links.rt.sent += 1;
      setTimeout(() => {
        links.daemon.received += 1;
      }, 40);
    });
    await tick(50);
    expect(links.daemon.received).toBe(1);
  });

  it('tells the process when the simulator is gone, so that it can stop the robot', async () => {
    await join_('rt');
    await server.stop();
    await settle(20);
    expect(lost).toHaveLength(1);
  });

  it('refuses to start without a simulator, naming the socket', async () => {
    await server.stop();
    await expect(join_('rt')).rejects.toThrow('lockstep.sock');
  });
});
