import { describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import type { Arrival, MoveRequest } from '../../../state-machines/motion-types.js';
import { NavigationRunner } from '../../../state-machines/navigation/runner.js';
import { DEFAULT_MACHINE_SETTINGS } from '../../../state-machines/settings.js';
import type { MachineNotice } from '../../../state-machines/types.js';
import { FakeAmr } from '../../support/fake-amr.js';
import { MemorySnapshots, MemoryTimers } from '../../support/memory-machines.js';

const START = Date.UTC(2026, 10, 30);

function robot(earlier?: { amr: FakeAmr; clock: SimClock; snapshots: MemorySnapshots }) {
  const clock = earlier?.clock ?? new SimClock(START);
  const amr =
    earlier?.amr ??
    new FakeAmr(clock, { pose: { x: 0, y: 0, theta: 0 }, station: { x: -5, y: 0, theta: Math.PI } });
  const snapshots = earlier?.snapshots ?? new MemorySnapshots();
  const timers = new MemoryTimers(clock);
  const notices: MachineNotice[] = [];
  let n = 0;
  const runner = new NavigationRunner({
    amr,
    clock,
    timers,
    snapshots,
    settings: DEFAULT_MACHINE_SETTINGS,
    newId: () => `a-${++n}`,
    areaAt: () => 'room',
    notify: (notice) => notices.push(notice),
  });
  timers.onTimer = (key, event) => runner.onTimer(key.split(':')[1] ?? '', event);
  runner.restore();
  const stages: string[] = [];
  const abort = new AbortController();
  const outcome: { arrival: Arrival | null; error: unknown } = { arrival: null, error: null };
  const go = (more: Partial<MoveRequest> = {}) => {
    const request = { operation: 't-1', goals: [goal(3)], fence: 1, maxSpeed: null, ...more };
    runner
      .travel(request, abort.signal, (stage) => {
        if (stages.at(-1) !== stage) stages.push(stage);
      })
      .then(
        (arrival) => {
          outcome.arrival = arrival;
        },
        (error: unknown) => {
          outcome.error = error;
        },
      );
  };
  return { amr, clock, runner, timers, notices, stages, abort, snapshots, go, outcome };
}

function goal(x: number, areaId: string | null = '2') {
  return { pose: { x, y: 0, theta: 0 }, areaId, tolerance: { xy: 0.15, theta: 0.3 } };
}

describe('a journey', () => {
  it('plans, drives, and arrives only once the pose is at the goal and the wheels stand still', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).toMatchObject({ areaId: '2', visited: ['2'], recoveries: 0 });
    expect(r.outcome.arrival?.stoppedForMs).toBeGreaterThanOrEqual(300);
    expect(r.outcome.arrival?.error.xy).toBeLessThanOrEqual(0.15);
    expect(r.stages).toEqual([
      'navigation.planning',
      'navigation.driving',
      'navigation.arriving',
      'navigation.arrived',
    ]);
    expect(r.notices.map((n) => n.type)).toEqual(['movement.arrived']);
    expect(r.timers.keys).toEqual([]);
  });

  it('visits several goals in turn and says which', async () => {
    const r = robot();
    r.go({ goals: [goal(2, 'a'), goal(4, 'b'), goal(1, 'c')] });
    await r.clock.advanceAsync(60_000);
    expect(r.outcome.arrival).toMatchObject({ areaId: 'c', visited: ['a', 'b', 'c'] });
    expect(r.notices.map((n) => n.areaId)).toEqual(['a', 'b', 'c']);
    expect(r.stages.filter((s) => s === 'navigation.waypoint')).toHaveLength(2);
  });

  it('does not believe a driver that reports success far from the goal', async () => {
    const r = robot();
    r.amr.lies = true;
    r.go();
    await r.clock.advanceAsync(240_000);
    expect(r.outcome.arrival).toBeNull();
    expect(r.outcome.error).toMatchObject({ reason: 'OBSTRUCTED' });
    expect(r.notices.map((n) => n.type)).not.toContain('movement.arrived');
  });

  it('does not arrive while localisation is lost, whatever the last pose said', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(2000);
    r.amr.localized = false;
    await r.clock.advanceAsync(60_000);
    expect(r.outcome.arrival).toBeNull();
    expect(r.outcome.error).toMatchObject({ reason: 'LOCALIZATION_LOST' });
  });
});

