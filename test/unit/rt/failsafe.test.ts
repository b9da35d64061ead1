import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SAFETY_CONDITIONS, type SafetyCondition } from '../../../config/contracts/amr.js';
import {
  DEFAULT_THRESHOLDS,
  reportedConditions,
  type SafetyInputs,
} from '../../../drivers/rt/safety/conditions.js';
import { FAILSAFE_TABLE, failsafeRow } from '../../../drivers/rt/safety/failsafe-table.js';
import { judge, NOTHING_REMEMBERED, type SafetyMemory } from '../../../drivers/rt/safety/judge.js';

const NO_CONTACT = {
  bumpLeft: false,
  bumpRight: false,
  cliff: false,
  wheelDrop: false,
  overcurrent: false,
  tilt: null,
};

/** A robot that drives with everything in order. */
const DRIVING: SafetyInputs = {
  mono: 1000,
  contact: NO_CONTACT,
  frameAge: 15,
  odometryAge: 15,
  scanAge: 100,
  heartbeatAge: 50,
  daemonGone: false,
  estopLatched: false,
  localized: true,
  batteryPercent: 80,
  moving: true,
  followingPath: true,
  stillProven: false,
};
const STANDING: SafetyInputs = { ...DRIVING, moving: false, followingPath: false, stillProven: true };

/** What has to be reported for a condition, and nothing else. */
const CAUSE: Record<SafetyCondition, Partial<SafetyInputs>> = {
  estop: { estopLatched: true },
  bumper_left: { contact: { ...NO_CONTACT, bumpLeft: true } },
  bumper_right: { contact: { ...NO_CONTACT, bumpRight: true } },
  cliff: { contact: { ...NO_CONTACT, cliff: true } },
  wheel_drop: { contact: { ...NO_CONTACT, wheelDrop: true } },
  overcurrent: { contact: { ...NO_CONTACT, overcurrent: true } },
  tilt: { contact: { ...NO_CONTACT, tilt: true } },
  base_silent: { frameAge: 401 },
  lidar_stale: { scanAge: 301 },
  odometry_stale: { odometryAge: 251 },
  daemon_silent: { heartbeatAge: 201 },
  localization_lost: { localized: false },
  battery_critical: { batteryPercent: 2 },
};

const SEVERITY = { OK: 0, SETTLE: 1, CUT: 2 };

/** Lets the inputs stand for as long as every row's onset asks. */
function afterOnset(memory: SafetyMemory, inputs: SafetyInputs) {
  const first = judge(memory, inputs);
  return judge(first.memory, { ...inputs, mono: inputs.mono + 5000 });
}

describe('the failsafe table', () => {
  it('has exactly one row for every condition, in both languages', () => {
    expect(FAILSAFE_TABLE.map((row) => row.condition).sort()).toEqual([...SAFETY_CONDITIONS].sort());
    for (const row of FAILSAFE_TABLE) {
      for (const text of [row.message.ko, row.message.en, row.remedy.ko, row.remedy.en]) {
        expect(text.length).toBeGreaterThan(3);
      }
    }
  });

  it('cuts the drive for everything that touches, falls, overloads or cannot be reached', () => {
    const cuts = FAILSAFE_TABLE.filter((row) => row.moving === 'CUT').map((row) => row.condition);
    expect(cuts).toEqual([
      'estop',
      'bumper_left',
      'bumper_right',
      'cliff',
      'wheel_drop',
      'overcurrent',
      'tilt',
      'base_silent',
      'daemon_silent',
    ]);
  });

  it('lets a robot that touched something, or stands at an edge, only back away slowly', () => {
    for (const condition of ['bumper_left', 'bumper_right', 'cliff'] as const) {
      const { allows } = failsafeRow(condition);
      expect(allows.forward).toBe(0);
      expect(allows.backward).toBeGreaterThan(0);
      expect(allows.backward).toBeLessThanOrEqual(0.1);
    }
    expect(failsafeRow('cliff').allows.turn).toBe(0);
  });

  it('needs a person for nothing but the e-stop', () => {
    expect(FAILSAFE_TABLE.filter((r) => r.clearing === 'person_releases').map((r) => r.condition)).toEqual([
      'estop',
    ]);
  });
});

