/**
 * Real processes on pseudo-terminals, in real time: the only tests here that wait on the wall clock, because what
 * they show is what happens when a process is killed. The base has no watchdog.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessRig } from '../../support/rt/process-rig.js';
import { STOP } from '../../support/rt/rig.js';

describe('the motion process as a process', { timeout: 60_000 }, () => {
  let rig: ProcessRig;
  beforeEach(async () => {
    rig = new ProcessRig();
    await rig.start();
  });
  afterEach(() => rig.close());

  it('stops the wheels within 200 ms when the daemon is killed, and ends', async () => {
    await rig.turn();
    const rt = rig.rtPid;
    rig.daemon?.kill('SIGKILL');
    expect(await rig.timeToStop()).toBeLessThan(200);
    await rig.until('the end of rt', () => !alive(rt));
    expect(rig.peer.received.at(-1)?.command).toBe('stop');
  });

  it('stops the wheels when the daemon hangs, and not for a commit that takes long', async () => {
    await rig.turn();
    rig.order({ do: 'block', ms: 1000, commit: true });
    await rig.wait(900);
    expect(rig.peer.stopped).toBe(false);
    await rig.wait(500);
    rig.order({ do: 'block', ms: 1500, commit: false });
    const ms = await rig.timeToStop();
    // 200 ms without progress silence the beat thread, 200 ms without a beat stop the wheels.
    expect(ms).toBeGreaterThan(200);
    expect(ms).toBeLessThan(700);
  });

  it('is started again at once when it is killed, and stops the base first', async () => {
    await rig.turn();
    const before = rig.peer.received.length;
    process.kill(rig.rtPid, 'SIGKILL');
    await rig.timeToStop();
    const first = rig.peer.received.slice(before).filter((r) => !r.command.startsWith('drive -'))[0];
    expect(first?.command).toBe(STOP);
    await rig.until('the end of the action', () =>
      rig.messages.some((m) => m.event?.type === 'action' && m.event.update.status === 'failed'),
    );
    const links = () => rig.messages.flatMap((m) => (m.event?.type === 'link' ? [m.event.connected] : []));
    await rig.until('the link to come back', () => links().join() === 'true,false,true');
    const began = rig.clock.now();
    await rig.until(
      'a robot that may drive',
      () => rig.state?.safety.level === 'OK' && rig.state.at >= began,
    );
    await rig.turn();
  });

  it('is replaced when it hangs, and the wheels are stopped then', async () => {
    await rig.turn();
    const hung = rig.rtPid;
    process.kill(hung, 'SIGSTOP');
    // 750 ms of silence, the check after them, and a new process.
    expect(await rig.timeToStop(8000)).toBeLessThan(3000);
    await rig.until('another process', () => rig.rtPid !== hung);
    expect(alive(hung)).toBe(false);
  });

  it('stops the wheels first when it is told to end', async () => {
    await rig.turn();
    process.kill(rig.rtPid, 'SIGTERM');
    expect(await rig.timeToStop()).toBeLessThan(200);
  });

  it('ends with its daemon in order', async () => {
    await rig.turn();
    const rt = rig.rtPid;
    rig.order({ do: 'stop' });
    await rig.timeToStop();
    await rig.until('the end of rt', () => !alive(rt));
    await rig.until('the end of the daemon', () => rig.daemon?.exitCode === 0);
  });

  it('stops on the byte also when it has just stood on its dock with nothing to do', async () => {
    rig.peer.flags.docked = true;
    await rig.until('the dock', () => rig.state?.base.docked === true);
    // Long enough for its ports to be held.
    await rig.wait(500);
    await rig.turn();
    rig.peer.flags.bumpLeft = true;
    rig.peer.sendFrame();
    expect(await rig.timeToStop()).toBeLessThan(100);
  });

  it('notices within a few control cycles on its dock that somebody takes it off', async () => {
    rig.peer.flags.docked = true;
    await rig.until('the dock', () => rig.state?.base.docked === true);
    await rig.wait(500);
    rig.peer.flags.docked = false;
    const began = rig.clock.mono();
    await rig.until('the news', () => rig.state?.base.docked === false);
    expect(rig.clock.mono() - began).toBeLessThan(300);
  });

  it('holds an e-stop that was pressed before everything was killed', async () => {
    await rig.turn();
    rig.order({ do: 'estop' });
    await rig.until('the latch', () => rig.messages.some((m) => m.t === 'latched'));
    expect(rig.peer.stopped).toBe(true);
    rig.daemon?.kill('SIGKILL');
    await rig.until('the end of rt', () => rig.peer.received.at(-1)?.command === 'stop');
    rig.launch();
    await rig.until('a report', () => rig.state !== null);
    expect(rig.state?.safety.estop).toMatchObject({ latched: true, by: 'test' });
    rig.order({ do: 'start', id: 'again', action: { kind: 'spin', angle: 1, tolerance: 0.1 } });
    await rig.until('a refusal', () => rig.messages.some((m) => m.t === 'refused'));
    expect(rig.peer.stopped).toBe(true);
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