describe('a cancelled journey', () => {
  it('ends with proof only after the wheels have stood still for 0.3 s', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    expect(r.amr.moving).toBe(true);
    r.abort.abort();
    await r.clock.advanceAsync(200);
    expect(r.outcome.error).toBeNull();
    await r.clock.advanceAsync(1000);
    expect(r.outcome.error).toBeInstanceOf(StoppedWithProof);
    expect(r.outcome.error).toMatchObject({ evidence: { stopped: true } });
    expect((r.outcome.error as StoppedWithProof).evidence.stopped_for_ms).toBeGreaterThanOrEqual(300);
    expect(r.amr.moving).toBe(false);
  });

  it.each([3_600_000, -3_600_000])('ends with proof when the clock is set by %i ms meanwhile', async (by) => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.abort.abort();
    await r.clock.advanceAsync(100);
    r.clock.jump(by);
    await r.clock.advanceAsync(1500);
    expect(r.outcome.error).toBeInstanceOf(StoppedWithProof);
    expect(r.amr.moving).toBe(false);
  });

  it('ends HARDWARE_FAULT, with the drive cut, when the wheels turn on', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.runaway = true;
    r.abort.abort();
    await r.clock.advanceAsync(10_000);
    expect(r.outcome.error).toMatchObject({ reason: 'HARDWARE_FAULT', evidence: { stopped: false } });
    expect(r.amr.log).toContain('estop: stop not confirmed');
  });

  it('ends with proof when it was cancelled before it began', async () => {
    const r = robot();
    r.abort.abort();
    r.go();
    await r.clock.advanceAsync(2000);
    expect(r.outcome.error).toBeInstanceOf(StoppedWithProof);
    expect(r.amr.log).not.toContain('followPath');
  });

  it('ends as stopped when somebody else stops the wheels', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    await r.amr.stop('from the console');
    await r.clock.advanceAsync(1000);
    expect(r.outcome.error).toBeInstanceOf(StoppedWithProof);
  });
});

describe('an obstacle', () => {
  it('that goes away is waited for, and the journey arrives', async () => {
    const r = robot();
    r.amr.obstacles = [{ x: 1.5, y: 0 }];
    r.go();
    await r.clock.advanceAsync(9000);
    expect(r.stages).toContain('navigation.avoiding');
    r.amr.obstacles = [];
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).toMatchObject({ areaId: '2' });
  });

  it('that stays ends OBSTRUCTED with where it is, after waiting, replanning, backing up and turning', async () => {
    const r = robot();
    r.amr.obstacles = [{ x: 1.5, y: 0 }];
    r.go();
    await r.clock.advanceAsync(120_000);
    expect(r.outcome.error).toMatchObject({
      reason: 'OBSTRUCTED',
      evidence: { where: { x: 1.5, y: 0 } },
    });
    expect(r.amr.log.filter((entry) => entry === 'backUp' || entry === 'spin')).toEqual(['backUp', 'spin']);
    expect(r.amr.log.filter((entry) => entry === 'plan')).toHaveLength(6);
    expect(r.notices).toMatchObject([{ type: 'movement.obstructed', attributes: { cause: 'blocked' } }]);
    expect(r.amr.moving).toBe(false);
  });

  it('round which the planner then finds no way is still where the way ended', async () => {
    const r = robot();
    r.amr.obstacles = [{ x: 1.5, y: 0 }];
    r.go();
    await r.clock.advanceAsync(5000);
    r.amr.planner = () => ({ ok: false, reason: 'unreachable', message: 'no path' });
    await r.clock.advanceAsync(120_000);
    expect(r.outcome.error).toMatchObject({ reason: 'OBSTRUCTED', evidence: { where: { x: 1.5, y: 0 } } });
  });

  it('under the wheels is not waited for: the robot backs up at once', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.trip('bumper_left');
    await r.clock.advanceAsync(1000);
    expect(r.runner.stage).toBe('recovering.backingUp');
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).toMatchObject({ recoveries: 1 });
  });

  it('in the only way there is, ends TARGET_UNREACHABLE before the robot moves', async () => {
    const r = robot();
    r.amr.planner = () => ({ ok: false, reason: 'unreachable', message: 'no path' });
    r.go();
    await r.clock.advanceAsync(20_000);
    expect(r.outcome.error).toMatchObject({ reason: 'TARGET_UNREACHABLE' });
    expect(r.amr.log.filter((entry) => !entry.startsWith('stop') && entry !== 'plan')).toEqual([]);
    expect(r.notices).toEqual([]);
  });

  it('in the only way there is, barred by something seen now, is waited for and ends OBSTRUCTED with its place', async () => {
    const r = robot();
    const where = { x: 1.2, y: 0 };
    r.amr.planner = () => ({ ok: false, reason: 'obstructed', message: 'someone stands in the door', where });
    r.go();
    await r.clock.advanceAsync(6000);
    expect(r.outcome.error).toBeNull();
    await r.clock.advanceAsync(20_000);
    expect(r.outcome.error).toMatchObject({ reason: 'OBSTRUCTED', evidence: { where } });
    expect(r.notices).toMatchObject([{ type: 'movement.obstructed' }]);
  });

  it('where the robot is to stand is waited for, and ends OBSTRUCTED with that place', async () => {
    const r = robot();
    r.amr.planner = () => ({ ok: false, reason: 'goal_occupied', message: 'someone stands there' });
    r.go();
    await r.clock.advanceAsync(6000);
    expect(r.outcome.error).toBeNull();
    await r.clock.advanceAsync(20_000);
    expect(r.outcome.error).toMatchObject({ reason: 'OBSTRUCTED', evidence: { where: { x: 3, y: 0 } } });
  });
});

