/** Rooms that are renamed, merged and split, ground that is closed and ground that is slow: as the wheels obey it. */
import { describe, expect, it } from 'vitest';
import { insidePolygon, type Point } from '../../config/contracts/geometry.js';
import { contextOf, type InHome, inHome } from './support/in-home.js';

async function done(place: InHome, method: string, params: Record<string, unknown> = {}) {
  return place.witness.end(await place.home.task(method, params));
}

const ask = ({ home }: InHome, method: string, params: Record<string, unknown>) =>
  home.command({ kind: 'task', method, params, task: {} });

const goTo = (place: InHome, positionName: string) => done(place, 'setMoveTo', { positionName });

const polygon = (points: [number, number][]): Point[] => points.map(([x, y]) => ({ x, y }));

/** Steps until the task ends; where the robot's centre was in the world at every tick. */
async function trail({ home }: InHome, task: string): Promise<{ x: number; y: number; v: number }[]> {
  const seen: { x: number; y: number; v: number }[] = [];
  for (let n = 0; home.ended(task) === null && n < 20_000; n++) {
    await home.session.step();
    const { pose } = home.world;
    const { left, right } = home.session.world.body.wheels;
    seen.push({ x: pose.x, y: pose.y, v: (left + right) / 2 });
  }
  return seen;
}

/** In the middle of the way from the station to the goal of 거실. */
const MIDDLE: [number, number][] = [
  [3.0, 1.2],
  [4.0, 1.2],
  [4.0, 2.6],
  [3.0, 2.6],
];
/** Across the door of 안방. */
const BEDROOM_DOOR: [number, number][] = [
  [3.4, 3.3],
  [3.4, 4.5],
];

