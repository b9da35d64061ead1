import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insidePolygon, type Point } from '../../../config/contracts/geometry.js';
import { DEFAULT_INFLATION } from '../../../drivers/amr/costmap/costs.js';
import { GridFrame } from '../../../drivers/amr/costmap/grid-frame.js';
import { checkApart, checkRoomOutline, DrivableGround } from '../../../drivers/amr/map/area-checks.js';
import { parseAreas } from '../../../drivers/amr/map/areas.js';
import { loadMapBundle, mapBundle } from '../../../drivers/amr/map/bundle.js';
import { gridFromRaster, parseMapYaml } from '../../../drivers/amr/map/map-server.js';
import { decodePgm } from '../../../drivers/amr/map/pgm.js';
import { signedArea } from '../../../drivers/amr/map/polygons.js';
import { segmentRooms } from '../../../drivers/amr/map/segment-rooms.js';
import type { OccupancyGrid, Room } from '../../../drivers/amr/types.js';
import { createWorld } from '../../../simulator/world/index.js';
import { worldToMap } from '../../../simulator/world/survey.js';
import { itWithShared } from '../../support/shared-data.js';
import { EMPTY_AREAS, flat, freeGrid, outline, wall } from './support/grids.js';

/** What holds for every proposal: outlines that can be drawn and edited, apart from each other, goals to drive to. */
function expectUsable(rooms: readonly Room[], grid: OccupancyGrid): void {
  const ground = new DrivableGround(
    mapBundle(grid, EMPTY_AREAS),
    DEFAULT_INFLATION.robotRadius,
    DEFAULT_INFLATION,
  );
  for (const [i, room] of rooms.entries()) {
    checkRoomOutline(room.polygon, grid, `rooms.${i}.polygon`);
    expect(room.polygon.length).toBeLessThanOrEqual(200);
    checkApart(room, rooms.slice(0, i), grid, `rooms.${i}`);
    expect(insidePolygon(room.goal, room.polygon)).toBe(true);
    ground.checkGoal(room, `rooms.${i}.goal`);
  }
  expect(rooms.map((room) => room.id)).toEqual(rooms.map((_, i) => String(i + 1)));
}

/** Which proposed room holds each point; null: none. */
const roomsAt = (rooms: readonly Room[], points: readonly Point[]) =>
  points.map((point) => rooms.find((room) => insidePolygon(point, room.polygon))?.id ?? null);

