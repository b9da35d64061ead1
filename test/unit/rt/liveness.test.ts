import { describe, expect, it } from 'vitest';
import { Liveness, LivenessJudge } from '../../../daemon/rt-client/liveness.js';
import {
  beatLines,
  heartbeatLine,
  heartbeatSocketPath,
  parseHeartbeat,
} from '../../../drivers/rt/heartbeat-line.js';

describe('whether the main loop counts as alive', () => {
  /** Beats at every 50 ms of `ms`, with `progress` and `commit` as functions of time. */
  const beats = (ms: number, progress: (t: number) => number, commit: (t: number) => number = () => 0) => {
    const judge = new LivenessJudge();
    const alive: number[] = [];
    for (let t = 0; t <= ms; t += 50) if (judge.alive(t, progress(t), commit(t))) alive.push(t);
    return alive;
  };

  it('does while it makes progress', () => {
    expect(beats(1000, (t) => t)).toHaveLength(21);
  });

  it('falls silent 200 ms after the last progress', () => {
    expect(beats(1000, (t) => Math.min(t, 300)).at(-1)).toBe(500);
  });

  it('comes back when it makes progress again', () => {
    expect(beats(2000, (t) => (t < 300 || t > 1500 ? t : 300))).toContain(1550);
  });

  it('is excused while a commit is under way', () => {
    const committing = (t: number) => (t >= 300 && t < 900 ? 1 : 2);
    expect(beats(1200, (t) => (t < 300 || t >= 900 ? t : 300), committing)).toHaveLength(25);
  });

  it('is excused for two seconds at most', () => {
    expect(
      beats(
        5000,
        (t) => Math.min(t, 300),
        (t) => (t >= 300 ? 1 : 0),
      ).at(-1),
    ).toBe(2300);
  });

  it('is excused anew for the next commit, not for the one before', () => {
    const commit = (t: number) => (t < 1000 ? 1 : t < 2000 ? 2 : 3);
    expect(beats(6000, () => 0, commit)).toEqual([
      ...Array.from({ length: 20 }, (_, i) => i * 50),
      ...Array.from({ length: 41 }, (_, i) => 2000 + i * 50),
    ]);
  });

  it('is told by both sides of the same memory', () => {
    const here = new Liveness();
    const there = new Liveness(here.shared);
    here.progressed();
    here.began();
    here.began();
    expect([there.progress, there.commit % 2]).toEqual([1, 1]);
    here.ended();
    here.ended();
    there.answered();
    expect([there.commit % 2, here.answers]).toEqual([0, 1]);
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
