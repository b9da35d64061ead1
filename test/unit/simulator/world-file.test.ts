import { describe, expect, it } from 'vitest';
import { createWorld, worldFromText } from '../../../simulator/world/index.js';
import { clearanceAt, findRoom, ROBOT, roomAt } from '../../../simulator/world/layout.js';
import { squareRoom } from './homes.js';

describe('the two-bedroom home', () => {
  const world = createWorld();

  it('has 현관, 거실, 주방, 안방 and 작은방, found by name, alias and id', () => {
    expect(world.layout.rooms.map((r) => r.name)).toEqual(['현관', '거실', '주방', '안방', '작은방']);
    expect(findRoom(world.layout, 'Living Room')).toBe(1);
    expect(findRoom(world.layout, '안방')).toBe(3);
    expect(findRoom(world.layout, '5')).toBe(4);
    expect(() => findRoom(world.layout, '옥상')).toThrow(/no room "옥상".*현관, 거실/);
  });

  it('starts with the robot docked on a wall of 거실, charging, facing the wall', () => {
    const view = world.view();
    expect(view).toMatchObject({ docked: true, room: '2', battery: { charging: true } });
    expect(Math.cos(view.pose.theta)).toBeCloseTo(-1);
  });

  it('has goals that lie in their room with clearance for the robot', () => {
    for (const [i, room] of world.layout.rooms.entries()) {
      expect(roomAt(world.layout, room.goal.x, room.goal.y)).toBe(i);
      expect(clearanceAt(world.layout, room.goal.x, room.goal.y, 1)).toBeGreaterThan(ROBOT.radius + 0.05);
    }
  });

  it('has one door of 0.62 m and the others of 0.8 m or more', () => {
    const widths = world.layout.openings.map((o) => Math.round(o.width * 100)).sort((a, b) => a - b);
    expect(widths).toEqual([62, 80, 90, 100]);
  });

  it('lets the robot walk from every room to every other', () => {
    const reached = floodFrom(world.layout.rooms[1]?.goal ?? { x: 0, y: 0 });
    for (const room of world.layout.rooms) expect(reached(room.goal)).toBe(true);
  });

  /** Where a robot with 2 cm of clearance gets to on a 5 cm raster. */
  function floodFrom(start: { x: number; y: number }): (p: { x: number; y: number }) => boolean {
    const key = (c: number, r: number) => `${c},${r}`;
    const seen = new Set<string>();
    const queue = [[Math.round(start.x * 20), Math.round(start.y * 20)] as const];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [c, r] = next;
      if (seen.has(key(c, r)) || clearanceAt(world.layout, c / 20, r / 20, 0.2) < ROBOT.radius + 0.02)
        continue;
      seen.add(key(c, r));
      queue.push([c + 1, r], [c - 1, r], [c, r + 1], [c, r - 1]);
    }
    return (p) => seen.has(key(Math.round(p.x * 20), Math.round(p.y * 20)));
  }
});

describe('a world file that cannot be used', () => {
  const cases: [string, string, RegExp][] = [
    ['is not YAML', 'version: [', /not YAML/],
    ['is of another version', squareRoom().replace('version: 1', 'version: 2'), /^version: found 2; /],
    ['has an unknown key', squareRoom('weather: fine'), /^weather: .*not known/],
    ['has a number as text', squareRoom('ceiling: high'), /^ceiling: found "high"; .*number/],
    [
      'has a room without area',
      squareRoom().replace(/polygon: \[\[.*?\]\]/, 'polygon: [[0, 0]]'),
      /rooms\.0\.polygon/,
    ],
    [
      'has a goal outside its room',
      squareRoom().replace('goal: [2, 2, 0]', 'goal: [9, 2, 0]'),
      /rooms\.0\.goal/,
    ],
    [
      'has a goal in a wall',
      squareRoom().replace('goal: [2, 2, 0]', 'goal: [0.02, 2, 0]'),
      /rooms\.0\.goal.*0\.22 m away/,
    ],
    [
      'starts in a cupboard',
      squareRoom('start: [2, 3, 0]\nfurniture: [{id: c, at: [2, 3], size: [1, 1]}]'),
      /^start: /,
    ],
    [
      'has furniture of two shapes',
      squareRoom('furniture: [{id: c, at: [2, 3], size: [1, 1], radius: 1}]'),
      /furniture\.0.*exactly one/,
    ],
    [
      'has a door in mid-air',
      squareRoom('doors: [{id: d, between: ["1", "1"], line: [[1, 1], [2, 1]]}]'),
      /doors\.0\.line.*centre line/,
    ],
    [
      'has a door to nowhere',
      squareRoom('doors: [{id: d, between: ["1", "7"], line: [[1, 0], [2, 0]]}]'),
      /doors\.0\.between\.1: found "7"/,
    ],
    [
      'has a source in no room',
      squareRoom('sources: [{id: s, room: "9", for_s: 1, emits: {}}]'),
      /sources\.0\.room: found "9"/,
    ],
    [
      'has a dock away from walls',
      squareRoom().replace('at: [0.05, 2.05]', 'at: [1, 2.05]'),
      /dock\.at.*touch a wall/,
    ],
    ['has no dock to start on', squareRoom().replace(/dock: .*/, 'dock: null'), /^start: .*no dock/],
  ];
  for (const [name, text, message] of cases) {
    it(`${name}: is refused by name`, () => {
      expect(() => worldFromText(text)).toThrow(message);
    });
  }

  it('names two rooms alike: is refused', () => {
    const twice = squareRoom().replace('aliases: [room]', 'aliases: [room, "1 room"]');
    expect(() => worldFromText(twice)).not.toThrow();
    const second =
      '  - {id: "2", name: ROOM, polygon: [[0, 0], [4.1, 0], [4.1, 4.1]], goal: [3, 1, 0]}\ndock:';
    expect(() => worldFromText(squareRoom().replace('dock:', second))).toThrow(
      /name or alias "room" is used twice/,
    );
  });

  it('is missing: the path stands in the message', () => {
    expect(() => createWorld('/nowhere/home.yaml')).toThrow(/\/nowhere\/home\.yaml: cannot be read/);
  });
});