describe('setKeepOut', () => {
  it('closes ground at once: the robot goes round it; where no way is left it is refused before it drives; undone, it goes', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const end = await done(place, 'setKeepOut', { areas: [{ id: 'carpet', polygon: MIDDLE }] });
      expect(end).toMatchObject({
        event: 'COMPLETED',
        evidence: {
          completion_target: 'map.keepout_changed',
          no_go_areas: 1,
          localized: true,
          already: false,
        },
      });
      // The motion process, not the file.
      expect(home.daemon.runtime.amr.state()?.mapId).toBe(end.evidence?.map_id);
      const move = await home.task('setMoveTo', { positionName: '거실' });
      const way = await trail(place, move);
      expect(home.ended(move)).toMatchObject({ event: 'COMPLETED' });
      expect(way.some((p) => insidePolygon(p, polygon(MIDDLE)))).toBe(false);

      expect(await done(place, 'setKeepOut', { walls: [{ line: BEDROOM_DOOR }] })).toMatchObject({
        event: 'COMPLETED',
        evidence: { walls: 1, no_go_areas: 1 },
      });
      const before = home.wheelCommands().length;
      const stuck = await goTo(place, '안방');
      expect(stuck).toMatchObject({ event: 'FAILED', reason_code: 'TARGET_UNREACHABLE' });
      const moved = home
        .wheelCommands()
        .slice(before)
        .filter(({ left, right }) => left !== 0 || right !== 0);
      expect(moved).toEqual([]);

      expect(await done(place, 'setKeepOut', { undo: true })).toMatchObject({
        event: 'COMPLETED',
        evidence: { walls: 0, no_go_areas: 1 },
      });
      expect(await goTo(place, '안방')).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
    }));

  it('slows the robot down in a room, measured at its wheels, and survives a restart', () =>
    inHome({}, async (place) => {
      const { home } = place;
      expect(await goTo(place, '거실')).toMatchObject({ event: 'COMPLETED' });
      expect(
        await done(place, 'setKeepOut', { speedAreas: [{ areaId: '3', maxSpeed: 0.12 }] }),
      ).toMatchObject({ event: 'COMPLETED', evidence: { speed_areas: 1 } });
      await home.restartDaemon();
      const fastest = (way: { x: number; v: number }[], kitchen: boolean) =>
        Math.max(...way.filter(({ x }) => x > 6.6 === kitchen).map(({ v }) => v));
      const slow = await trail(place, await home.task('setMoveTo', { positionName: '주방' }));
      expect(fastest(slow, true)).toBeLessThan(0.14);
      expect(fastest(slow, false)).toBeGreaterThan(0.2);
      expect(await done(place, 'setKeepOut', { speedAreas: [] })).toMatchObject({
        evidence: { speed_areas: 0 },
      });
      await trail(place, await home.task('setMoveTo', { positionName: '거실' }));
      const fast = await trail(place, await home.task('setMoveTo', { positionName: '주방' }));
      expect(fastest(fast, true)).toBeGreaterThan(0.2);
    }));

  it('is refused while the robot drives; a journey that is held is planned anew on what is closed now', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const move = await home.task('setMoveTo', { positionName: '안방' });
      await home.until(() => home.world.pose.x > 2.9, 60_000, 'it is on its way');
      const close = { walls: [{ line: BEDROOM_DOOR, width: 0.1 }] };
      expect(await done(place, 'setKeepOut', close)).toMatchObject({
        event: 'FAILED',
        reason_code: 'STATE_CONDITION_FAILED',
      });
      expect(await done(place, 'pauseMove')).toMatchObject({ event: 'COMPLETED' });
      expect(await done(place, 'setKeepOut', close)).toMatchObject({
        event: 'COMPLETED',
        evidence: { walls: 1 },
      });
      await ask(place, 'resumeMove', {});
      expect(await witness.end(move)).toMatchObject({ event: 'FAILED', reason_code: 'TARGET_UNREACHABLE' });
      expect(home.world.pose.x).toBeGreaterThan(2.5);
    }));

  it('says which field is wrong, on every channel the same', () =>
    inHome({}, async (place) => {
      const refused: [Record<string, unknown>, string, string][] = [
        [{}, 'INVALID_PARAMS', 'at least one of walls'],
        [
          {
            areas: [
              {
                polygon: [
                  [0, 0],
                  [1, 1],
                ],
              },
            ],
          },
          'INVALID_PARAMS',
          'areas.0.polygon',
        ],
        [
          {
            areas: [
              {
                polygon: [
                  [3, 3],
                  [5, 5],
                  [5, 3],
                  [3, 5],
                ],
              },
            ],
          },
          'INVALID_PARAMS',
          'crosses',
        ],
        [
          {
            areas: [
              {
                polygon: [
                  [3, 3],
                  [50, 3],
                  [50, 5],
                ],
              },
            ],
          },
          'INVALID_PARAMS',
          'off the map',
        ],
        [
          {
            walls: [
              {
                line: [
                  [2.3, 0.2],
                  [2.3, 1.6],
                ],
              },
            ],
          },
          'INVALID_PARAMS',
          'station',
        ],
        [{ speedAreas: [{ areaId: '9', maxSpeed: 0.1 }] }, 'UNKNOWN_TARGET', 'speedAreas.0.areaId'],
        [{ speedAreas: [{ areaId: '3', maxSpeed: 0 }] }, 'INVALID_PARAMS', 'maxSpeed'],
        [{ walls: [], undo: true }, 'INVALID_PARAMS', 'undo alone'],
      ];
      for (const [params, reason_code, says] of refused) {
        expect(await ask(place, 'setKeepOut', params), says).toMatchObject({
          status: 'rejected',
          reason_code,
          message: expect.stringContaining(says),
        });
      }
      expect(await done(place, 'setKeepOut', { undo: true })).toMatchObject({
        event: 'FAILED',
        reason_code: 'STATE_CONDITION_FAILED',
      });
    }));
});

