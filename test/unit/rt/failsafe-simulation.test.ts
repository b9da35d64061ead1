/**
 * The failsafe table, simulated over every set of conditions in every state of the robot, against rules that are written
 * down here a second time, from the specification and not from the table.
 */
import { describe, expect, it } from 'vitest';
import { SAFETY_CONDITIONS, type SafetyCondition } from '../../../config/contracts/amr.js';
import type { SafetyInputs } from '../../../drivers/rt/safety/conditions.js';
import {
  judge,
  NOTHING_REMEMBERED,
  type SafetyMemory,
  type SafetyVerdict,
} from '../../../drivers/rt/safety/judge.js';

const NO_CONTACT = {
  bumpLeft: false,
  bumpRight: false,
  cliff: false,
  wheelDrop: false,
  overcurrent: false,
  tilt: false,
};

const FINE: SafetyInputs = {
  mono: 0,
  contact: NO_CONTACT,
  frameAge: 15,
  odometryAge: 15,
  scanAge: 100,
  heartbeatAge: 50,
  daemonGone: false,
  estopLatched: false,
  localized: true,
  batteryPercent: 80,
  moving: false,
  followingPath: false,
  stillProven: true,
};

type State = 'on a path' | 'by hand' | 'rolling on' | 'standing';
const STATES: Record<State, Partial<SafetyInputs>> = {
  'on a path': { moving: true, followingPath: true, stillProven: false },
  'by hand': { moving: true, followingPath: false, stillProven: false },
  'rolling on': { moving: true, followingPath: false, stillProven: false },
  standing: { moving: false, followingPath: false, stillProven: true },
};
const STATE_NAMES: readonly State[] = ['on a path', 'by hand', 'rolling on', 'standing'];

/** Nobody's wheels may turn while one of these lasts, whatever else is or is not wrong. */
const NOTHING_MOVES: readonly SafetyCondition[] = [
  'estop',
  'wheel_drop',
  'overcurrent',
  'tilt',
  'base_silent',
  'lidar_stale',
  'odometry_stale',
  'daemon_silent',
  'battery_critical',
];
/** The drive goes off at once: somebody or something may be hurt, or nobody is in charge. */
const CUT_AT_ONCE: readonly SafetyCondition[] = [
  'estop',
  'bumper_left',
  'bumper_right',
  'cliff',
  'wheel_drop',
  'overcurrent',
  'tilt',
  'base_silent',
  'daemon_silent',
];
const NOT_AHEAD: readonly SafetyCondition[] = ['bumper_left', 'bumper_right', 'cliff'];
const SEVERITY = { OK: 0, SETTLE: 1, CUT: 2 };
const SETS = 2 ** SAFETY_CONDITIONS.length;

const members = (set: number) => SAFETY_CONDITIONS.filter((_, i) => (set & (1 << i)) !== 0);
const bit = (condition: SafetyCondition) => 1 << SAFETY_CONDITIONS.indexOf(condition);
const maskOf = (conditions: readonly SafetyCondition[]) => conditions.reduce((mask, c) => mask | bit(c), 0);

/** What the robot's sensors say when exactly these are wrong. */
function inputsOf(set: number, state: State, mono: number): SafetyInputs {
  const is = (condition: SafetyCondition) => (set & bit(condition)) !== 0;
  return {
    ...FINE,
    ...STATES[state],
    mono,
    contact: {
      bumpLeft: is('bumper_left'),
      bumpRight: is('bumper_right'),
      cliff: is('cliff'),
      wheelDrop: is('wheel_drop'),
      overcurrent: is('overcurrent'),
      tilt: is('tilt'),
    },
    estopLatched: is('estop'),
    frameAge: is('base_silent') ? 401 : 15,
    odometryAge: is('odometry_stale') ? 251 : 15,
    scanAge: is('lidar_stale') ? 301 : 100,
    heartbeatAge: is('daemon_silent') ? 201 : 50,
    localized: !is('localization_lost'),
    batteryPercent: is('battery_critical') ? 3 : 80,
  };
}

/** They appear in a robot in this state, and are looked at again when the longest onset is over. */
function appeared(set: number, state: State): { memory: SafetyMemory; verdict: SafetyVerdict } {
  const first = judge(NOTHING_REMEMBERED, inputsOf(set, state, 1000));
  return judge(first.memory, inputsOf(set, state, 5000));
}

const standsWith = (memory: SafetyMemory, set: number, mono: number) =>
  judge(memory, inputsOf(set, 'standing', mono));

const speeds = ({ limits }: SafetyVerdict) =>
  [limits.forward, limits.backward, limits.turn].map((limit) => limit ?? Number.POSITIVE_INFINITY);

