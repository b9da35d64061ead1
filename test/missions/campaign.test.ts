import { describe, expect, it, vi } from 'vitest';
import { parseOptions } from './options.js';
import { planMission } from './plan.js';
import { playMission } from './play.js';
import { reportOf, whyNot } from './report.js';
import { terrainOf } from './terrain.js';
import { FAMILIES, HOMES } from './types.js';

vi.setConfig({ testTimeout: 300_000 });

describe('a campaign of missions', () => {
  it('has every family in every home within thirty seeds, and each mission follows from its seed', () => {
    const missions = Array.from({ length: 30 }, (_, seed) => planMission(seed));
    const kinds = new Set(missions.map(({ family, home }) => `${family} ${home}`));
    expect(kinds.size).toBe(FAMILIES.length * HOMES.length);
    expect(planMission(17)).toEqual(missions[17]);
    expect(planMission(18, 'people').family).toBe('people');
  });

  it('sends the robot only to where it can stand, unless a refusal is what is wanted', () => {
    for (let seed = 0; seed < 30; seed++) {
      const { home, legs } = planMission(seed);
      const terrain = terrainOf(home);
      for (const { goal, right, shortest } of legs) {
        if (goal === null) continue;
        expect(terrain.isClear(goal, 0.21)).toBe(!right.includes('refused'));
        expect(shortest !== null).toBe(right.includes('arrived') || right.includes('low_battery'));
      }
    }
  });

  it.each([1, 12])('of seed %i succeeds: right ends, nothing touched, home at the end', async (seed) => {
    const result = await playMission(planMission(seed));
    expect(whyNot(result)).toBe('');
    expect(result.ok).toBe(true);
  });

  it('is judged as failed for one touch, one wrong end, or one night away from the station', () => {
    const good = {
      seed: 1,
      family: 'clear' as const,
      home: 'two-bedroom' as const,
      ok: true,
      legs: [],
      collisions: [],
      docked: true,
      defects: [],
      robotSeconds: 1800,
      wallSeconds: 1,
    };
    const touched = { ...good, ok: false, collisions: ['a person at (1.00, 2.00)'] };
    const away = { ...good, ok: false, docked: false };
    expect(reportOf([good, touched, away], 3)).toMatchObject({
      missions: 3,
      succeeded: 1,
      collisions: 1,
      docking_pct: 66.67,
      robot_hours: 1.5,
      time_ratio_median: null,
      failed: [{ why: 'touched a person at (1.00, 2.00)' }, { why: 'not on its contacts at the end' }],
    });
  });

  it('refuses options that it does not know, with what is allowed', () => {
    expect(parseOptions(['--missions', '5', '--only', 'people'])).toMatchObject({
      missions: 5,
      only: 'people',
    });
    expect(() => parseOptions(['--only', 'ghosts'])).toThrow('--only: found ghosts; one of clear');
    expect(() => parseOptions(['--missions', '0'])).toThrow('a whole number from 1');
    expect(() => parseOptions(['--fast'])).toThrow('unknown option --fast');
  });
});