describe('setAreas', () => {
  it('makes rooms that are driven to by their new names, also after a restart', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const before = await contextOf(home);
      const merged = await done(place, 'setAreas', { merge: { areaIds: ['1', '2'], name: '큰거실' } });
      expect(merged).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'map.areas_changed', rooms: 4 },
        output: { area_ids: ['1', '3', '4', '5'] },
      });
      const split = await done(place, 'setAreas', {
        split: {
          areaId: '4',
          line: [
            [-0.01, 5],
            [3.41, 5],
          ],
          name: '드레스룸',
          aliases: ['closet'],
        },
      });
      expect(split).toMatchObject({ event: 'COMPLETED', output: { area_ids: ['1', '3', '4', '5', '6'] } });
      expect(await done(place, 'setAreas', { rename: { areaId: '4', name: '침실' } })).toMatchObject({
        event: 'COMPLETED',
      });
      await home.restartDaemon();
      const { map, location } = await contextOf(home);
      expect(location).toMatchObject({ localized: true });
      expect(map.rooms.map(({ name }) => name)).toEqual(['큰거실', '주방', '침실', '작은방', '드레스룸']);
      expect(await goTo(place, 'closet')).toMatchObject({
        event: 'COMPLETED',
        evidence: { area_id: '6' },
        truth: { room: '4' },
      });
      expect(home.world.pose.y).toBeGreaterThan(5);
      expect(await goTo(place, '침실')).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '4' } });
      expect(await goTo(place, '거실')).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '1' } });
      expect(await ask(place, 'setMoveTo', { positionName: '안방' })).toMatchObject({
        reason_code: 'UNKNOWN_TARGET',
      });
      // Each change taken back, newest first: the home is called what it was.
      for (let n = 0; n < 3; n++)
        expect(await done(place, 'setAreas', { undo: true })).toMatchObject({ event: 'COMPLETED' });
      expect((await contextOf(home)).map).toEqual(before.map);
      expect(await goTo(place, '안방')).toMatchObject({ event: 'COMPLETED', truth: { room: '4' } });
    }));

  it('a schedule goes on finding its room: by the name it knows, and by an id that stays', () =>
    inHome({}, async (place) => {
      const { home } = place;
      for (const [id, params] of [
        ['s-id', { positionId: '2' }],
        ['s-name', { positionName: '주방' }],
      ] as const) {
        const schedule = { schedule_id: id, cron: '0 8 * * *', timezone: 'Asia/Seoul' };
        await home.command({ kind: 'schedule_task', method: 'setMoveTo', params, task: {}, schedule });
      }
      expect(await done(place, 'setAreas', { merge: { areaIds: ['1', '2'] } })).toMatchObject({
        event: 'COMPLETED',
        output: { area_ids: ['2', '3', '4', '5'] },
      });
      expect(await done(place, 'setAreas', { rename: { areaId: '3', name: '부엌' } })).toMatchObject({
        event: 'COMPLETED',
      });
      expect((await contextOf(home)).map.rooms.find(({ id }) => id === '3')?.aliases).toContain('주방');
      expect(await ask(place, 'setAreas', { remove: { areaId: '3' } })).toMatchObject({
        status: 'rejected',
        reason_code: 'STATE_CONDITION_FAILED',
        message: expect.stringContaining('s-name'),
      });
    }));

  it('a workflow that fails takes its changes back, the newest first', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const before = await contextOf(home);
      const workflow = {
        workflow_id: 'wf-areas',
        steps: [
          { step_id: 'a', method: 'setAreas', params: { rename: { areaId: '4', name: '침실' } } },
          { step_id: 'b', method: 'setKeepOut', params: { areas: [{ polygon: MIDDLE }] }, depends_on: ['a'] },
          {
            step_id: 'c',
            method: 'stopMove',
            condition: '1 > 2',
            depends_on: ['b'],
            failure_policy: 'COMPENSATE',
          },
        ],
      };
      expect(await home.command({ kind: 'workflow', workflow })).toMatchObject({ status: 'accepted' });
      expect(await home.end('wf-areas')).toMatchObject({ event: 'FAILED' });
      expect((await contextOf(home)).map).toEqual(before.map);
    }));

  it('is one state or the other after a kill in any moment of it', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const names = ['하나', '둘', '셋', '넷'];
      for (const [ticks, name] of names.entries()) {
        const task = await home.task('setAreas', { rename: { areaId: '4', name } });
        for (let i = 0; i < ticks; i++) await home.session.step();
        home.killDaemon();
        await home.startDaemon();
        await home.run(3_000);
        expect(await home.end(task), name).toMatchObject({ event: 'COMPLETED' });
        const { map } = await contextOf(home);
        expect(map.rooms.find(({ id }) => id === '4')?.name).toBe(name);
        expect(home.daemon.runtime.amr.state()).toMatchObject({
          localized: true,
          mapId: home.daemon.runtime.map()?.id,
        });
      }
      // None of them was made twice.
      for (let n = 0; n < names.length; n++) await done(place, 'setAreas', { undo: true });
      expect((await contextOf(home)).map.rooms.find(({ id }) => id === '4')?.name).toBe('안방');
    }));
});
