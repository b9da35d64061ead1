import { describe, expect, it } from 'vitest';
import { compose, distance, type Pose, relativeTo } from '../../../../config/contracts/geometry.js';
import { GridMapper } from '../../../../drivers/amr/mapping/grid-mapper.js';
import { DEFAULT_MAPPER } from '../../../../drivers/amr/mapping/types.js';
import { box, noise, odometryOf, scanAt, type Wall, wayAlong } from './flat-world.js';

/** A flat of 10 × 8 m: a ring of rooms around a closed core, doors of 0.9 m, some furniture. */
const FLAT: Wall[] = [
  ...box(0, 0, 10, 8),
  ...box(3.5, 3, 6.5, 5),
  [3.5, 0, 3.5, 1],
  [3.5, 1.9, 3.5, 3],
  [6.5, 5, 6.5, 6],
  [6.5, 6.9, 6.5, 8],
  [0, 4.6, 1.2, 4.6],
  [2.1, 4.6, 3.5, 4.6],
  [6.5, 3.4, 7.8, 3.4],
  [8.7, 3.4, 10, 3.4],
  ...box(0.2, 0.2, 1.4, 0.8),
  ...box(8.8, 0.3, 9.7, 2.2),
  ...box(4.6, 7.3, 5.6, 7.8),
  ...box(0.2, 6.8, 0.9, 7.7),
];
/** Twice round the core. */
const ROUND = [
  [2, 1.45],
  [8.25, 1.45],
  [8.25, 6.45],
  [1.65, 6.45],
  [1.65, 1.45],
] as const;
const WAY = wayAlong([...ROUND, ...ROUND.slice(1), [4, 1.45]], 0.08, 0.12);

function drive(options: { odometry: boolean; scans?: number } = { odometry: true }) {
  const { normal } = noise(7);
  const wheels = odometryOf(WAY, { scale: 1.03, bias: 0.02, sigma: 0.02, normal });
  const mapper = new GridMapper({ ...DEFAULT_MAPPER, maxRange: 8 });
  let lost = 0;
  const seen: Pose[] = [];
  WAY.slice(0, options.scans).forEach((pose, i) => {
    const points = scanAt(FLAT, pose, { rays: 270, range: 8, sigma: 0.01, normal });
    const update = mapper.addScan(points, options.odometry ? (wheels[i] ?? null) : null);
    if (!update.tracking) lost++;
    if (update.pose !== null) seen.push(update.pose);
  });
  return { mapper, wheels, seen, lost };
}

/** Where the robot is in the frame of the map: that of its first pose. */
const truth = (i: number): Pose =>
  relativeTo(WAY[0] ?? { x: 0, y: 0, theta: 0 }, WAY[i] ?? { x: 0, y: 0, theta: 0 });
const last = WAY.length - 1;

/** Share of occupied cells that lie on a wall, and of the walls that were mapped; by the true plan. */
function agreement(mapper: GridMapper) {
  const grid = mapper.grid();
  const start = WAY[0];
  if (grid === null || start === undefined) throw new Error('no map');
  let [on, occupied] = [0, 0];
  const mapped = new Set<string>();
  grid.cells.forEach((cell, i) => {
    if (cell < 65) return;
    occupied++;
    const x = start.x + grid.origin.x + ((i % grid.width) + 0.5) * grid.resolution;
    const y = start.y + grid.origin.y + (Math.floor(i / grid.width) + 0.5) * grid.resolution;
    const away = Math.min(...FLAT.map((wall) => toWall(wall, x, y)));
    if (away <= 0.08) on++;
    FLAT.forEach((wall, w) => {
      if (toWall(wall, x, y) <= 0.1) mapped.add(`${w}:${Math.round(alongWall(wall, x, y) * 5)}`);
    });
  });
  return { on: on / occupied, mapped: mapped.size };
}

function toWall([x0, y0, x1, y1]: Wall, x: number, y: number): number {
  const share = Math.max(0, Math.min(1, alongWall([x0, y0, x1, y1], x, y)));
  return Math.hypot(x - x0 - share * (x1 - x0), y - y0 - share * (y1 - y0));
}

function alongWall([x0, y0, x1, y1]: Wall, x: number, y: number): number {
  return ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2);
}

