import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.js';
import { describeReport, findings, summarize } from './report.js';
import type { LegResult, MissionResult } from './types.js';

const leg: LegResult = {
  goal: { x: 1, y: 2 },
  outcome: 'COMPLETED',
  right: true,
  why: 'arrived',
  metres: 3.5,
  idealS: 10,
  tookS: 15,
  troubles: [],
};

function mission(change: Partial<MissionResult> = {}): MissionResult {
  return {
    seed: 7,
    family: 'plain',
    place: 'home',
    legs: [leg],
    collisions: 0,
    touchedByOthers: 0,
    docked: true,
    dockOutcome: 'COMPLETED',
    hazards: [],
    wronglySureMs: 0,
    simulatedS: 60,
    trace: 'abc',
    problems: [],
    ...change,
  };
}

describe('the verdict on a mission', () => {
  it('is good when every leg ended as the world allows and the robot is home', () => {
    const refused: LegResult = { ...leg, outcome: 'FAILED OBSTRUCTED', why: 'there is no way', idealS: null };
    expect(findings(mission({ legs: [leg, refused] }))).toEqual([]);
  });

  it.each<[string, Partial<MissionResult>]>([
    [
      'to (1.00, 2.00): FAILED OBSTRUCTED: there is a way',
      { legs: [{ ...leg, outcome: 'FAILED OBSTRUCTED', right: false, why: 'there is a way' }] },
    ],
    ['not docked: FAILED OBSTRUCTED', { docked: false, dockOutcome: 'FAILED OBSTRUCTED' }],
    ['no stop within 500 ms: cliff', { hazards: [{ hazard: 'cliff', stopMs: null, limitMs: 500 }] }],
    ['sure of a wrong place for 12 s', { wronglySureMs: 12_000 }],
    ['touched a wall', { collisions: 1, problems: ['touched a wall'] }],
  ])('is "%s"', (finding, change) => {
    expect(findings(mission(change))).toEqual([finding]);
  });
});

describe('the report of a campaign', () => {
  it('sums up missions, times against the ideal way, dockings and stops', () => {
    const stop = { hazard: 'bump left', stopMs: 320, limitMs: 500 };
    const lost = mission({ seed: 8, docked: null, legs: [{ ...leg, right: false, why: 'x' }] });
    const report = summarize([mission({ hazards: [stop] }), lost], 1000);
    expect(report).toMatchObject({
      missions: 2,
      succeeded: 1,
      success_pct: 50,
      docking: { asked: 1, docked: 1, pct: 100 },
      hazards: { 'bump left': { stops: 1, missed: 0, max_ms: 320 } },
      time_ratio: { median: 1.5, legs: 2 },
      x_realtime: 120,
      ok: false,
    });
    expect(describeReport(report)).toContain('again: npm run missions -- --missions 1 --seed 8');
  });
});

describe('the options of a campaign', () => {
  it('are 200 missions from seed 1 unless told otherwise', () => {
    expect(parseOptions([])).toEqual({
      missions: 200,
      seed: 1,
      only: [],
      jobs: 2,
      verbose: false,
      json: false,
    });
    expect(parseOptions(['--only', 'people,dark']).only).toEqual(['people', 'dark']);
  });

  it.each([
    [['--missions', '0'], /--missions: found "0"/],
    [['--seed', 'x'], /--seed: found "x"/],
    [['--only', 'magic'], /--only: found "magic"; allowed are plain, /],
  ])('refuse %j', (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(message);
  });
});
