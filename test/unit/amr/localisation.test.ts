import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compose, distance, type Pose, relativeTo } from '../../../config/contracts/geometry.js';
import { seededRandom } from '../../../config/contracts/ids.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { gaussian } from '../../../drivers/amr/localisation/gaussian.js';
import { LocalisationHealth } from '../../../drivers/amr/localisation/health.js';
import { Odometry } from '../../../drivers/amr/localisation/odometry.js';
import { lowVarianceIndices } from '../../../drivers/amr/localisation/resample.js';
import { LD19_TIMING, scanPoints, thinOut } from '../../../drivers/amr/localisation/scan-points.js';
import { loadMapBundle, mapBundle } from '../../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { itWithShared } from '../../support/shared-data.js';
import { Drive } from './support/drive.js';
import { EMPTY_AREAS, flat } from './support/grids.js';

const WHEELS = { wheelBase: 0.235, maxWheelSpeed: 0.5 };

describe('wheel odometry', () => {
  it('follows straight ways, turns on the spot and arcs', () => {
    const odometry = new Odometry(WHEELS);
    odometry.add({ mono: 0, left: 5, right: 7 });
    odometry.add({ mono: 1000, left: 5.3, right: 7.3 });
    expect(odometry.pose.x).toBeCloseTo(0.3, 9);
    expect(odometry.pose.theta).toBe(0);
    const quarter = (Math.PI / 2) * (0.235 / 2);
    odometry.add({ mono: 2000, left: 5.3 - quarter, right: 7.3 + quarter });
    expect(odometry.pose.theta).toBeCloseTo(Math.PI / 2, 9);
    // A quarter circle to the left of 0.5 m radius.
    const [inner, outer] = [((0.5 - 0.1175) * Math.PI) / 2, ((0.5 + 0.1175) * Math.PI) / 2];
    for (let k = 1; k <= 10; k++) {
      odometry.add({
        mono: 2000 + 300 * k,
        left: 5.3 - quarter + (inner * k) / 10,
        right: 7.3 + quarter + (outer * k) / 10,
      });
    }
    expect(odometry.pose.x).toBeCloseTo(0.3 - 0.5, 6);
    expect(odometry.pose.y).toBeCloseTo(0.5, 6);
    expect(odometry.heading).toBeCloseTo(Math.PI, 6);
  });

  it('does not take counters that start anew for motion', () => {
    const odometry = new Odometry(WHEELS);
    odometry.add({ mono: 0, left: 812, right: 790 });
    odometry.add({ mono: 50, left: 0, right: 0 });
    odometry.add({ mono: 100, left: 0.01, right: 0.01 });
    expect(odometry.pose.x).toBeCloseTo(0.01, 9);
    expect(odometry.jumps).toBe(1);
    odometry.add({ mono: 150, left: Number.NaN, right: 0 });
    expect(Number.isFinite(odometry.pose.x)).toBe(true);
  });

  it('ignores a report it has seen, and knows poses of the last second in between', () => {
    const odometry = new Odometry(WHEELS);
    for (let k = 0; k <= 20; k++) odometry.add({ mono: 50 * k, left: 0.01 * k, right: 0.01 * k });
    odometry.add({ mono: 1000, left: 9, right: 9 });
    expect(odometry.pose.x).toBeCloseTo(0.2, 9);
    expect(odometry.poseAt(525).x).toBeCloseTo(0.105, 9);
    expect(odometry.poseAt(5000).x).toBeCloseTo(0.2, 9);
    expect(odometry.twist()?.v).toBeCloseTo(0.2, 6);
  });
});