/** Collects instead of expecting 32768 times: the first few say enough. */
function faultsOf(check: (set: number, state: State) => string | null): string[] {
  const faults: string[] = [];
  for (const state of STATE_NAMES) {
    for (let set = 0; set < SETS && faults.length < 5; set++) {
      const fault = check(set, state);
      if (fault !== null) faults.push(`${state}, {${members(set).join(', ')}}: ${fault}`);
    }
  }
  return faults;
}

describe('over every set of conditions, in every state of the robot', () => {
  const verdicts = new Map(
    STATE_NAMES.map((state) => [state, Array.from({ length: SETS }, (_, set) => appeared(set, state))]),
  );
  const found = (state: State, set: number) => verdicts.get(state)?.[set] ?? appeared(set, state);

  it('exactly what is wrong is told', () => {
    expect(
      faultsOf((set, state) => {
        const { active } = found(state, set).verdict;
        return active.join() === members(set).join() ? null : `told ${active.join()}`;
      }),
    ).toEqual([]);
  });

  it('a set that forbids motion leaves no speed in any direction, moving or standing', () => {
    const forbidding = maskOf(NOTHING_MOVES);
    expect(
      faultsOf((set, state) => {
        if ((set & forbidding) === 0) return null;
        const { verdict } = found(state, set);
        const free = verdict.level === 'OK' || speeds(verdict).some((speed) => speed !== 0);
        return free ? `${verdict.level} ${speeds(verdict)}` : null;
      }),
    ).toEqual([]);
  });

  it('a moving robot is cut off at once for what hurts, and never merely settled', () => {
    const cutting = maskOf(CUT_AT_ONCE);
    expect(
      faultsOf((set, state) => {
        if (state === 'standing') return null;
        const cut = found(state, set).verdict.level === 'CUT';
        return cut === ((set & cutting) !== 0) ? null : found(state, set).verdict.level;
      }),
    ).toEqual([]);
  });

  it('nothing drives ahead against what was touched or over an edge, and nothing turns at an edge', () => {
    const ahead = maskOf(NOT_AHEAD);
    expect(
      faultsOf((set, state) => {
        const stands = standsWith(found(state, set).memory, set, 9000).verdict;
        const [forward, , turn] = speeds(stands);
        if ((set & ahead) !== 0 && forward !== 0) return `forward ${forward}`;
        return (set & bit('cliff')) !== 0 && turn !== 0 ? `turn ${turn}` : null;
      }),
    ).toEqual([]);
  });

  it('one more condition never makes it milder, and never faster', () => {
    expect(
      faultsOf((set, state) => {
        const { verdict: less } = found(state, set);
        for (const more of SAFETY_CONDITIONS) {
          if ((set & bit(more)) !== 0) continue;
          const { verdict } = found(state, set | bit(more));
          if (SEVERITY[verdict.level] < SEVERITY[less.level]) return `milder with ${more}`;
          const faster = speeds(verdict).some((speed, i) => speed > (speeds(less)[i] ?? 0));
          if (faster) return `faster with ${more}`;
        }
        return null;
      }),
    ).toEqual([]);
  });

  it('a stop that was begun is held until the wheels are seen standing, though every cause is gone', () => {
    expect(
      faultsOf((set, state) => {
        const { memory, verdict } = found(state, set);
        if (verdict.stopping.length === 0) return null;
        const rolling = judge(memory, inputsOf(0, 'rolling on', 60_000)).verdict;
        const kept = SEVERITY[rolling.level] > 0 && speeds(rolling).every((speed) => speed === 0);
        return kept ? null : `${rolling.level} ${speeds(rolling)}`;
      }),
    ).toEqual([]);
  });

  it('with every cause gone and the wheels at rest nothing is left of it; the e-stop only once it is released', () => {
    expect(
      faultsOf((set, state) => {
        const stood = standsWith(found(state, set).memory, set & bit('estop'), 10_000);
        const later = standsWith(stood.memory, set & bit('estop'), 20_000);
        const left = later.verdict.active.join();
        if ((set & bit('estop')) !== 0) {
          return left === 'estop' && later.verdict.level === 'CUT' ? null : `left ${left}`;
        }
        return left === '' && later.verdict.level === 'OK' ? null : `left ${left}`;
      }),
    ).toEqual([]);
  });

  it('any one cause that goes away leaves the others as strict as they are without it', () => {
    expect(
      faultsOf((set, state) => {
        const { memory } = found(state, set);
        const stood = standsWith(memory, set, 6000);
        for (const gone of members(set)) {
          const rest = set & ~bit(gone);
          const first = standsWith(stood.memory, rest, 7000);
          const { verdict } = standsWith(first.memory, rest, 12_000);
          const alone = standsWith(found('standing', rest).memory, rest, 12_000).verdict;
          if (verdict.level !== alone.level || speeds(verdict).join() !== speeds(alone).join()) {
            return `${verdict.level} without ${gone}, not ${alone.level}`;
          }
        }
        return null;
      }),
    ).toEqual([]);
  });
});
