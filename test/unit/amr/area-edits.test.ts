/** What becomes of a map's rooms and closed ground when people change them, and what is refused. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../config/contracts/errors.js';
import { insidePolygon, type Point } from '../../../config/contracts/geometry.js';
import { GridFrame } from '../../../drivers/amr/costmap/grid-frame.js';
import {
  editKeepOut,
  editRooms,
  type RoomEdit,
  type RoomsInUse,
} from '../../../drivers/amr/map/area-edits.js';
import { areasText, parseAreas } from '../../../drivers/amr/map/areas.js';
import { mapBundle } from '../../../drivers/amr/map/bundle.js';
import { outlineOf } from '../../../drivers/amr/map/outline.js';
import { selfIntersection, signedArea, splitPolygon, wallStrips } from '../../../drivers/amr/map/polygons.js';
import type { Areas, Room } from '../../../drivers/amr/types.js';

const box = (x0: number, y0: number, x1: number, y1: number): Point[] => [
  { x: x0, y: y0 },
  { x: x1, y: y0 },
  { x: x1, y: y1 },
  { x: x0, y: y1 },
];

const room = (id: string, name: string, polygon: Point[], goal: Point, aliases: string[] = []): Room => ({
  id,
  name,
  aliases,
  polygon,
  goal: { ...goal, theta: 0 },
});

/** 8 × 4 m, free, with a wall at x = 4 that has a door at 1…2 m, and another at x = 6.05 without one. */
function ground(areas: Partial<Areas> = {}, inUse: Partial<RoomsInUse> = {}) {
  const width = 160;
  const height = 80;
  const cells = new Int8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const edge = x === 0 || y === 0 || x === width - 1 || y === height - 1;
      const wall = x === 80 && !(y >= 20 && y < 40);
      if (edge || wall || x === 121) cells[y * width + x] = 100;
    }
  }
  const grid = { width, height, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells };
  const all: Areas = {
    rooms: [
      room('1', '거실', box(0, 0, 4, 4), { x: 2, y: 2 }, ['living room']),
      room('2', '안방', box(4, 0, 6, 4), { x: 5, y: 2 }),
    ],
    station: { room: '1', pose: { x: 0.3, y: 3.5, theta: Math.PI } },
    keepout: [],
    speedAreas: [],
    ...areas,
  };
  return {
    bundle: mapBundle(grid, all),
    radius: 0.17,
    inUse: { ids: inUse.ids ?? new Map(), names: inUse.names ?? new Map() },
  };
}

function refused(work: () => unknown): { reason: string; message: string } {
  try {
    work();
  } catch (error) {
    if (isRefusal(error)) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

const rooms = (edit: RoomEdit, on = ground()) => editRooms(edit, on).rooms;

describe('names of rooms', () => {
  it('change, and the id stays', () => {
    const [first] = rooms({ kind: 'rename', areaId: '1', name: '마루' });
    expect(first).toMatchObject({ id: '1', name: '마루', aliases: ['living room'] });
  });

  it('that a schedule uses stay as an alias', () => {
    const on = ground({}, { names: new Map([['거실', 's-1']]) });
    expect(rooms({ kind: 'rename', areaId: '1', name: '마루' }, on)[0]?.aliases).toEqual([
      'living room',
      '거실',
    ]);
    const alias = ground({}, { names: new Map([['living room', 's-1']]) });
    expect(refused(() => rooms({ kind: 'aliases', areaId: '1', aliases: ['salon'] }, alias))).toMatchObject({
      reason: 'STATE_CONDITION_FAILED',
      message: expect.stringContaining('s-1'),
    });
  });

  it('stand for one room: neither name, id nor alias of another is taken, however it is written', () => {
    for (const name of ['안방', ' 안방 ', '2', '안방'.normalize('NFD')]) {
      expect(refused(() => rooms({ kind: 'rename', areaId: '1', name })).reason, name).toBe(
        'AMBIGUOUS_TARGET',
      );
      expect(refused(() => rooms({ kind: 'aliases', areaId: '1', aliases: [name] })).reason).toBe(
        'AMBIGUOUS_TARGET',
      );
    }
    expect(refused(() => rooms({ kind: 'rename', areaId: '9', name: 'x' }))).toMatchObject({
      reason: 'UNKNOWN_TARGET',
      message: expect.stringContaining('1 (거실), 2 (안방)'),
    });
  });
});

describe('merged rooms', () => {
  it('are one outline with the wall in it, answer to all their names, and keep the first id and its goal', () => {
    const [merged, ...more] = rooms({ kind: 'merge', areaIds: ['1', '2'], name: '큰방' });
    expect(more).toEqual([]);
    expect(merged).toMatchObject({ id: '1', name: '큰방', aliases: ['거실', 'living room', '안방'] });
    expect(Math.abs(signedArea(merged?.polygon ?? []))).toBeCloseTo(24, 0);
    for (const p of [
      { x: 1, y: 1 },
      { x: 4, y: 3 },
      { x: 5.5, y: 0.5 },
    ]) {
      expect(insidePolygon(p, merged?.polygon ?? [])).toBe(true);
    }
    expect(merged?.goal).toMatchObject({ x: 2, y: 2 });
  });

  it('keep the id that a schedule uses; two of them are refused', () => {
    const one = ground({}, { ids: new Map([['2', 's-1']]) });
    const after = editRooms({ kind: 'merge', areaIds: ['1', '2'], name: null }, one);
    expect(after.rooms).toMatchObject([{ id: '2', name: '안방', aliases: ['거실', 'living room'] }]);
    expect(after.station?.room).toBe('2');
    const both = ground(
      {},
      {
        ids: new Map([
          ['1', 's-1'],
          ['2', 's-2'],
        ]),
      },
    );
    expect(refused(() => rooms({ kind: 'merge', areaIds: ['1', '2'], name: null }, both))).toMatchObject({
      reason: 'STATE_CONDITION_FAILED',
      message: expect.stringContaining('s-2'),
    });
  });

  it('lie next to each other', () => {
    const apart = [
      room('1', 'a', box(0, 0, 2, 4), { x: 1, y: 2 }),
      room('2', 'b', box(4, 0, 6, 4), { x: 5, y: 2 }),
    ];
    expect(
      refused(() => rooms({ kind: 'merge', areaIds: ['1', '2'], name: null }, ground({ rooms: apart }))),
    ).toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('next to'),
    });
  });
});

