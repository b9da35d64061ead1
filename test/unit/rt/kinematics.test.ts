import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CycleStats } from '../../../drivers/rt/cycle-stats.js';
import {
  type DriveLimits,
  limitTwist,
  rampTwist,
  slowNearObstacles,
  straightWay,
  wheelSpeeds,
} from '../../../drivers/rt/kinematics.js';
import { NO_MOTION, UNLIMITED } from '../../../drivers/rt/safety/failsafe-table.js';

const BODY: DriveLimits = { maxSpeed: 0.35, maxTurn: 1.2, maxAccel: 0.5, maxDecel: 1, maxTurnAccel: 4 };
const speed = fc.double({ min: -2, max: 2, noNaN: true });

describe('wheels of a differential drive', () => {
  it('turn against each other in a turn to the left: the right one forward', () => {
    expect(wheelSpeeds({ v: 0, w: 1 }, 0.235, 0.5)).toEqual({ left: -0.1175, right: 0.1175 });
  });

  it('are slowed alike where one would be too fast, so that the curve stays the same', () => {
    fc.assert(
      fc.property(speed, speed, (v, w) => {
        const { left, right } = wheelSpeeds({ v, w }, 0.235, 0.5);
        expect(Math.max(Math.abs(left), Math.abs(right))).toBeLessThanOrEqual(0.5 + 1e-9);
        const driven = { v: (left + right) / 2, w: (right - left) / 0.235 };
        expect(driven.v * w - driven.w * v).toBeCloseTo(0, 9);
      }),
    );
  });
});

describe('limits', () => {
  it('cut a wish down in each direction by itself', () => {
    const allowed = { forward: 0, backward: 0.1, turn: 0.6 };
    expect(limitTwist({ v: 0.3, w: -1 }, BODY, allowed)).toEqual({ v: 0, w: -0.6 });
    expect(limitTwist({ v: -0.3, w: 0.2 }, BODY, allowed)).toEqual({ v: -0.1, w: 0.2 });
    expect(limitTwist({ v: 5, w: 5 }, BODY, UNLIMITED)).toEqual({ v: 0.35, w: 1.2 });
  });

  it('let nothing through where no motion is allowed', () => {
    fc.assert(
      fc.property(speed, speed, (v, w) => {
        const { v: driven, w: turned } = limitTwist({ v, w }, BODY, NO_MOTION);
        expect(Math.abs(driven) + Math.abs(turned)).toBe(0);
      }),
    );
  });
});

describe('the ramp', () => {
  it('never changes a speed faster than allowed, and always comes nearer to what is asked', () => {
    fc.assert(
      fc.property(speed, speed, speed, speed, (v0, w0, v1, w1) => {
        const next = rampTwist({ v: v0, w: w0 }, { v: v1, w: w1 }, BODY, 0.05);
        const limit = Math.abs(v1) > Math.abs(v0) && Math.sign(v1) === Math.sign(v0) ? 0.025 : 0.05;
        expect(Math.abs(next.v - v0)).toBeLessThanOrEqual(limit + 1e-9);
        expect(Math.abs(next.w - w0)).toBeLessThanOrEqual(0.2 + 1e-9);
        expect(Math.abs(next.v - v1)).toBeLessThanOrEqual(Math.abs(v0 - v1) + 1e-9);
      }),
    );
  });

  it('passes through a standstill when the direction changes', () => {
    expect(rampTwist({ v: 0.04, w: 0 }, { v: -0.3, w: 0 }, BODY, 0.05).v).toBe(0);
  });
});

describe('the free way', () => {
  const scan = (set: Record<number, number>, fill = Number.NaN) => ({
    at: 0,
    angleMin: -Math.PI,
    angleIncrement: (2 * Math.PI) / 360,
    rangeMin: 0.02,
    rangeMax: 12,
    ranges: Array.from({ length: 360 }, (_, degree) => set[degree] ?? fill),
  });

  it('is measured from the hull, in the corridor that the body needs', () => {
    const way = straightWay(scan({ 180: 0.5, 0: 0.8, 90: 0.2 }), 0.17);
    expect(way.forward).toBeCloseTo(0.33, 5);
    expect(way.backward).toBeCloseTo(0.63, 5);
  });

  it('takes no notice of what stands beside it, of what was not seen, and of what lies within the hull', () => {
    const way = straightWay(scan({ 90: 0.3, 180: 0.1 }), 0.17);
    expect(way).toEqual({ forward: Number.POSITIVE_INFINITY, backward: Number.POSITIVE_INFINITY });
  });

  it('slows the robot towards an obstacle so that it can stop before it, and never below a creep', () => {
    const near = { forward: 0.08, backward: 2 };
    const v = slowNearObstacles({ v: 0.35, w: 0.1 }, near, 1).v;
    expect(v).toBeLessThan(0.35);
    expect((v * v) / 2).toBeLessThan(0.08);
    expect(slowNearObstacles({ v: -0.35, w: 0 }, near, 1).v).toBe(-0.35);
    expect(slowNearObstacles({ v: 0.35, w: 0 }, { forward: 0, backward: 0 }, 1).v).toBe(0.12);
    expect(slowNearObstacles({ v: 0.35, w: 0 }, { forward: null, backward: null }, 1).v).toBe(0.35);
  });
});

describe('the punctuality of the control loop', () => {
  it('is counted in microseconds, with cycles that were left out', () => {
    const stats = new CycleStats(50);
    for (let i = 0; i < 99; i++) stats.began(0.2);
    stats.began(120);
    expect(stats.counters()).toEqual({
      control_cycles: 100,
      control_missed: 2,
      control_late_p99_us: 120_000,
      control_late_max_us: 120_000,
    });
  });
});