describe('points of a scan', () => {
  it('are taken back to the time stamp along the motion, ray by ray', () => {
    // Turning at 1.5 rad/s beside a wall at x = 2: without correction it would look bent.
    const poseAt = (mono: number): Pose => ({ x: 0, y: 0, theta: (1.5 * mono) / 1000 });
    const rays = 360;
    const ranges = Array.from({ length: rays }, (_, i) => {
      const bearing = (i * 2 * Math.PI) / rays;
      const mono = 1000 - 100 + 100 * ((((-bearing / (2 * Math.PI)) % 1) + 1) % 1);
      const angle = poseAt(mono).theta + bearing;
      return Math.cos(angle) > 0.2 ? 2 / Math.cos(angle) : Number.NaN;
    });
    const scan = {
      at: 0,
      angleMin: 0,
      angleIncrement: (2 * Math.PI) / rays,
      rangeMin: 0.05,
      rangeMax: 12,
      ranges,
    };
    const points = scanPoints(scan, 1000, poseAt, LD19_TIMING);
    expect(points.count).toBeGreaterThan(100);
    const here = poseAt(1000);
    for (let i = 0; i < points.count; i++) {
      const p = compose(here, { x: points.x[i] ?? 0, y: points.y[i] ?? 0, theta: 0 });
      expect(p.x).toBeCloseTo(2, 2);
    }
  });

  it('leave out what was not seen, and can be thinned out evenly', () => {
    const scan = {
      at: 0,
      angleMin: 0,
      angleIncrement: 0.1,
      rangeMin: 0.1,
      rangeMax: 5,
      ranges: [1, Number.NaN, 0.05, 7, 0, 2, Number.POSITIVE_INFINITY, 3],
    };
    const points = scanPoints(scan, 0, () => ({ x: 0, y: 0, theta: 0 }));
    expect(points.count).toBe(3);
    expect(thinOut(points, 2).count).toBe(2);
    expect(thinOut(points, 10)).toBe(points);
  });
});

describe('drawing and resampling', () => {
  it('draws normal numbers of mean 0 and deviation 1', () => {
    const normal = gaussian(seededRandom(4));
    const draws = Array.from({ length: 20_000 }, normal);
    const mean = draws.reduce((a, b) => a + b, 0) / draws.length;
    const variance = draws.reduce((a, b) => a + (b - mean) ** 2, 0) / draws.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  });

  it('takes each particle as often as its weight says, give or take one', () => {
    const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(
        weights,
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (w, n, u) => {
          const sum = w.reduce((a, b) => a + b, 0);
          fc.pre(sum > 0.01);
          const normed = Float64Array.from(w, (x) => x / sum);
          const drawn = lowVarianceIndices(normed, w.length, n, u);
          expect(drawn).toHaveLength(n);
          for (const [i, weight] of normed.entries()) {
            const times = drawn.filter((d) => d === i).length;
            if (i < w.length - 1) expect(Math.abs(times - n * weight)).toBeLessThanOrEqual(1 + 1e-6);
          }
        },
      ),
    );
  });
});

describe('trust in a pose', () => {
  const scan = (score: number | null, more: object = {}) => ({
    score,
    beams: 100,
    spread: 0.05,
    share: 1,
    reach: 3,
    rivalled: false,
    ...more,
  });

  it('is unknown until a scan confirms it', () => {
    const health = new LocalisationHealth();
    expect(health.localized).toBeNull();
    health.observe(scan(null), 0);
    health.observe(scan(0.9, { beams: 5 }), 50);
    expect(health.localized).toBeNull();
    health.observe(scan(0.9), 100);
    expect(health.localized).toBe(true);
  });

  it('is lost only after scans have not fitted for a while', () => {
    const health = new LocalisationHealth();
    health.observe(scan(0.9), 0);
    for (let t = 100; t <= 2500; t += 100) health.observe(scan(0.2), t);
    expect(health.localized).toBe(true);
    health.observe(scan(0.2), 2700);
    expect(health.localized).toBe(false);
  });

  it('is found again only by a very good fit that leaves no other place', () => {
    const health = new LocalisationHealth();
    health.observe(scan(0.9), 0);
    for (let t = 100; t <= 3000; t += 100) health.observe(scan(0.1), t);
    for (let t = 3100; t <= 6000; t += 100) health.observe(scan(0.7), t);
    for (let t = 6100; t <= 9000; t += 100) health.observe(scan(0.95, { share: 0.6 }), t);
    expect(health.localized).toBe(false);
    for (let t = 9100; t <= 12_000; t += 100) health.observe(scan(0.95, { reach: 0.6 }), t);
    expect(health.localized, 'by what stands close around').toBe(false);
    for (let t = 12_100; t <= 15_000; t += 100) health.observe(scan(0.95, { rivalled: true }), t);
    expect(health.localized, 'while another place fits as well').toBe(false);
    for (let t = 15_100; t <= 16_700; t += 100) health.observe(scan(0.95), t);
    expect(health.localized).toBe(true);
  });
});

