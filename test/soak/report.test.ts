import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';
import { describeReport, judge, type SoakFacts } from './report.js';

const steady = Array.from({ length: 9 }, (_, i) => ({ daemon: 100 + (i % 2), rt: 80 }));

function facts(change: Partial<SoakFacts> = {}): SoakFacts {
  return {
    seed: 1,
    hours: 4,
    wallMs: 600_000,
    chores: { setMoveTo: 10, rotate: 2 },
    refused: 1,
    troubles: { 'a bump': 3 },
    rests: 9,
    findings: [],
    memory: steady,
    defects: 0,
    ...change,
  };
}

describe('the verdict on a soak', () => {
  it('is good when nothing is left over and memory stays', () => {
    const report = judge(facts());
    expect(report).toMatchObject({ ok: true, chores: 12, troubles: 3, x_realtime: 24, problems: [] });
    expect(describeReport(report)).toContain('✓');
  });

  it.each([
    ['rest 2: stuck lease: motion is held by t-1, and nothing runs', { stuck_leases: 1 }],
    ['rest 2: zombie: still live 180 s after its cancellation: /api/tasks/t-1', { zombies: 1 }],
    ['rest 3: lost: seq 7 never came', { events_lost: 1 }],
    ['rest 3: not home: returnToStation is FAILED OBSTRUCTED', { other_findings: 1 }],
  ])('is bad after "%s"', (finding, counted) => {
    expect(judge(facts({ findings: [finding] }))).toMatchObject({
      ok: false,
      ...counted,
      problems: [finding],
    });
  });

  it('is bad when a process grows from one third of the rests to the next', () => {
    const memory = steady.map((at, i) => ({ daemon: at.daemon + (i >= 6 ? 20 : 0), rt: at.rt }));
    const report = judge(facts({ memory }));
    expect(report.ok).toBe(false);
    expect(report.rss_growth_mb.daemon).toBeGreaterThan(12);
    expect(report.problems[0]).toMatch(/^leak: daemon grew by/);
  });

  it('does not know of growth after too few rests', () => {
    expect(judge(facts({ memory: steady.slice(0, 5) })).rss_growth_mb).toEqual({ daemon: null, rt: null });
  });

  it('is bad when the robot counted a defect', () => {
    expect(judge(facts({ defects: 2 })).ok).toBe(false);
  });
});

describe('the options of a soak', () => {
  it('are three hours and seed 1 unless told otherwise', () => {
    expect(parseOptions([])).toEqual({ hours: 3, seed: 1, json: false, stateDir: null });
  });

  it.each([
    [['--hours', '0'], '--hours: found "0"; allowed is a number from 0.5 to 672'],
    [['--hours', 'x'], '--hours: found "x"'],
    [['--seed', '-1.5'], '--seed: found'],
  ])('refuse %j', (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(message.startsWith('--seed') ? /seed/ : message);
  });
});