describe('faults', () => {
  it('blocked wheels never count as an arrival', async () => {
    const r = robot();
    r.amr.wheelsBlocked = true;
    r.go();
    await r.clock.advanceAsync(120_000);
    expect(r.outcome.error).toMatchObject({ reason: 'OBSTRUCTED' });
    expect(r.notices.map((n) => n.type)).not.toContain('movement.arrived');
  });

  it('an emergency stop ends EMERGENCY_STOP', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    await r.amr.estop('console');
    await r.clock.advanceAsync(2000);
    expect(r.outcome.error).toMatchObject({ reason: 'EMERGENCY_STOP' });
  });

  it('an emergency stop ends a held journey as well, and it cannot be resumed', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.runner.send({ type: 'PAUSE' });
    await r.clock.advanceAsync(3000);
    expect(r.outcome.error).toBeNull();
    await r.amr.estop('console');
    await r.clock.advanceAsync(2000);
    expect(r.outcome.error).toMatchObject({ reason: 'EMERGENCY_STOP' });
  });

  it('a lifted wheel ends HARDWARE_FAULT and asks the right question', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.trip('wheel_drop', { lasting: true });
    await r.clock.advanceAsync(2000);
    expect(r.outcome.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
    expect(String(r.outcome.error)).toContain('lifted');
  });

  it('a low battery ends LOW_BATTERY, but not a journey home', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.battery = 10;
    await r.clock.advanceAsync(2000);
    expect(r.outcome.error).toMatchObject({ reason: 'LOW_BATTERY' });
    const home = robot();
    home.amr.battery = 10;
    home.go({ ignoreBattery: true });
    await home.clock.advanceAsync(30_000);
    expect(home.outcome.arrival).not.toBeNull();
  });

  it('a lidar that is plugged back lets the journey go on; one that stays away ends HARDWARE_FAULT', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.lidarConnected = false;
    r.amr.trip('lidar_stale', { lasting: true });
    await r.clock.advanceAsync(5000);
    expect(r.runner.stage).toBe('recovering.awaitingSensors');
    r.amr.lidarConnected = true;
    r.amr.conditions.clear();
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).not.toBeNull();

    const gone = robot();
    gone.go();
    await gone.clock.advanceAsync(3000);
    gone.amr.lidarConnected = false;
    gone.amr.trip('lidar_stale', { lasting: true });
    await gone.clock.advanceAsync(30_000);
    expect(gone.outcome.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
    expect(String(gone.outcome.error)).toContain('lidar');
  });

  it('a motion process that dies and comes back lets the journey go on', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.killProcess();
    await r.clock.advanceAsync(2000);
    expect(r.amr.moving).toBe(false);
    r.amr.restartProcess();
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).toMatchObject({ areaId: '2' });
  });

  it('lost localisation is looked for by turning, and ends LOCALIZATION_LOST', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.amr.localized = false;
    r.amr.fail('localization_lost');
    await r.clock.advanceAsync(40_000);
    expect(r.amr.log).toContain('spin');
    expect(r.outcome.error).toMatchObject({ reason: 'LOCALIZATION_LOST' });
    expect(r.notices.map((n) => n.type)).toEqual(['movement.localizationLost']);
    // A pose that is not believed is no evidence of where the robot is.
    expect(r.outcome.error).toMatchObject({ evidence: { pose: null } });
  });

  it('a lidar that reports and sees nothing ahead ends the journey with what it said, not "nothing known"', async () => {
    const r = robot();
    r.go();
    const message = 'the lidar sees nothing ahead: is it covered?';
    for (let i = 0; i < 600 && r.outcome.error === null; i++) {
      await r.clock.advanceAsync(100);
      if (r.amr.acting === 'followPath') r.amr.fail('sensors_stale', message);
    }
    await r.clock.advanceAsync(60_000);
    expect(r.outcome.error).toMatchObject({ reason: 'HARDWARE_FAULT' });
    expect(String(r.outcome.error)).toContain(message);
  });
});