describe('mapping while driving', () => {
  it('knows where it is after fifty metres although the wheels are metres off, and draws walls once', () => {
    const { mapper, wheels, seen, lost } = drive();
    const wheelsOff = distance(wheels[last] ?? { x: 0, y: 0 }, truth(last));
    expect(wheelsOff).toBeGreaterThan(2);
    expect(lost).toBe(0);
    expect(distance(seen.at(-1) ?? { x: 9, y: 9 }, truth(last))).toBeLessThan(0.1);
    mapper.finish();
    const { on } = agreement(mapper);
    expect(on).toBeGreaterThan(0.97);
    expect(mapper.quality()).toMatchObject({ unmatched: 0, leftOut: 0 });
    expect(mapper.quality().loopsClosed).toBeGreaterThan(0);
  });

  it('does without odometry as long as it moves slowly against its scans', () => {
    const { mapper, seen, lost } = drive({ odometry: false });
    expect(lost).toBe(0);
    expect(distance(seen.at(-1) ?? { x: 9, y: 9 }, truth(last))).toBeLessThan(0.15);
    mapper.finish();
    expect(agreement(mapper).on).toBeGreaterThan(0.95);
  });

  it('maps as well with a wheel that is dead, or spins for two metres, and says that it does not believe it', () => {
    const { normal } = noise(5);
    const wheels = odometryOf(WAY, { scale: 1.02, bias: 0.01, sigma: 0.02, normal });
    // A dead left encoder: half of the way is missing, and every metre turns the robot by 4 rad.
    const dead = odometryOf(WAY, { scale: 0.5, bias: 4, sigma: 0, normal });
    const spun = wheels.map((pose, i) =>
      i > 150 ? compose(pose, { x: Math.min(2, 0.1 * (i - 150)), y: 0, theta: 0 }) : pose,
    );
    for (const [odometry, believed] of [
      [dead, false],
      [spun, true],
    ] as const) {
      const mapper = new GridMapper({ ...DEFAULT_MAPPER, maxRange: 8 });
      WAY.forEach((pose, i) => {
        mapper.addScan(scanAt(FLAT, pose, { rays: 270, range: 8, sigma: 0.01, normal }), odometry[i] ?? null);
      });
      expect(mapper.odometryBelieved).toBe(believed);
      expect(distance(mapper.pose() ?? { x: 9, y: 9 }, truth(last))).toBeLessThan(0.15);
      mapper.finish();
      expect(agreement(mapper).on).toBeGreaterThan(0.95);
    }
  });

  it('keeps people who walk about, and rays that glass swallows, out of the map', () => {
    const { normal, uniform } = noise(11);
    const wheels = odometryOf(WAY, { scale: 1.02, bias: 0.01, sigma: 0.02, normal });
    const mapper = new GridMapper({ ...DEFAULT_MAPPER, maxRange: 8 });
    WAY.forEach((pose, i) => {
      // Two legs that walk beside the robot, and a third of all rays lost in bunches.
      const ahead = compose(pose, { x: 0.9 * Math.cos(i / 9), y: 0.9 * Math.sin(i / 9), theta: 0 });
      const legs = [0, 0.25].flatMap((d) => box(ahead.x + d, ahead.y, ahead.x + d + 0.1, ahead.y + 0.1));
      const seen = scanAt([...FLAT, ...legs], pose, { rays: 270, range: 8, sigma: 0.01, normal });
      const bunch = Math.floor(uniform() * 9);
      const kept = [...seen.x.keys()].filter((k) => (Math.floor(k / 10) + bunch) % 3 !== 0);
      const points = {
        x: Float64Array.from(kept, (k) => seen.x[k] ?? 0),
        y: Float64Array.from(kept, (k) => seen.y[k] ?? 0),
        count: kept.length,
      };
      mapper.addScan(points, wheels[i] ?? null);
    });
    expect(distance(mapper.pose() ?? { x: 9, y: 9 }, truth(last))).toBeLessThan(0.15);
    mapper.finish();
    expect(mapper.quality().unmatched).toBe(0);
    expect(agreement(mapper).on).toBeGreaterThan(0.9);
  });

  it('corrects in the map what wheels got wrong on the way round: the loop closes a tenth as far off or less', () => {
    const { mapper, wheels } = drive();
    mapper.finish();
    const start = WAY[0] ?? { x: 0, y: 0, theta: 0 };
    // How far each keyframe lies from the way that was really driven.
    const off = mapper.path().map((pose) => {
      const { x, y } = compose(start, pose);
      return Math.min(...WAY.map((was) => distance(was, { x, y })));
    });
    expect(Math.max(...off)).toBeLessThan(0.1);
    expect(Math.max(...off)).toBeLessThan(distance(wheels[last] ?? start, truth(last)) / 10);
  });

  it('is the same map for the same scans', () => {
    const [a, b] = [80, 80].map((scans) => drive({ odometry: true, scans }).mapper.grid());
    expect(Buffer.from(a?.cells ?? []).equals(Buffer.from(b?.cells ?? []))).toBe(true);
  });

  it('has no map and no pose before it saw anything, and takes an empty scan without harm', () => {
    const mapper = new GridMapper();
    const empty = { x: new Float64Array(0), y: new Float64Array(0), count: 0 };
    expect(mapper.addScan(empty, null)).toEqual({
      pose: null,
      score: null,
      tracking: false,
      keyframe: false,
      loopsClosed: 0,
    });
    expect([mapper.pose(), mapper.grid(), mapper.quality().meanScore]).toEqual([null, null, null]);
    mapper.finish();
  });

  it('says so when scans do not fit what it mapped, and finds back when they do', () => {
    const mapper = new GridMapper({ ...DEFAULT_MAPPER, maxRange: 8 });
    const { normal, uniform } = noise(3);
    const at = { x: 2, y: 1.45, theta: 0 };
    const real = () => scanAt(FLAT, at, { rays: 360, range: 8, sigma: 0.01, normal });
    for (let i = 0; i < 5; i++) mapper.addScan(real(), { x: 0, y: 0, theta: 0 });
    const nonsense = {
      x: Float64Array.from({ length: 300 }, () => 6 * uniform() - 3),
      y: Float64Array.from({ length: 300 }, () => 6 * uniform() - 3),
      count: 300,
    };
    const lost = mapper.addScan(nonsense, { x: 0, y: 0, theta: 0 });
    expect([lost.tracking, lost.keyframe]).toEqual([false, false]);
    const found = mapper.addScan(real(), { x: 0, y: 0, theta: 0 });
    expect(found.tracking).toBe(true);
    expect(mapper.quality().unmatched).toBe(1);
  });
});