describe('rooms found in a map', () => {
  it('are the rooms of a flat, apart at their doors, the biggest first, named in Korean and English', () => {
    const { grid, areas } = flat();
    const rooms = segmentRooms(grid);
    expect(rooms.map((room) => [room.name, room.aliases])).toEqual([
      ['방 1', ['room 1']],
      ['방 2', ['room 2']],
      ['방 3', ['room 3']],
    ]);
    const sizes = rooms.map((room) => Math.abs(signedArea(room.polygon)));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(sizes[0]).toBeGreaterThan(23);
    expect(
      new Set(
        roomsAt(
          rooms,
          areas.rooms.map((room) => room.goal),
        ),
      ).size,
    ).toBe(3);
    expectUsable(rooms, grid);
  });

  it('are those of the simulated two-bedroom home, with its furniture and its door of 0.62 m', () => {
    const map = worldToMap(createWorld());
    const meta = parseMapYaml(map.mapYaml, 'map.yaml');
    const grid = gridFromRaster(decodePgm(map.pgm, 'map.pgm'), meta);
    const home = parseAreas(map.areasYaml, 'areas.yaml');
    const rooms = segmentRooms(grid, home.station);
    expect(rooms).toHaveLength(5);
    // Every room of the home is a room of its own.
    const found = roomsAt(
      rooms,
      home.rooms.map((room) => room.goal),
    );
    expect(new Set(found).size).toBe(5);
    expect(found).not.toContain(null);
    expectUsable(rooms, grid);
  });

  it('do not depend on how the map lies: turned by its origin the rooms turn with it', () => {
    const { grid } = flat();
    const turned = { ...grid, origin: { x: 3, y: -2, theta: 0.7 } };
    const [straight, other] = [segmentRooms(grid), segmentRooms(turned)];
    expect(other).toHaveLength(straight.length);
    const [from, to] = [new GridFrame(grid), new GridFrame(turned)];
    other.forEach((room, i) => {
      const was = straight[i];
      expect(room.polygon).toHaveLength(was?.polygon.length ?? 0);
      const there = to.toGrid(room.goal);
      const before = from.toGrid(was?.goal ?? { x: 0, y: 0 });
      // The goal is as near to the middle as it is open; the middle is that of the outline's box.
      expect(Math.hypot(there.x - before.x, there.y - before.y) * grid.resolution).toBeLessThan(0.5);
    });
    expectUsable(other, turned);
  });

  it('are found in walls that run across the cells', () => {
    const grid = freeGrid(12, 12);
    const angle = 0.5;
    // Two rooms of 4 × 4 m with a door of 0.9 m between them, turned by half a radian.
    for (let i = 0; i < grid.cells.length; i++) {
      const [x, y] = [((i % grid.width) + 0.5) / 20 - 6, (Math.floor(i / grid.width) + 0.5) / 20 - 6];
      const u = x * Math.cos(angle) + y * Math.sin(angle);
      const v = -x * Math.sin(angle) + y * Math.cos(angle);
      if (Math.abs(u) > 4.1 || Math.abs(v) > 2.1) grid.cells[i] = -1;
      else if (Math.abs(u) > 4 || Math.abs(v) > 2 || (Math.abs(u) < 0.06 && Math.abs(v) > 0.45)) {
        grid.cells[i] = 100;
      }
    }
    const rooms = segmentRooms(grid);
    expect(rooms.map((room) => Math.round(Math.abs(signedArea(room.polygon)) / 2))).toEqual([8, 8]);
    expectUsable(rooms, grid);
  });

  it('leave a hall around a room in one piece that does not cover the room', () => {
    const grid = freeGrid(10, 10);
    outline(grid);
    for (const [a, b, c, d] of [
      [3, 3, 7, 3.1],
      [3, 6.9, 7, 7],
      [6.9, 3, 7, 7],
      [3, 3, 3.1, 4.5],
      [3, 5.4, 3.1, 7],
    ] as const) {
      wall(grid, a, b, c, d);
    }
    const rooms = segmentRooms(grid);
    const [inner, hall] = roomsAt(rooms, [
      { x: 5, y: 5 },
      { x: 8.5, y: 8.5 },
    ]);
    expect(inner).not.toBeNull();
    expect(inner).not.toBe(hall);
    expectUsable(rooms, grid);
  });

  it('is one room where nothing divides it, whatever stands in it', () => {
    const grid = freeGrid(6, 5);
    outline(grid);
    wall(grid, 2, 2, 3.2, 2.8);
    wall(grid, 4.2, 1, 4.4, 1.2);
    const rooms = segmentRooms(grid);
    expect(rooms).toHaveLength(1);
    expectUsable(rooms, grid);
  });

  it('is none where the robot cannot stand, and in a map of nothing', () => {
    expect(segmentRooms(freeGrid(0.3, 0.3))).toEqual([]);
    const unknown = freeGrid(3, 3);
    unknown.cells.fill(-1);
    expect(segmentRooms(unknown)).toEqual([]);
    unknown.cells.fill(100);
    expect(segmentRooms(unknown)).toEqual([]);
  });

  it('can always be used, however the walls stand', () => {
    const walls = fc.array(fc.tuple(fc.nat(59), fc.nat(59), fc.integer({ min: 2, max: 40 }), fc.boolean()), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(walls, (list) => {
        const grid = freeGrid(6, 6, 0.1);
        outline(grid, 0.1);
        for (const [x, y, length, upright] of list) {
          for (let k = 0; k < length; k++) {
            const [cx, cy] = upright ? [x, y + k] : [x + k, y];
            if (cx < grid.width && cy < grid.height) grid.cells[cy * grid.width + cx] = 100;
          }
        }
        const rooms = segmentRooms(grid);
        rooms.forEach((room, i) => {
          checkApart(room, rooms.slice(0, i), grid, `rooms.${i}`);
          expect(insidePolygon(room.goal, room.polygon)).toBe(true);
        });
      }),
      { numRuns: 60 },
    );
  });

  itWithShared(
    'are four in the small house of AWS: bedroom, its other half behind a partition, living room, dining room',
    'maps/aws_small_house/map.yaml',
    (path) => {
      const { grid } = loadMapBundle(path);
      const rooms = segmentRooms(grid);
      expect(rooms).toHaveLength(4);
      expectUsable(rooms, grid);
    },
    30_000,
  );
});