describe('a split room', () => {
  it('keeps id, name and goal in the part with its goal; the other is a new room with a place to stand', () => {
    const line = [
      { x: -0.1 + 0.11, y: 1 },
      { x: 5, y: 1 },
    ];
    const after = rooms({
      kind: 'split',
      areaId: '1',
      line: [{ x: -0.02, y: 1 }, line[1] ?? { x: 0, y: 0 }],
      name: '서재',
      aliases: ['study'],
      goal: null,
    });
    expect(after.map(({ id, name }) => [id, name])).toEqual([
      ['1', '거실'],
      ['2', '안방'],
      ['3', '서재'],
    ]);
    const [stays, , added] = after;
    expect(stays?.goal).toMatchObject({ x: 2, y: 2 });
    expect(insidePolygon(added?.goal ?? { x: 9, y: 9 }, added?.polygon ?? [])).toBe(true);
    expect(Math.abs(signedArea(added?.polygon ?? []))).toBeCloseTo(4, 5);
  });

  it('needs a line that crosses its outline twice, and parts in which the robot finds room', () => {
    const split = (line: Point[]) =>
      refused(() => rooms({ kind: 'split', areaId: '1', line, name: '서재', aliases: [], goal: null }));
    expect(
      split([
        { x: 1, y: 1 },
        { x: 3, y: 1 },
      ]).message,
    ).toContain('exactly twice');
    expect(
      split([
        { x: 0.2, y: -0.02 },
        { x: 0.2, y: 4.02 },
      ]),
    ).toMatchObject({ reason: 'TARGET_UNREACHABLE' });
    expect(
      split([
        { x: 0, y: -30 },
        { x: 0, y: 30 },
      ]).message,
    ).toContain('off the map');
  });
});

describe('an outline that somebody draws', () => {
  const add = (polygon: Point[], goal: Point | null = null) =>
    editRooms(
      { kind: 'add', name: '창고', aliases: [], polygon, goal: goal === null ? null : { ...goal, theta: 0 } },
      ground({ rooms: [room('1', '거실', box(0, 0, 2, 4), { x: 1, y: 2 })] }),
    );

  it('becomes a room', () => {
    expect(add(box(2, 0, 4, 4)).rooms[1]).toMatchObject({ id: '2', name: '창고' });
  });

  it('is refused with its field when it is not sound', () => {
    const bow = [
      { x: 2, y: 0 },
      { x: 4, y: 4 },
      { x: 4, y: 0 },
      { x: 2, y: 4 },
    ];
    expect(refused(() => add(bow)).message).toMatch(/^add\.polygon: the outline crosses/);
    expect(refused(() => add(box(2, 0, 40, 4))).message).toContain('off the map');
    expect(refused(() => add(box(1, 0, 4, 4))).message).toContain('must not overlap');
    expect(refused(() => add(box(2, 0, 2.2, 0.3))).message).toContain('at least 0.5 m²');
  });

  it('is refused when its goal is outside, in a wall, or behind one', () => {
    expect(refused(() => add(box(2, 0, 4, 4), { x: 1, y: 1 })).message).toContain('inside the room');
    expect(refused(() => add(box(2, 0, 5, 4), { x: 4, y: 3 })).reason).toBe('TARGET_UNREACHABLE');
    expect(refused(() => add(box(6.2, 0.1, 7.9, 3.9), { x: 7, y: 2 }))).toMatchObject({
      reason: 'TARGET_UNREACHABLE',
      message: expect.stringContaining('no way leads'),
    });
  });
});

