import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../config/contracts/errors.js';
import { areasText, parseAreas } from '../../../drivers/amr/map/areas.js';
import { RoomCatalogue } from '../../../drivers/amr/map/rooms.js';
import type { Room } from '../../../drivers/amr/types.js';
import { box, flat } from './support/grids.js';

const AREAS = `
version: 1
rooms:
  - {id: "1", name: 현관, aliases: [entrance], polygon: [[0, 0], [2, 0], [2, 3], [0, 3]], goal: [1, 1.5, 3.14]}
  - {id: "2", name: 거실, polygon: [[2, 0], [6, 0], [6, 3], [2, 3]], goal: [4, 1.5, 0]}
station: {room: "2", pose: [2.2, 0.8, 3.14]}
keepout: [{id: k1, polygon: [[5, 2], [6, 2], [6, 3]]}]
speed_areas: [{id: v1, polygon: [[2, 0], [3, 0], [3, 1]], max_speed: 0.2}]
`;

describe('areas.yaml', () => {
  it('reads rooms, station, keep-out and speed areas', () => {
    const areas = parseAreas(AREAS, 'areas.yaml');
    expect(areas.rooms.map((r) => [r.id, r.name, r.aliases])).toEqual([
      ['1', '현관', ['entrance']],
      ['2', '거실', []],
    ]);
    expect(areas.station).toEqual({ room: '2', pose: { x: 2.2, y: 0.8, theta: 3.14 } });
    expect(areas.speedAreas[0]).toMatchObject({ id: 'v1', maxSpeed: 0.2 });
    expect(parseAreas(areasText(areas), 'again.yaml')).toEqual(areas);
  });

  it('names file, field, value and what is allowed', () => {
    const say = (from: string, to: string) => {
      expect(AREAS).toContain(from);
      try {
        parseAreas(AREAS.replace(from, to), 'areas.yaml');
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
        return (error as Refusal).message;
      }
      throw new Error('nothing was refused');
    };
    expect(say('goal: [4, 1.5, 0]', 'goal: [9, 1.5, 0]')).toBe(
      'areas.yaml: rooms.1.goal: found [9, 1.5]; it must lie inside the polygon of room "2"',
    );
    expect(say('room: "2"', 'room: "7"')).toContain('station.room: found "7"; the rooms are 1, 2');
    expect(say('id: "2"', 'id: "1"')).toContain('rooms.1.id: found "1" twice');
    expect(say('id: "1"', 'id: 1')).toContain('rooms.0.id: found 1; text is needed; put numbers in quotes');
    expect(say('[6, 0], ', '[6, .nan], ')).toContain('rooms.1.polygon.1.1: found NaN');
    expect(say('max_speed: 0.2', 'max_speed: 0')).toContain('m/s, above 0');
    expect(say('max_speed: 0.2', 'max_sped: 0.2')).toContain('max_speed');
    expect(say('[[5, 2], [6, 2], [6, 3]]', '[[5, 2], [6, 2]]')).toContain('at least 3 vertices');
    expect(say('[[5, 2], [6, 2], [6, 3]]', '[[5, 2], [6, 2], [7, 2]]')).toContain('its area');
    expect(say('version: 1', 'version: 2')).toContain('only version 1 is known');
    expect(say('station: {', 'stations: {')).toContain('this field is not known here');
    expect(say('name: 거실', 'name: "  "')).toContain('must not be blank');
    expect(say('version: 1', 'version: [')).toContain('YAML');
  });
});

describe('the room catalogue', () => {
  const room = (id: string, name: string, ...aliases: string[]): Room => ({
    id,
    name,
    aliases,
    polygon: box(0, 0, 1, 1),
    goal: { x: 0.5, y: 0.5, theta: 0 },
  });
  const catalogue = new RoomCatalogue({
    rooms: [
      room('1', '거실', 'Living Room', 'lounge'),
      room('2', '안방', 'bedroom', 'Main Bedroom'),
      room('3', '작은방', 'bedroom', 'small room'),
      room('4', 'Café'),
    ],
    station: null,
  });
  const refused = (text: string) => {
    try {
      catalogue.resolve(text, 'targetRoom');
    } catch (error) {
      if (error instanceof Refusal) return error;
    }
    throw new Error(`${text} was not refused`);
  };

  it('finds a room by id, name or alias, whatever the case, spaces and Unicode form', () => {
    for (const text of ['1', '거실', ' 거실 ', '거실'.normalize('NFD'), 'LIVING  room', 'Lounge']) {
      expect(catalogue.resolve(text).id).toBe('1');
    }
    expect(catalogue.resolve('cafe\u0301').id).toBe('4');
  });

  it('refuses a name that two rooms have, and says which', () => {
    const refusal = refused('bedroom');
    expect(refusal).toMatchObject({ reason: 'AMBIGUOUS_TARGET', field: 'targetRoom' });
    expect(refusal.message).toBe('targetRoom: "bedroom" is the name of "안방" (id "2"), "작은방" (id "3")');
  });

  it('never takes part of a name for the room, and suggests it', () => {
    expect(refused('living')).toMatchObject({ reason: 'AMBIGUOUS_TARGET' });
    expect(refused('living').message).toContain('meant may be "거실"');
    expect(refused('방').message).toContain('"안방" (id "2"), "작은방" (id "3")');
  });

  it('refuses a room that is not there, with what is close or what there is', () => {
    expect(refused('거실방')).toMatchObject({ reason: 'UNKNOWN_TARGET' });
    expect(refused('거실방').message).toContain('did you mean "거실"');
    expect(refused('loungr').message).toContain('did you mean "거실"');
    expect(refused('화장실').message).toContain('the rooms are "거실" (id "1"), "안방" (id "2")');
    expect(refused('').reason).toBe('UNKNOWN_TARGET');
    expect(refused('   ').reason).toBe('UNKNOWN_TARGET');
    expect(() => new RoomCatalogue({ rooms: [], station: null }).resolve('거실')).toThrow('has no rooms');
  });

  it('knows in which room a point lies', () => {
    const rooms = new RoomCatalogue(flat().areas);
    expect(rooms.roomAt({ x: 1, y: 1 })?.name).toBe('거실');
    expect(rooms.roomAt({ x: 6, y: 4 })?.name).toBe('안방');
    expect(rooms.roomAt({ x: 20, y: 4 })).toBeNull();
    expect(rooms.byId('3')?.name).toBe('주방');
    expect(rooms.byId('9')).toBeNull();
  });
});
