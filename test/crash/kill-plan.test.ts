import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../config/contracts/ids.js';
import { isDue, planKills } from './kill-plan.js';
import { MAIN_JOB_STEPS } from './main-job.js';
import { parseOptions } from './options.js';

describe('the plan of a crash run', () => {
  it('is the same for the same seed', () => {
    const plan = (seed: number) => planKills(60, seededRandom(seed));
    expect(plan(4)).toEqual(plan(4));
    expect(plan(4)).not.toEqual(plan(5));
  });

  it('has as many kills as were asked for, of every target among ten', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 200 }), fc.integer(), (kills, seed) => {
        const plan = planKills(kills, seededRandom(seed));
        expect(plan).toHaveLength(kills);
        expect(new Set(plan.slice(0, 10).map(({ target }) => target))).toEqual(
          new Set(['daemon', 'rt', 'both']),
        );
        expect(plan.filter(({ brokerForgets }) => brokerForgets).every(({ target }) => target !== 'rt')).toBe(
          true,
        );
      }),
    );
  });

  it('waits for the steps that have not had their share, and for any once all have', () => {
    const soFar = { setMoveTo: 12, undock: 0 };
    expect(isDue('setMoveTo', soFar, 50)).toBe(false);
    expect(isDue('undock', soFar, 50)).toBe(true);
    const enough = Object.fromEntries(MAIN_JOB_STEPS.map((step) => [step, 50]));
    expect(isDue('setMoveTo', enough, 50)).toBe(true);
  });
});

describe('the options of a crash run', () => {
  it('are fifty kills from seed 1 on a base without a watchdog', () => {
    expect(parseOptions([])).toEqual({
      kills: 50,
      seed: 1,
      json: false,
      baseWatchdog: false,
      stateDir: null,
      broker: 'both',
      mqtt: 'mix',
    });
  });

  it.each([
    [['--kills', '0'], '--kills: found "0"'],
    [['--kills', 'many'], '--kills: found "many"'],
    [['--seed', '-1'], '--seed'],
    [['--broker', 'emqx'], '--broker: found "emqx"; allowed are aedes, mosquitto, both'],
    [['--mqtt', '5', '--broker', 'aedes'], '--mqtt: found "5"; aedes speaks 3.1.1 only'],
    [['--base-watchdog', 'maybe'], '--base-watchdog: found "maybe"; allowed are on, off'],
  ])('are refused by name: %j', (argv, message) => {
    expect(() => parseOptions(argv)).toThrow(message);
  });
});