describe('closed ground and slow ground', () => {
  const wall = {
    id: 'w1',
    line: [
      { x: 2, y: 0.5 },
      { x: 2, y: 3 },
    ],
    width: 0.1,
  };

  it('a list that is given replaces the present one, others stay', () => {
    const first = editKeepOut(
      { walls: [wall], areas: null, speedAreas: [{ id: 'v1', polygon: null, areaId: '2', maxSpeed: 0.1 }] },
      ground(),
    );
    expect(first.speedAreas).toMatchObject([{ id: 'v1', polygon: box(4, 0, 6, 4), maxSpeed: 0.1 }]);
    const second = editKeepOut(
      { walls: null, areas: [{ id: 'n1', polygon: box(2, 0, 3, 1) }], speedAreas: [] },
      ground(first),
    );
    expect(second).toMatchObject({ walls: [wall], keepout: [{ id: 'n1' }], speedAreas: [] });
    expect(editKeepOut({ walls: [], areas: null, speedAreas: null }, ground(second))).not.toHaveProperty(
      'walls',
    );
  });

  it('is in areas.yaml and comes back as it was; a map without walls has the text it always had', () => {
    const drawn = editKeepOut({ walls: [wall], areas: null, speedAreas: null }, ground());
    expect(parseAreas(areasText(drawn), 'areas.yaml')).toEqual(drawn);
    expect(areasText(ground().bundle.areas)).not.toContain('walls');
  });

  it('never bars the station', () => {
    const close = (edit: Partial<Parameters<typeof editKeepOut>[0]>) =>
      refused(() => editKeepOut({ walls: null, areas: null, speedAreas: null, ...edit }, ground())).message;
    expect(close({ areas: [{ id: 'n1', polygon: box(0, 3, 1, 4) }] })).toContain('station');
    expect(
      close({
        walls: [
          {
            id: 'w',
            line: [
              { x: 0.6, y: 3 },
              { x: 0.6, y: 3.9 },
            ],
            width: 0.1,
          },
        ],
      }),
    ).toContain('station');
  });

  it('a wall covers each of its pieces', () => {
    expect(
      wallStrips({
        line: [
          { x: 0, y: 0 },
          { x: 1, y: 0 },
          { x: 1, y: 2 },
        ],
        width: 0.2,
      }),
    ).toHaveLength(2);
    expect(Math.abs(signedArea(wallStrips(wall)[0] ?? []))).toBeCloseTo(0.1 * 2.6, 6);
  });
});

describe('geometry of outlines', () => {
  it('a ring with a vertex on its own edge, a spike and a repeated vertex are not simple', () => {
    expect(selfIntersection(box(0, 0, 1, 1))).toBeNull();
    expect(selfIntersection([...box(0, 0, 2, 2), { x: 1, y: 0 }])).not.toBeNull();
    expect(
      selfIntersection([
        { x: 0, y: 0 },
        { x: 2, y: 0 },
        { x: 1, y: 0 },
        { x: 1, y: 1 },
      ]),
    ).not.toBeNull();
    expect(selfIntersection([...box(0, 0, 1, 1), { x: 0, y: 1 }])).not.toBeNull();
  });

  it('the two parts of a cut have the area of the whole, whatever the line', () => {
    const ell = [
      { x: 0, y: 0 },
      { x: 4, y: 0 },
      { x: 4, y: 2 },
      { x: 2, y: 2 },
      { x: 2, y: 4 },
      { x: 0, y: 4 },
    ];
    fc.assert(
      fc.property(
        fc.double({ min: -2, max: 6, noNaN: true }),
        fc.double({ min: 0, max: Math.PI, noNaN: true }),
        (off, angle) => {
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          const line = [
            { x: off - 20 * c, y: 1 - 20 * s },
            { x: off + 20 * c, y: 1 + 20 * s },
          ];
          const parts = splitPolygon(ell, line);
          if (parts === null) return;
          const [one, other] = parts.map((part) => signedArea(part));
          expect((one ?? 0) + (other ?? 0)).toBeCloseTo(12, 6);
          expect(Math.min(one ?? 0, other ?? 0)).toBeGreaterThanOrEqual(-1e-9);
        },
      ),
    );
  });

  it('the outline of cells holds just those cells', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 35 }), { minLength: 1, maxLength: 30 }), (marked) => {
        const frame = new GridFrame({
          width: 8,
          height: 8,
          resolution: 0.1,
          origin: { x: 1, y: -1, theta: 0.4 },
        });
        const mask = new Uint8Array(64);
        for (const i of marked) mask[(1 + Math.floor(i / 6)) * 8 + 1 + (i % 6)] = 1;
        const ring = outlineOf(mask, frame, 0.001);
        const held = mask.reduce((n, _, i) => n + (insidePolygon(frame.centreOf(i), ring) ? 1 : 0), 0);
        expect(signedArea(ring)).toBeCloseTo(held * 0.01, 6);
      }),
    );
  });
});