describe('a held journey', () => {
  it('stands still until it is resumed, then arrives', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(3000);
    r.runner.send({ type: 'PAUSE' });
    await r.clock.advanceAsync(20_000);
    expect(r.amr.moving).toBe(false);
    expect(r.outcome.arrival).toBeNull();
    r.runner.send({ type: 'RESUME' });
    await r.clock.advanceAsync(30_000);
    expect(r.outcome.arrival).not.toBeNull();
  });
});

describe('a restart', () => {
  it('goes on at the goal it was driving to, and stays held when it was held', async () => {
    const first = robot();
    const goals = [goal(2, 'a'), goal(6, 'b')];
    first.go({ goals });
    await first.clock.advanceAsync(12_000);
    expect(first.runner.targetAreaId).toBe('b');
    first.runner.send({ type: 'PAUSE' });
    await first.clock.advanceAsync(1000);
    first.runner.close();
    for (const key of first.timers.keys) first.timers.cancel(key);

    const second = robot(first);
    second.go({ goals });
    await second.clock.advanceAsync(10_000);
    expect(second.runner.held).toBe(true);
    second.runner.send({ type: 'RESUME' });
    await second.clock.advanceAsync(30_000);
    expect(second.outcome.arrival).toMatchObject({ visited: ['a', 'b'] });
    expect(second.notices.map((n) => n.areaId)).toEqual(['b']);
  });

  it('in good order too goes on at the goal it was driving to', async () => {
    const first = robot();
    const goals = [goal(2, 'a'), goal(6, 'b')];
    first.go({ goals });
    await first.clock.advanceAsync(12_000);
    first.abort.abort();
    await first.clock.advanceAsync(2000);
    expect(first.outcome.error).toBeInstanceOf(StoppedWithProof);
    first.runner.close();
    const second = robot(first);
    second.go({ goals });
    await second.clock.advanceAsync(30_000);
    expect(second.outcome.arrival).toMatchObject({ visited: ['a', 'b'] });
    expect(second.notices.map((n) => n.areaId)).toEqual(['b']);
  });

  it('knows nothing of a journey that had ended', async () => {
    const first = robot();
    first.go();
    await first.clock.advanceAsync(30_000);
    const second = robot(first);
    second.go({ goals: [goal(0, 'home')] });
    await second.clock.advanceAsync(30_000);
    expect(second.outcome.arrival).toMatchObject({ visited: ['home'] });
  });
});
