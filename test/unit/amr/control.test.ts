import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clearanceAhead, freeWay } from '../../../drivers/amr/control/free-way.js';
import { correctOffset, readBeacon } from '../../../drivers/amr/control/infrared.js';
import { DEFAULT_LIMITS, TwistLimiter } from '../../../drivers/amr/control/limits.js';
import { PathTrack } from '../../../drivers/amr/control/path-track.js';
import { ProgressChecker } from '../../../drivers/amr/control/progress.js';
import { Standstill } from '../../../drivers/amr/control/standstill.js';
import { LidarView } from '../../../drivers/amr/navigator/lidar-view.js';

const points = (...list: [number, number][]) => ({
  x: Float64Array.from(list, (p) => p[0]),
  y: Float64Array.from(list, (p) => p[1]),
  count: list.length,
});

describe('the free way along an arc', () => {
  it('agrees with driving it in small steps until the disc touches', () => {
    const num = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(num(-1.2, 1.2), num(-1.2, 1.2), num(-3, 3), fc.boolean(), (px, py, curvature, back) => {
        fc.pre(Math.hypot(px, py) > 0.2);
        const v = back ? -0.3 : 0.3;
        const way = freeWay(points([px, py]), { v, w: v * curvature }, 0.17, 0, 1.5);
        let stepped = Number.POSITIVE_INFINITY;
        const pose = { x: 0, y: 0, theta: 0 };
        const step = 0.002;
        for (let s = 0; s < 1.5; s += step) {
          if (Math.hypot(px - pose.x, py - pose.y) < 0.17) {
            stepped = s;
            break;
          }
          const ds = back ? -step : step;
          pose.theta += (ds * curvature) / 2;
          pose.x += ds * Math.cos(pose.theta);
          pose.y += ds * Math.sin(pose.theta);
          pose.theta += (ds * curvature) / 2;
        }
        // Grazing contacts may be seen by one and not the other.
        if (Number.isFinite(way.distance) && Number.isFinite(stepped)) {
          expect(Math.abs(way.distance - stepped)).toBeLessThan(0.05);
        } else if (Number.isFinite(stepped) && stepped < 1.4) {
          expect(freeWay(points([px, py]), { v, w: v * curvature }, 0.172, 0, 1.5).distance).toBeLessThan(
            1.5,
          );
        } else if (Number.isFinite(way.distance) && way.distance < 1.4) {
          expect(freeWay(points([px, py]), { v, w: v * curvature }, 0.168, 0, 1.5).distance).toBe(Infinity);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('counts things within the margin only when the hull would touch them', () => {
    const beside = points([0.02, 0.18]);
    expect(freeWay(beside, { v: 0.2, w: 0 }, 0.17, 0.03, 1).distance).toBe(Infinity);
    const inFront = points([0.18, 0.02]);
    expect(freeWay(inFront, { v: 0.2, w: 0 }, 0.17, 0.03, 1).distance).toBeLessThan(0.02);
    expect(freeWay(inFront, { v: -0.2, w: 0 }, 0.17, 0.03, 1).distance).toBe(Infinity);
    expect(freeWay(inFront, { v: 0, w: 1 }, 0.17, 0.03, 1).distance).toBe(Infinity);
  });

  it('says what is in the way, unless that is to be ignored', () => {
    const set = points([0.9, 0], [0.5, 0.05]);
    expect(freeWay(set, { v: 0.3, w: 0 }, 0.17, 0.01, 2).at).toEqual({ x: 0.5, y: 0.05 });
    expect(freeWay(set, { v: 0.3, w: 0 }, 0.17, 0.01, 2, (p) => p.y > 0).at).toEqual({ x: 0.9, y: 0 });
    expect(clearanceAhead(set, 0.17)).toBeCloseTo(Math.hypot(0.5, 0.05) - 0.17, 9);
  });
});

describe('what the lidar sees', () => {
  const at = { x: 0, y: 0, theta: 0 };
  const wayAhead = (view: LidarView) => view.around(at, 0).freeWay({ v: 0.3, w: 0 }).distance;

  it('leaves a single point out until the next scan confirms it', () => {
    const view = new LidarView(0.17, 0.01);
    view.add(points([0.5, 0]), 360, at, 0);
    expect(wayAhead(view)).toBe(Infinity);
    view.add(points([0.51, 0]), 360, at, 100);
    expect(wayAhead(view)).toBeLessThan(0.4);
    view.add(points([0, 3]), 360, at, 200);
    expect(wayAhead(view)).toBe(Infinity);
  });

  it('carries its points along with the robot until the next scan', () => {
    const view = new LidarView(0.17, 0);
    view.add(points([1, 0], [1, 0.05]), 360, at, 0);
    expect(view.around({ x: 0.3, y: 0, theta: 0 }, 60).freeWay({ v: 0.3, w: 0 }).distance).toBeCloseTo(
      0.53,
      2,
    );
    expect(view.around(at, 60).ageMs).toBe(60);
  });

  it('knows how old the newest look ahead and behind is', () => {
    const view = new LidarView(0.17, 0);
    const fan = (side: number) =>
      points(...Array.from({ length: 20 }, (_, i) => [2 * side, (i - 10) / 10] as [number, number]));
    expect(view.around(at, 0)).toMatchObject({ ageMs: null, aheadAgeMs: null, behindAgeMs: null });
    view.add(fan(1), 360, at, 0);
    view.add(fan(-1), 360, at, 100);
    expect(view.around(at, 150)).toMatchObject({ ageMs: 50, aheadAgeMs: 150, behindAgeMs: 50 });
  });
});

describe('the limiter', () => {
  it('never changes speed faster than allowed, nor exceeds a wheel, whatever is wished', () => {
    const wish = fc.record({
      v: fc.double({ min: -3, max: 3, noNaN: true }),
      w: fc.double({ min: -9, max: 9, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 60 }), (wishes) => {
        const limiter = new TwistLimiter(DEFAULT_LIMITS);
        let last = limiter.current;
        for (const w of wishes) {
          const next = limiter.step(w, 0.05, null);
          expect(Math.abs(next.v - last.v)).toBeLessThanOrEqual(DEFAULT_LIMITS.brake * 0.05 + 1e-9);
          expect(Math.abs(next.w - last.w)).toBeLessThanOrEqual(DEFAULT_LIMITS.turnAccel * 0.05 + 1e-9);
          if (Math.abs(next.v) > Math.abs(last.v)) {
            expect(Math.abs(next.v - last.v)).toBeLessThanOrEqual(DEFAULT_LIMITS.accel * 0.05 + 1e-9);
          }
          expect(Math.abs(next.v)).toBeLessThanOrEqual(DEFAULT_LIMITS.maxSpeed);
          expect(Math.abs(next.w)).toBeLessThanOrEqual(DEFAULT_LIMITS.maxTurn);
          last = next;
        }
      }),
    );
  });

  it('does not run ahead of wheels that do not follow', () => {
    const limiter = new TwistLimiter(DEFAULT_LIMITS);
    for (let k = 0; k < 100; k++) limiter.step({ v: 0.5, w: 0 }, 0.05, { v: 0, w: 0 });
    expect(limiter.current.v).toBeLessThan(0.2);
  });
});

describe('standstill', () => {
  const sample = (mono: number, at: number) => ({ mono, left: at, right: at });

  it('is proven by wheels that keep their place, to a millimetre', () => {
    const still = new Standstill();
    still.update(sample(0, 1), 0, 5000);
    still.update(sample(50, 1.01), 50, 5050);
    for (let t = 100; t <= 400; t += 50) still.update(sample(t, 1.0104), t, 5000 + t);
    expect(still.stillMs).toBe(350);
    expect(still.since).toBe(5050);
    still.update(sample(450, 1.02), 450, 5450);
    expect(still.stillMs).toBe(0);
    expect(still.since).toBeNull();
  });

  it('is not proven by wheels that creep', () => {
    const still = new Standstill();
    let longest = 0;
    for (let t = 0; t <= 5000; t += 50) {
      still.update(sample(t, (t / 1000) * 0.01), t, t);
      longest = Math.max(longest, still.stillMs);
    }
    expect(longest).toBeLessThan(300);
  });

  it('is unknown while the base says nothing', () => {
    const still = new Standstill();
    for (let t = 0; t <= 1000; t += 50) still.update(sample(Math.min(t, 500), 1), t, t);
    expect(still.stillMs).toBe(0);
    still.update(null, 1050, 1050);
    expect(still.since).toBeNull();
  });
});

describe('progress', () => {
  const pose = (x: number) => ({ x, y: 0, theta: 0 });

  it('misses wheels that do not turn', () => {
    const checker = new ProgressChecker();
    let verdict = null;
    for (let t = 0; t < 2050 && verdict === null; t += 50) {
      verdict = checker.check({ v: 0.2, w: 0 }, pose(1), { v: 0, w: 0 }, 0.05);
    }
    expect(verdict).toBe('wheels_held');
  });

  it('misses a robot that stays where it is while its wheels turn', () => {
    const checker = new ProgressChecker();
    let verdict = null;
    for (let t = 0; t < 7000 && verdict === null; t += 50) {
      verdict = checker.check({ v: 0.2, w: 0 }, pose(1 + 0.01 * (t % 3)), { v: 0.2, w: 0 }, 0.05);
    }
    expect(verdict).toBe('no_progress');
  });

  it('does not count waiting', () => {
    const checker = new ProgressChecker();
    for (let t = 0; t < 60_000; t += 50) {
      expect(checker.check({ v: 0, w: 0 }, pose(1), { v: 0, w: 0 }, 0.05)).toBeNull();
    }
  });
});

describe('a path by its length', () => {
  it('finds the robot on it without jumping to a later piece that passes near', () => {
    const track = new PathTrack([
      { x: 0, y: 0 },
      { x: 2, y: 0 },
      { x: 2, y: 0.3 },
      { x: 0, y: 0.3 },
    ]);
    track.advance({ x: 0.5, y: 0.2 });
    expect(track.at).toBeCloseTo(0.5, 6);
    expect(track.off).toBeCloseTo(0.2, 6);
    expect(track.pointAt(2.15)).toEqual({ x: 2, y: 0.15 });
    expect(track.pointAt(5).x).toBeLessThan(0);
    expect(track.rest()[0]).toEqual({ x: 0.5, y: 0 });
  });

  it('may be a single point', () => {
    const track = new PathTrack([{ x: 1, y: 1 }]);
    track.advance({ x: 0, y: 1 });
    expect(track).toMatchObject({ length: 0, off: 1, remaining: 0 });
    expect(track.pointAt(3)).toEqual({ x: 1, y: 1 });
  });
});

describe('the station’s infrared', () => {
  it('is read from any receiver, and other remotes are not taken for it', () => {
    expect(readBeacon({ omni: 0, left: 0, right: 0 })).toBeNull();
    expect(readBeacon({ omni: 130, left: 0, right: 162 })).toMatchObject({ green: false, red: false });
    expect(readBeacon({ omni: 0, left: 168, right: 164 })).toEqual({ green: true, red: true, near: false });
    expect(readBeacon({ omni: 173, left: 0, right: 0 })).toEqual({ green: true, red: true, near: true });
    expect(readBeacon({ omni: 161, left: 0, right: 0 })).toEqual({ green: false, red: false, near: true });
  });

  it('narrows the lateral offset down', () => {
    const both = { green: true, red: true, near: true };
    const edge = 0.4 * Math.tan((5 * Math.PI) / 180);
    expect(correctOffset(0.2, 0.4, both)).toBeCloseTo(edge, 9);
    expect(correctOffset(0.01, 0.4, both)).toBe(0.01);
    expect(correctOffset(-0.1, 0.4, { ...both, red: false })).toBeCloseTo(edge, 9);
    expect(correctOffset(0.1, 0.4, { ...both, green: false })).toBeCloseTo(-edge, 9);
    expect(correctOffset(0.1, 0.4, null)).toBe(0.1);
  });
});
