import { describe, expect, it } from 'vitest';
import { CommitExcuse, Liveness, StarvationExcuse } from '../../../daemon/rt-client/liveness.js';
import { seeMainThread } from '../../../daemon/rt-client/main-thread.js';
import {
  beatLines,
  heartbeatLine,
  heartbeatSocketPath,
  parseHeartbeat,
} from '../../../drivers/rt/heartbeat-line.js';

describe('the excuse of a main loop that does not come round', () => {
  /** When it held, looked at every 50 ms of `ms`, with `commit` as a function of time. */
  const held = (ms: number, commit: (t: number) => number) => {
    const excuse = new CommitExcuse();
    const times: number[] = [];
    for (let t = 0; t <= ms; t += 50) if (excuse.holds(t, commit(t))) times.push(t);
    return times;
  };

  it('is a commit under way, and nothing else', () => {
    expect(held(1200, (t) => (t < 300 ? 0 : t < 500 ? 1 : 2))).toEqual([300, 350, 400, 450]);
  });

  it('holds for two seconds at most', () => {
    expect(held(5000, (t) => (t >= 300 ? 1 : 0)).at(-1)).toBe(2300);
  });

  it('holds anew for the next commit, not for the one before', () => {
    const commit = (t: number) => (t < 3000 ? 1 : t < 4000 ? 2 : 3);
    expect(held(7000, commit)).toEqual([
      ...Array.from({ length: 41 }, (_, i) => i * 50),
      ...Array.from({ length: 41 }, (_, i) => 4000 + i * 50),
    ]);
  });

  it('is told by both sides of the same memory', () => {
    const here = new Liveness();
    const there = new Liveness(here.shared);
    here.began();
    here.began();
    expect(there.commit % 2).toBe(1);
    here.ended();
    here.ended();
    there.answered();
    expect([there.commit % 2, here.answers]).toEqual([0, 1]);
  });
});

describe('the excuse of a main loop that the machine has no processor for', () => {
  const seen = (ranMs: number, runnable = true) => ({ ranMs, runnable });

  it('holds while its thread would run and hardly gets to', () => {
    const excuse = new StarvationExcuse();
    expect(excuse.holds(60, 60, seen(1000))).toBe(false);
    expect(excuse.holds(110, 110, seen(1001))).toBe(true);
    expect(excuse.holds(160, 160, seen(1005))).toBe(true);
  });

  it('does not hold for a loop that runs and does not come round', () => {
    const excuse = new StarvationExcuse();
    excuse.holds(60, 60, seen(1000));
    expect(excuse.holds(110, 110, seen(1050))).toBe(false);
    // Nor where it has to share the processor with others.
    expect(excuse.holds(160, 160, seen(1062))).toBe(false);
  });

  it('does not hold for a loop that waits for something', () => {
    const excuse = new StarvationExcuse();
    excuse.holds(60, 60, seen(1000, false));
    expect(excuse.holds(110, 110, seen(1000, false))).toBe(false);
  });

  it('ends 200 ms after it last came round, and begins anew when it does', () => {
    const excuse = new StarvationExcuse();
    excuse.holds(160, 160, seen(1000));
    expect(excuse.holds(210, 210, seen(1000))).toBe(false);
    excuse.reset();
    expect(excuse.holds(280, 60, seen(1000))).toBe(false);
    expect(excuse.holds(330, 110, seen(1000))).toBe(true);
  });

  it('is given by nobody where the system does not tell', () => {
    const excuse = new StarvationExcuse();
    excuse.holds(60, 60, null);
    expect(excuse.holds(110, 110, null)).toBe(false);
  });
});

describe.skipIf(process.platform !== 'linux')('what the system says of the main thread', () => {
  it('is how long it ran, and whether it would', () => {
    const before = seeMainThread();
    let n = 0;
    for (const until = performance.now() + 30; performance.now() < until; n++);
    const after = seeMainThread();
    expect(after?.runnable).toBe(n > 0);
    expect(after?.ranMs).toBeGreaterThan(before?.ranMs ?? Number.POSITIVE_INFINITY);
  });
});

describe('the heartbeat line', () => {
  it('carries one beat a line', () => {
    expect(parseHeartbeat(heartbeatLine(17).trimEnd())).toBe(17);
  });

  it('takes nothing else for a beat', () => {
    for (const line of [
      '',
      '17',
      '{"t":"heartbeat"}',
      '{"t":"heartbeat","beat":-1}',
      `${heartbeatLine(1).trimEnd()} `,
    ]) {
      expect(parseHeartbeat(line)).toBeNull();
    }
  });

  it('puts lines together from pieces, and gives up on a line without end', () => {
    const seen: string[] = [];
    let rejected = 0;
    const take = beatLines(
      (line) => seen.push(line),
      () => rejected++,
    );
    for (const piece of ['ab', 'c\nd', 'ef\n', '\ngh']) take(piece);
    expect(seen).toEqual(['abc', 'def', '']);
    take('x'.repeat(300));
    expect(rejected).toBe(1);
  });

  it('has an address that a Unix socket can hold, however deep the state directory lies', () => {
    const deep = `/home/${'very-long-name/'.repeat(20)}`;
    expect(heartbeatSocketPath('/var/lib/deviceagent')).toBe('/var/lib/deviceagent/rt-heartbeat.sock');
    expect(Buffer.byteLength(heartbeatSocketPath(deep))).toBeLessThan(108);
    expect(heartbeatSocketPath(deep)).toBe(heartbeatSocketPath(deep));
    expect(heartbeatSocketPath(deep)).not.toBe(heartbeatSocketPath(`${deep}x`));
  });
});