describe('the judgement', () => {
  it('finds nothing wrong with a robot that drives with everything in order', () => {
    expect(judge(NOTHING_REMEMBERED, DRIVING).verdict).toMatchObject({ level: 'OK', active: [] });
  });

  describe.each(FAILSAFE_TABLE)('$condition', (row) => {
    const cause = CAUSE[row.condition];

    it(`is ${row.moving} in a moving robot until it stands, then ${row.still}`, () => {
      const moving = afterOnset(NOTHING_REMEMBERED, { ...DRIVING, ...cause });
      expect(moving.verdict.active).toEqual([row.condition]);
      expect(moving.verdict.level).toBe(row.moving);
      expect(moving.verdict.stopping).toEqual([row.condition]);
      const still = judge(moving.memory, { ...STANDING, ...cause, mono: 7000 });
      expect(still.verdict.level).toBe(row.still);
      expect(still.verdict.stopping).toEqual([]);
    });

    it(`is ${row.still} in a robot that stands still`, () => {
      const { verdict } = afterOnset(NOTHING_REMEMBERED, { ...STANDING, ...cause });
      expect(verdict.active).toEqual([row.condition]);
      expect(verdict.level).toBe(row.still);
      const allowed = row.still === 'OK' ? row.allows : { forward: 0, backward: 0, turn: 0 };
      expect(verdict.limits).toEqual(allowed);
    });

    it(`counts only after ${row.onsetMs} ms, and ends ${row.clearMs} ms after its cause`, () => {
      const first = judge(NOTHING_REMEMBERED, { ...STANDING, ...cause });
      expect(first.verdict.active.includes(row.condition)).toBe(row.onsetMs === 0);
      const there = afterOnset(NOTHING_REMEMBERED, { ...STANDING, ...cause });
      const gone = judge(there.memory, { ...STANDING, mono: 10_000 });
      expect(gone.verdict.active.includes(row.condition)).toBe(row.clearMs > 0);
      const later = judge(gone.memory, { ...STANDING, mono: 10_000 + row.clearMs });
      expect(later.verdict.active).toEqual([]);
      expect(later.verdict.limits).toEqual({ forward: null, backward: null, turn: null });
    });
  });

  it('keeps a rolling robot stopped even when the cause was gone after one frame', () => {
    const touched = judge(NOTHING_REMEMBERED, { ...DRIVING, ...CAUSE.bumper_left });
    const rolling = judge(touched.memory, { ...DRIVING, mono: 3000 });
    expect(rolling.verdict.level).toBe('CUT');
    const later = judge(rolling.memory, { ...DRIVING, mono: 6000 });
    expect(later.verdict.level).toBe('CUT');
    expect(judge(later.memory, { ...STANDING, mono: 7000 }).verdict.level).toBe('OK');
  });

  it('does not stop a robot that looks around, or is led by hand, for not knowing where it is', () => {
    const looking = judge(NOTHING_REMEMBERED, { ...DRIVING, followingPath: false, localized: false });
    expect(looking.verdict.level).toBe('OK');
    expect(looking.verdict.limits.forward).toBeLessThanOrEqual(0.1);
  });

  it('treats what was never received as too old, and not a number too', () => {
    const nothing = reportedConditions(
      { ...DRIVING, frameAge: null, odometryAge: null, scanAge: Number.NaN, heartbeatAge: null },
      DEFAULT_THRESHOLDS,
    );
    expect(nothing).toMatchObject({
      base_silent: true,
      odometry_stale: true,
      lidar_stale: true,
      daemon_silent: true,
    });
  });

  it('is, for every set of conditions at once, as strict as the strictest of them', () => {
    fc.assert(
      fc.property(fc.subarray([...SAFETY_CONDITIONS]), fc.boolean(), (conditions, moving) => {
        const contact = { ...NO_CONTACT, tilt: false };
        const inputs = { ...(moving ? DRIVING : STANDING), contact };
        for (const condition of conditions) {
          const { contact: flags, ...rest } = CAUSE[condition];
          Object.assign(inputs, rest);
          for (const [flag, value] of Object.entries(flags ?? {})) {
            if (value === true) Object.assign(contact, { [flag]: true });
          }
        }
        const { verdict } = afterOnset(NOTHING_REMEMBERED, inputs);
        const rows = conditions.map(failsafeRow);
        const worst = Math.max(0, ...rows.map((r) => SEVERITY[moving ? r.moving : r.still]));
        expect(new Set(verdict.active)).toEqual(new Set(conditions));
        expect(SEVERITY[verdict.level]).toBe(worst);
        for (const row of rows) {
          const limit = verdict.level === 'OK' ? row.allows.forward : 0;
          if (limit !== null)
            expect(verdict.limits.forward ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
