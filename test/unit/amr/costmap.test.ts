import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COST_INSCRIBED,
  COST_LETHAL,
  COST_UNKNOWN,
  DEFAULT_INFLATION,
} from '../../../drivers/amr/costmap/costs.js';
import { squaredDistances } from '../../../drivers/amr/costmap/distance-transform.js';
import { fillPolygon } from '../../../drivers/amr/costmap/fill-polygon.js';
import { GridFrame } from '../../../drivers/amr/costmap/grid-frame.js';
import { LiveLayer } from '../../../drivers/amr/costmap/live-layer.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { mapBundle } from '../../../drivers/amr/map/bundle.js';
import { box, EMPTY_AREAS, flat, freeGrid, outline, STATION, wall } from './support/grids.js';

describe('the distance transform', () => {
  it('is exact: it agrees with trying every obstacle', () => {
    const mask = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.integer({ min: 1, max: 14 })).chain(([w, h]) =>
      fc.record({
        w: fc.constant(w),
        h: fc.constant(h),
        cells: fc.array(fc.boolean(), { minLength: w * h, maxLength: w * h }),
      }),
    );
    fc.assert(
      fc.property(mask, ({ w, h, cells }) => {
        const marked = cells.map((c, i) => ({ c, x: i % w, y: Math.floor(i / w) })).filter((m) => m.c);
        const expected = cells.map((_, i) =>
          Math.min(...marked.map((m) => (m.x - (i % w)) ** 2 + (m.y - Math.floor(i / w)) ** 2)),
        );
        expect([...squaredDistances(Uint8Array.from(cells, Number), w, h)]).toEqual(expected);
      }),
    );
  });
});

