import { beforeEach, describe, expect, it } from 'vitest';
import { type Arrival, type MoveRequest } from '../../../state-machines/motion-types.js';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { StoppedWithProof } from '../../../config/contracts/stopped.js';
import { NavigationRunner } from '../../../state-machines/navigation/runner.js';
import { DEFAULT_MACHINE_SETTINGS } from '../../../state-machines/settings.js';
import type { MachineNotice } from '../../../state-machines/types.js';
import { FakeAmr } from '../../support/fake-amr.js';
import { MemorySnapshots, MemoryTimers } from '../../support/memory-machines.js';

const START = Date.UTC(2026, 10, 30);

function robot(snapshots = new MemorySnapshots(), clock = new SimClock(START)) {
  const amr = new FakeAmr(clock, { pose: { x: 0, y: 0, theta: 0 }, station: { x: -5, y: 0, theta: Math.PI } });
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
  let outcome: Arrival | Error | null = null;
  const go = (more: Partial<MoveRequest> = {}) => {
    runner
      .travel(
        {
          operation: 't-1',
          goals: [goal(3, 0)],
          fence: 1,
          maxSpeed: null,
          ...more,
        },
        abort.signal,
        (stage) => {
          if (stages.at(-1) !== stage) stages.push(stage);
        },
      )
      .then(
        (arrival) => {
          outcome = arrival;
        },
        (error: Error) => {
          outcome = error;
        },
      );
  };
  return { amr, clock, runner, timers, notices, stages, abort, snapshots, go, outcome: () => outcome };
}

function goal(x: number, y: number, areaId: string | null = '2') {
  return { pose: { x, y, theta: 0 }, areaId, tolerance: { xy: 0.15, theta: 0.3 } };
}

describe('a journey', () => {
  it('plans, drives, and arrives only once the pose is at the goal and the wheels stand still', async () => {
    const r = robot();
    r.go();
    await r.clock.advanceAsync(30_000);
    expect(r.outcome()).toMatchObject({ areaId: '2', visited: ['2'], recoveries: 0 });
    const arrival = r.outcome() as Arrival;
    expect(arrival.stoppedForMs).toBeGreaterThanOrEqual(300);
    expect(arrival.error.xy).toBeLessThanOrEqual(0.15);
    expect(r.stages).toEqual([
      'navigation.planning',
      'navigation.driving',
      'navigation.arriving',
      'navigation.arrived',
    ]);
    expect(r.notices.map((n) => n.type)).toEqual(['movement.arrived']);
    expect(r.timers.keys).toEqual([]);
  });
});