/** Starts with a pose that is wrong, turns and drives a little, and returns the error left. */
async function converge(bundle: MapBundle, truth: Pose, off: Pose): Promise<{ xy: number; theta: number }> {
  const drive = new Drive(bundle, truth, { seed: 5 });
  drive.navigator.relocalize(compose(truth, off), { xy: 0.3, theta: 0.25 });
  await drive.run(1500);
  await drive.act({ kind: 'spin', angle: Math.PI, tolerance: 0.1 });
  expect(drive.navigator.state().localized).toBe(true);
  return drive.error();
}

describe('localisation', () => {
  it('converges from a pose half a metre and 20° off, to centimetres', async () => {
    const error = await converge(flat(), { x: 3, y: 3.6, theta: 1 }, { x: 0.4, y: -0.3, theta: 0.35 });
    expect(error.xy).toBeLessThan(0.03);
    expect(error.theta).toBeLessThan(0.02);
  });

  it('works on a turned map', async () => {
    const bundle = mapBundle({ ...flat().grid, origin: { x: 3, y: -2, theta: 0.7 } }, EMPTY_AREAS);
    const { frame } = new StaticCostmap(bundle);
    const truth = { ...frame.toMap({ x: 60, y: 72 }), theta: 2 };
    const error = await converge(bundle, truth, { x: 0.2, y: 0.2, theta: -0.2 });
    expect(error.xy).toBeLessThan(0.03);
  });

  for (const [name, truth] of [
    ['aws_small_house/map', { x: -3, y: 1, theta: 0.5 }],
    ['nav2_bringup/tb3_sandbox', { x: -2, y: -0.5, theta: 0 }],
    ['nav2_bringup/depot', { x: 15, y: 7.5, theta: 2 }],
  ] as const) {
    itWithShared(`converges on ${name}`, `maps/${name}.yaml`, async (path) => {
      const error = await converge(loadMapBundle(path), truth, { x: 0.25, y: -0.2, theta: 0.2 });
      expect(error.xy).toBeLessThan(0.05);
      expect(error.theta).toBeLessThan(0.03);
    });
  }

  it('keeps within centimetres over a long drive with slipping wheels', async () => {
    const drive = await new Drive(
      flat(),
      { x: 1, y: 1.2, theta: 0 },
      { seed: 9, slip: 0.05, slipNoise: 0.1 },
    ).settle();
    let worst = 0;
    for (const goal of [
      { x: 5.5, y: 3.8, theta: 0 },
      { x: 6, y: 1.8, theta: -1.5 },
      { x: 1, y: 4, theta: 3 },
    ]) {
      const end = await drive.goTo(goal, 120_000, () => {
        worst = Math.max(worst, drive.error().xy);
      });
      expect(end.status).toBe('succeeded');
    }
    expect(worst).toBeLessThan(0.08);
  });

  it('has a pose at every control step between scans', async () => {
    const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }).settle();
    drive.robot.lidarDead = true;
    const before = drive.navigator.state().pose;
    await drive.act({ kind: 'spin', angle: 1, tolerance: 0.05 });
    const after = drive.navigator.state().pose;
    if (before === null || after === null) throw new Error('no pose');
    expect(relativeTo(before, after).theta).toBeCloseTo(1, 1);
    expect(drive.navigator.state().poseAt).toBe(1_800_000_000_000 + drive.robot.timeMs);
  });

  it('does not follow wheels that spin on the spot', async () => {
    const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }).settle();
    drive.robot.spinning = true;
    drive.navigator.start('d', { kind: 'drive', twist: { v: 0.2, w: 0 }, ttlMs: 4000 });
    await drive.run(5000);
    expect(drive.error().xy).toBeLessThan(0.25);
  });

  it('leaves no obstacles behind that are walls seen from a wrong place', async () => {
    const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }).settle();
    drive.robot.pose = { x: 1.45, y: 1.45, theta: 0 };
    const seen: number[] = [];
    await drive.run(12_000, () => seen.push(drive.navigator.view().obstacles.length));
    expect(drive.navigator.state()).toMatchObject({ localized: true });
    expect(drive.error().xy).toBeLessThan(0.1);
    expect(Math.max(...seen.slice(40))).toBe(0);
  });

  it('says that it is lost after being carried to another room, and finds itself by looking round', async () => {
    const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }).settle();
    expect(drive.navigator.state().localized).toBe(true);
    drive.robot.pose = { x: 6.5, y: 2, theta: 2 };
    await drive.run(4000);
    expect(drive.navigator.state().localized).toBe(false);
    expect(drive.navigator.state().localizationScore).toBeLessThan(0.4);
    for (let k = 0; k < 8 && drive.navigator.state().localized !== true; k++) {
      await drive.act({ kind: 'spin', angle: Math.PI, tolerance: 0.1 });
      await drive.run(1000);
    }
    expect(drive.navigator.state().localized).toBe(true);
    expect(distance(drive.navigator.state().pose ?? { x: 99, y: 0 }, drive.robot.pose)).toBeLessThan(0.1);
  });

  it('does not take a place far away for its own while things stand all around it', async () => {
    for (const [seed, at] of [
      [1, { x: 1.8, y: 1.3, theta: 0 }],
      [2, { x: 5.5, y: 3.6, theta: 2 }],
    ] as const) {
      const drive = await new Drive(flat(), at, { seed }).settle();
      drive.robot.things = Array.from({ length: 12 }, (_, k) => ({
        x: at.x + 0.45 * Math.cos((k * Math.PI) / 6),
        y: at.y + 0.45 * Math.sin((k * Math.PI) / 6),
        radius: 0.15,
      }));
      let wrong = 0;
      const look = () => {
        const { localized } = drive.navigator.state();
        if (localized === true && drive.error().xy > 0.5) wrong++;
      };
      for (let k = 0; k < 5; k++) {
        await drive.act({ kind: 'spin', angle: 2, tolerance: 0.1 });
        look();
        await drive.run(4000, look);
      }
      expect(wrong, `seed ${seed}`).toBe(0);
      drive.robot.things = [];
      await drive.run(20_000);
      expect(drive.navigator.state().localized, `seed ${seed}`).toBe(true);
      expect(drive.error().xy).toBeLessThan(0.1);
    }
  });

  it('finds itself with no idea at all', async () => {
    const drive = await new Drive(flat(), { x: 6, y: 3.9, theta: 2 }, { seed: 2 }).settle();
    drive.navigator.relocalizeAnywhere();
    expect(drive.navigator.state().localized).toBe(false);
    for (let k = 0; k < 8 && drive.navigator.state().localized !== true; k++) {
      await drive.act({ kind: 'spin', angle: Math.PI, tolerance: 0.1 });
      await drive.run(1000);
    }
    expect(drive.navigator.state().localized).toBe(true);
    expect(drive.error().xy).toBeLessThan(0.1);
  });

  it('gives the same estimate for the same seeds', async () => {
    const run = async () => {
      const drive = await new Drive(flat(), { x: 1, y: 1.2, theta: 0 }, { seed: 3 }).settle();
      await drive.goTo({ x: 3, y: 3.5, theta: 0 });
      return drive.navigator.state().pose;
    };
    expect(await run()).toEqual(await run());
  });
});