describe('the grid frame', () => {
  it('goes from the map to a turned grid and back', () => {
    const frame = new GridFrame({ width: 10, height: 10, resolution: 0.1, origin: { x: 2, y: 3, theta: 1 } });
    fc.assert(
      fc.property(
        fc.double({ min: -5, max: 5, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (x, y) => {
          const back = frame.toMap(frame.toGrid({ x, y }));
          expect(back.x).toBeCloseTo(x, 9);
          expect(back.y).toBeCloseTo(y, 9);
        },
      ),
    );
    expect(frame.indexAt(frame.centreOf(57))).toBe(57);
    expect(frame.indexAt({ x: Number.NaN, y: 0 })).toBe(-1);
    expect(frame.indexAt({ x: 2, y: 2.9 })).toBe(-1);
  });
});

describe('polygons on a grid', () => {
  it('fill the cells inside, and leave no gap in a thin wall drawn at an angle', () => {
    const frame = new GridFrame({ ...freeGrid(2, 2, 0.1) });
    const filled = new Set<number>();
    fillPolygon(frame, box(0.5, 0.5, 1.5, 1), (i) => filled.add(i));
    expect(filled.has(frame.indexAt({ x: 1, y: 0.75 }))).toBe(true);
    expect(filled.has(frame.indexAt({ x: 1, y: 1.3 }))).toBe(false);
    const thin = new Set<number>();
    fillPolygon(
      frame,
      [
        { x: 0.1, y: 0.1 },
        { x: 1.9, y: 1.2 },
        { x: 1.9, y: 1.21 },
      ],
      (i) => thin.add(i),
    );
    for (let x = 0.15; x < 1.9; x += 0.1) {
      const y = 0.1 + ((x - 0.1) * 1.1) / 1.8;
      const near = [-0.1, 0, 0.1].some((d) => thin.has(frame.indexAt({ x, y: y + d })));
      expect(near).toBe(true);
    }
  });
});

describe('the static costmap', () => {
  const grid = freeGrid(4, 4);
  outline(grid);
  for (let i = 0; i < 30; i++) grid.cells[60 * 80 + i] = -1;
  const areas = {
    ...EMPTY_AREAS,
    keepout: [{ id: 'k', polygon: box(2.6, 0.6, 3.2, 1.2) }],
    speedAreas: [
      { id: 'slow', polygon: box(1, 1, 2, 2), maxSpeed: 0.2 },
      { id: 'slower', polygon: box(1.5, 1.5, 2, 2), maxSpeed: 0.1 },
    ],
  };
  const costmap = new StaticCostmap(mapBundle(grid, areas));

  it('says whether the robot can stand somewhere, and why not', () => {
    expect(costmap.statusAt({ x: 2, y: 2 })).toBe('free');
    expect(costmap.statusAt({ x: 9, y: 2 })).toBe('off_map');
    expect(costmap.statusAt({ x: Number.NaN, y: 2 })).toBe('off_map');
    expect(costmap.statusAt({ x: 0.05, y: 2 })).toBe('occupied');
    expect(costmap.statusAt({ x: 0.2, y: 2 })).toBe('occupied');
    expect(costmap.statusAt({ x: 2.9, y: 0.9 })).toBe('keepout');
    expect(costmap.statusAt({ x: 2.5, y: 0.9 })).toBe('keepout');
    expect(costmap.statusAt({ x: 1, y: 3.01 })).toBe('unknown');
  });

  it('falls off with the distance beyond the body, and is closed where the body would touch', () => {
    const at = (x: number) => costmap.costAt({ x, y: 2 });
    expect(at(0.05)).toBe(COST_LETHAL);
    expect(at(0.2)).toBe(COST_INSCRIBED);
    const costs = [0.34, 0.4, 0.5, 0.6].map(at);
    expect(costs.every((c, i) => c < COST_INSCRIBED && c < (costs[i - 1] ?? 255))).toBe(true);
    expect(at(0.9)).toBe(0);
    expect(costmap.costAt({ x: 1, y: 3.01 })).toBe(COST_UNKNOWN);
  });

  it('knows the lowest speed limit that holds', () => {
    expect(costmap.speedLimitAt({ x: 1.2, y: 1.2 })).toBe(0.2);
    expect(costmap.speedLimitAt({ x: 1.7, y: 1.7 })).toBe(0.1);
    expect(costmap.speedLimitAt({ x: 3, y: 3 })).toBeNull();
    expect(costmap.speedLimitAt({ x: -3, y: 3 })).toBeNull();
  });

  it('keeps paths off the station, which the lidar may not see, but not off the place before it', () => {
    const home = new StaticCostmap(flat());
    expect(home.statusAt({ x: STATION.x, y: STATION.y })).toBe('occupied');
    expect(home.statusAt({ x: STATION.x + 0.3, y: STATION.y })).toBe('free');
  });

  it('leaves a way through a door of 0.62 m', () => {
    const door = freeGrid(3, 3);
    wall(door, 1.5, 0, 1.6, 1.2);
    wall(door, 1.5, 1.82, 1.6, 3);
    const costs = new StaticCostmap(mapBundle(door, EMPTY_AREAS));
    expect(costs.costAt({ x: 1.55, y: 1.51 })).toBeLessThan(COST_INSCRIBED);
    expect(costs.wallDistanceAt({ x: 1.55, y: 1.51 })).toBeGreaterThan(
      DEFAULT_INFLATION.robotRadius + DEFAULT_INFLATION.margin,
    );
  });
});

describe('the live layer', () => {
  const frame = new GridFrame(freeGrid(4, 4));
  const sensor = { x: 0.5, y: 2 };
  const chair = { x: 2.02, y: 2.02 };
  const behind = { x: 3.5, y: 2.04 };

  it('takes an obstacle up after three scans, and lets it go when it is seen through', () => {
    const layer = new LiveLayer(frame);
    for (let t = 0; t < 3; t++) {
      expect(layer.cells()).toHaveLength(0);
      layer.update(sensor, [chair], [true], t * 100);
    }
    expect([...layer.cells()]).toEqual([frame.indexAt(chair)]);
    for (let t = 3; t < 6; t++) layer.update(sensor, [behind], [false], t * 100);
    expect(layer.size).toBe(0);
  });

  it('does not count one scan twice, nor clear what the same scan hits', () => {
    const layer = new LiveLayer(frame);
    for (let t = 0; t < 2; t++) layer.update(sensor, [chair, chair, chair], [true, true, true], t * 100);
    expect(layer.cells()).toHaveLength(0);
    layer.update(sensor, [chair, behind], [true, false], 300);
    expect(layer.size).toBe(1);
  });

  it('forgets what is out of sight after a while, and what the robot stands on at once', () => {
    const layer = new LiveLayer(frame);
    for (let t = 0; t < 3; t++) layer.update(sensor, [chair], [true], t * 100);
    layer.update(sensor, [], [], 20_100);
    expect(layer.size).toBe(1);
    layer.update(sensor, [], [], 20_300);
    expect(layer.size).toBe(0);
    layer.update(sensor, [chair], [true], 21_000);
    layer.clearAround(chair, 0.17);
    expect(layer.size).toBe(0);
  });

  it('remembers a bounded number of cells and counts the rest', () => {
    const layer = new LiveLayer(frame, { confirmAfter: 1, forgetAfterMs: 1000, maxCells: 5 });
    const ends = Array.from({ length: 20 }, (_, i) => ({ x: 1 + i * 0.1, y: 1 }));
    layer.update(
      sensor,
      ends,
      ends.map(() => true),
      0,
    );
    expect(layer.size).toBe(5);
    expect(layer.dropped).toBe(15);
  });
});
