/** Where a growing map goes on, and what becomes of names when a home is mapped anew. */
import { describe, expect, it } from 'vitest';
import type { Point } from '../../../config/contracts/geometry.js';
import { StaticCostmap } from '../../../drivers/amr/costmap/static-costmap.js';
import { findFrontiers } from '../../../drivers/amr/explore/frontiers.js';
import { mapBundle, sameGrid } from '../../../drivers/amr/map/bundle.js';
import { carryRooms } from '../../../drivers/amr/map/carry-rooms.js';
import type { OccupancyGrid, Room } from '../../../drivers/amr/types.js';

/** `.` free, `#` wall, ` ` unknown; one sign is a square of 0.25 m; the first line is the top. */
function grown(lines: readonly string[]): OccupancyGrid {
  const scale = 5;
  const columns = Math.max(...lines.map((line) => line.length));
  const width = columns * scale;
  const height = lines.length * scale;
  const cells = new Int8Array(width * height).fill(-1);
  for (let y = 0; y < height; y++) {
    const line = lines[lines.length - 1 - Math.floor(y / scale)] ?? '';
    for (let x = 0; x < width; x++) {
      const sign = line[Math.floor(x / scale)] ?? ' ';
      cells[y * width + x] = sign === '.' ? 0 : sign === '#' ? 100 : -1;
    }
  }
  return { width, height, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells };
}

function frontiers(lines: readonly string[], from: Point, avoid: Point[] = [], current: Point | null = null) {
  const grid = grown(lines);
  const areas = { rooms: [], station: null, keepout: [], speedAreas: [] };
  return findFrontiers(grid, new StaticCostmap(mapBundle(grid, areas)), from, { avoid, current });
}

const OPEN_RIGHT = [
  '##############  ',
  '#............   ',
  '#............   ',
  '#............   ',
  '#............   ',
  '##############  ',
];

describe('frontiers', () => {
  it('lie where free ground ends in the unknown, and look into it', () => {
    const { next, count } = frontiers(OPEN_RIGHT, { x: 0.7, y: 0.75 });
    expect(count).toBe(1);
    expect(next?.pose.x).toBeGreaterThan(3);
    expect(Math.abs(next?.pose.theta ?? 9)).toBeLessThan(0.3);
  });

  it('there is none in a closed room, nor round a pocket that nobody has to see', () => {
    const closed = OPEN_RIGHT.map((line) => line.replace(/ {2,3}$/, '#'));
    expect(frontiers(closed, { x: 0.7, y: 0.75 })).toMatchObject({ next: null, count: 0 });
    const pocket = closed.map((line, i) => (i === 2 ? `${line.slice(0, 6)} ${line.slice(7)}` : line));
    expect(frontiers(pocket, { x: 0.7, y: 0.75 }).next).toBeNull();
  });

  it('behind a gap that is too narrow for the robot are none of its own', () => {
    const lines = [
      '##########      ',
      '#....#....      ',
      '#....#....      ',
      '#.........      ',
      '#....#....      ',
      '##########      ',
    ];
    expect(frontiers(lines, { x: 0.6, y: 0.75 }).next).toBeNull();
  });

  it('that were given up are left out; one that is driven to is told of', () => {
    const from = { x: 0.7, y: 0.75 };
    const place = frontiers(OPEN_RIGHT, from).next?.pose ?? { x: 0, y: 0 };
    const { x, y } = place;
    expect(frontiers(OPEN_RIGHT, from, [{ x, y }]).next).toBeNull();
    expect(frontiers(OPEN_RIGHT, from, [], { x, y }).currentStands).toBe(true);
    expect(frontiers(OPEN_RIGHT, from, [], from).currentStands).toBe(false);
    expect(frontiers(OPEN_RIGHT, from).currentStands).toBeNull();
  });
});

describe('rooms of a home that is mapped anew', () => {
  const square = (x: number, y: number, size: number): Point[] => [
    { x, y },
    { x: x + size, y },
    { x: x + size, y: y + size },
    { x, y: y + size },
  ];
  const room = (id: string, name: string, polygon: Point[]): Room => ({
    id,
    name,
    aliases: [],
    polygon,
    goal: { x: 0, y: 0, theta: 0 },
  });
  const before = {
    rooms: [room('2', '거실', square(0, 0, 4)), room('7', '안방', square(4, 0, 3))],
    station: null,
    keepout: [],
    speedAreas: [],
  };
  /** The new map is turned by a right angle and lies elsewhere. */
  const bridge = { before: { x: 0, y: 0, theta: 0 }, after: { x: 10, y: 0, theta: Math.PI / 2 } };

  it('keep id and name where they lie on the old ones; others get ids that meant nothing before', () => {
    const found = [
      room('1', '방 1', square(6.1, 0.1, 3.8)),
      room('2', '방 2', square(7, 4.1, 2.8)),
      room('3', '방 3', square(20, 0, 3)),
    ];
    const rooms = carryRooms(found, before, bridge);
    expect(rooms.map(({ id, name }) => `${id} ${name}`)).toEqual(['2 거실', '7 안방', '1 방 1']);
    expect(rooms[0]?.polygon).toEqual(found[0]?.polygon);
  });

  it('are all new where nobody knows how the maps lie to each other', () => {
    const ids = carryRooms([room('1', 'a', square(0, 0, 4)), room('2', 'b', square(4, 0, 3))], before, null);
    expect(ids.map(({ id }) => id)).toEqual(['1', '3']);
    expect(carryRooms([room('1', 'a', square(0, 0, 4))], null, null)).toMatchObject([
      { id: '1', name: '방 1' },
    ]);
  });
});

describe('the same ground', () => {
  it('is told by size, place and every cell', () => {
    const grid = grown(OPEN_RIGHT);
    expect(sameGrid(grid, { ...grid, cells: Int8Array.from(grid.cells) })).toBe(true);
    const cells = Int8Array.from(grid.cells);
    cells[10] = 0;
    expect(sameGrid(grid, { ...grid, cells })).toBe(false);
    expect(sameGrid(grid, { ...grid, origin: { x: 0.05, y: 0, theta: 0 } })).toBe(false);
  });
});
