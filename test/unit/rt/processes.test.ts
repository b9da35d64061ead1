/**
 * Real processes on pseudo-terminals, in real time: the only tests here that wait on the wall clock, because what
 * they show is what happens when a process is killed. The base has no watchdog. A busy machine makes any delay longer
 * and none shorter: a bound holds when one of a few tries keeps it (`npm run crash` measures every one).
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
    await holdsOnce('the wheels stopped within 200 ms', async () => {
      if (rig.daemon?.signalCode !== null) await rig.start();
      await rig.turn();
      const rt = rig.rtPid;
      rig.daemon?.kill('SIGKILL');
      const ms = await rig.timeToStop();
      await rig.until('the end of rt', () => !alive(rt));
      expect(rig.peer.received.at(-1)?.command).toBe('stop');
      return ms < 200;
    });
  });

  it('stops the wheels within 200 ms of the last sign of life of a daemon that hangs', async () => {
    await holdsOnce('the wheels stopped within 200 ms', async () => {
      await rig.turn();
      rig.order({ do: 'block', ms: 1500, commit: false });
      const ms = await rig.timeToStop();
      await rig.wait(1500);
      // The order was on its way for a moment before the daemon hung.
      return ms < 220;
    });
  });

  it.each([
    ['a commit that takes long', { ms: 1000, commit: true }],
    ['a turn of the main loop that takes long', { ms: 90, commit: false }],
  ])('does not stop the wheels for %s', async (_what, block) => {
    await holdsOnce('the wheels turned all the time', async () => {
      await rig.turn();
      const before = rig.silences;
      rig.order({ do: 'block', ...block });
      await rig.wait(block.ms + 300);
      return rig.silences === before;
    });
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
    await rig.timeToStop(8000);
    await rig.until('another process', () => rig.rtPid !== hung);
    expect(alive(hung)).toBe(false);
  });

  it('stops the wheels first when it is told to end', async () => {
    await rig.turn();
    const before = rig.peer.received.length;
    process.kill(rig.rtPid, 'SIGTERM');
    await rig.timeToStop();
    // Not by its successor, whose first bytes begin a conversation.
    const sent = rig.peer.received.slice(before).map(({ command }) => command);
    expect(sent.slice(0, sent.indexOf(STOP))).not.toContain('start');
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
    await rig.timeToStop();
    await rig.until('the reason', () => rig.causes.includes('bumper_left'));
  });

  it('notices on its dock that somebody takes it off', async () => {
    rig.peer.flags.docked = true;
    await rig.until('the dock', () => rig.state?.base.docked === true);
    await rig.wait(500);
    rig.peer.flags.docked = false;
    await rig.until('the news', () => rig.state?.base.docked === false);
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

const TRIES = 5;

async function holdsOnce(what: string, once: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < TRIES; i++) if (await once()) return;
  throw new Error(`in ${TRIES} tries it was not once so that ${what}`);
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
