import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatteryUse } from '../../../daemon/context/battery-use.js';

/** Drives and stands in turns; each second the battery loses what these rates say. */
function drained(use: BatteryUse, rates: { perMetre: number; perSecond: number }, from = 90): void {
  let percent = from;
  use.discharged(percent, 0, 0);
  for (let second = 0; percent > from - 40; second++) {
    const metres = second % 120 < 40 ? 0.25 : 0;
    percent -= rates.perMetre * metres + rates.perSecond;
    use.discharged(percent, metres, 1);
  }
}

describe('what the battery loses', () => {
  it('is unknown before two points of it were seen going', () => {
    const use = new BatteryUse(null);
    expect(use.rates()).toBeNull();
    use.discharged(80, 0, 0);
    expect(use.discharged(78.9, 5, 20)).toBe(true);
    expect(use.rates()).toBeNull();
    use.discharged(77.8, 5, 20);
    expect(use.rates()).not.toBeNull();
  });

  it('is what a way like those before costs', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.005, max: 0.5, noNaN: true }),
        fc.double({ min: 0.0005, max: 0.02, noNaN: true }),
        (perMetre, perSecond) => {
          const use = new BatteryUse(null);
          drained(use, { perMetre, perSecond });
          const rates = use.rates();
          const cost = (rates?.perMetre ?? 0) * 20 + (rates?.perSecond ?? 0) * 240;
          const real = perMetre * 20 + perSecond * 240;
          expect(Math.abs(cost - real) / real).toBeLessThan(0.1);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('is told apart into what a metre and what a second costs where it drives and stands in turns', () => {
    const use = new BatteryUse(null);
    drained(use, { perMetre: 0.3, perSecond: 0.01 });
    expect(use.rates()?.perMetre).toBeCloseTo(0.3, 2);
    expect(use.rates()?.perSecond).toBeCloseTo(0.01, 3);
  });

  it('does not count what was charged, set anew, or lost while nobody looked', () => {
    const use = new BatteryUse(null);
    use.discharged(80, 0, 0);
    use.discharged(40, 1, 1);
    use.discharged(90, 1, 1);
    use.interrupted();
    use.discharged(60, 1, 1);
    expect(use.sums.lost).toBe(0);
    expect(use.rates()).toBeNull();
  });

  it('is still known after a restart, and follows a battery that wears out', () => {
    const use = new BatteryUse(null);
    drained(use, { perMetre: 0.05, perSecond: 0.004 });
    const next = new BatteryUse(JSON.parse(JSON.stringify(use.sums)));
    expect(next.rates()).toEqual(use.rates());
    for (let day = 0; day < 4; day++) drained(next, { perMetre: 0.15, perSecond: 0.012 });
    const cost = (next.rates()?.perMetre ?? 0) * 20 + (next.rates()?.perSecond ?? 0) * 100;
    expect(cost).toBeGreaterThan(0.9 * (0.15 * 20 + 0.012 * 100));
  });
});
