/** A home that is forgotten and remembered: what the motion process says of its map, and what the wheels then do. */
import { describe, expect, it } from 'vitest';
import type { CommandResponse } from '../../config/contracts/wire/command.js';
import { contextOf, type InHome, inHome } from './support/in-home.js';

const PERSON = { source: 'LOCAL', name: 'test' } as const;

async function done(place: InHome, method: string, params: Record<string, unknown> = {}) {
  return place.witness.end(await place.home.task(method, params));
}

/** The approval that the newest reset waits for. */
function waiting({ home }: InHome) {
  const [approval] = home.daemon.runtime.policy.approvals({ pendingOnly: true });
  if (approval === undefined) throw new Error('nothing waits for an approval');
  return approval;
}

/** Asked for by the cloud, approved by a person at the robot. */
async function reset(place: InHome) {
  const task = await place.home.task('resetMap');
  place.home.daemon.runtime.policy.decide(waiting(place).id, 'approve', PERSON);
  return place.witness.end(task);
}

const bringBack = (place: InHome) => done(place, 'copyMap', { from: 'previous' });

async function card(place: InHome, id: string) {
  const query = { kind: 'query', method: 'listCapabilities', params: {} };
  const { result } = await place.home.command(query);
  const { capabilities } = result as {
    capabilities: { id: string; available: boolean; reason: string | null }[];
  };
  return capabilities.find((one) => one.id === id);
}

const goTo = (place: InHome, room: string): Promise<CommandResponse> =>
  place.home.command({ kind: 'task', method: 'setMoveTo', params: { positionName: room }, task: {} });

describe('resetMap', () => {
  it('leaves a robot that has no map, says so everywhere, and still has none after a restart; undone, it drives', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      const before = await contextOf(home);
      const end = await reset(place);
      expect(end).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'map.reset', map_id: null, rooms: 0 },
      });
      const had = end.evidence?.previous_map_id;
      expect(had).toMatch(/^m-[0-9a-f]{16}$/);
      // The motion process, not the file.
      await home.run(500);
      expect(home.daemon.runtime.amr.state()).toMatchObject({ mapId: null, pose: null });

      for (const restart of [false, true]) {
        if (restart) await home.restartDaemon();
        const { map, location } = await contextOf(home);
        expect(map).toEqual({ available: false, editable: false, room_count: 0, rooms: [] });
        expect(location).toMatchObject({ x: null, current_room_id: null });
        expect(await card(place, 'move_to_room')).toMatchObject({
          available: false,
          reason_code: 'CAPABILITY_UNAVAILABLE',
          reason: expect.stringContaining('no map is loaded'),
        });
        expect(await card(place, 'speak')).toMatchObject({ available: true });
        expect(await goTo(place, '거실')).toMatchObject({
          status: 'rejected',
          reason_code: 'CAPABILITY_UNAVAILABLE',
          message: expect.stringContaining('no map is loaded'),
        });
      }

      expect(await bringBack(place)).toMatchObject({
        event: 'COMPLETED',
        evidence: {
          completion_target: 'map.copied',
          map_id: had,
          rooms: before.map.room_count,
          localized: true,
        },
      });
      expect((await contextOf(home)).map).toEqual(before.map);
      expect(await card(place, 'move_to_room')).toMatchObject({ available: true, reason: null });
      const answer = await goTo(place, '거실');
      const arrived = await witness.end(answer.task_id ?? '');
      expect(arrived).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      expect(arrived.truth.room).toBe('2');
    });
  });

  it('asked for over MQTT waits for a person; approved it is done, and undone the map is back and driven by', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      const { policy, tasks } = home.daemon.runtime;
      const before = await contextOf(home);
      const task = await home.task('resetMap');
      await home.run(2_000);
      expect(tasks.getTask(task)).toMatchObject({ state: 'PENDING' });
      expect((await contextOf(home)).map).toEqual(before.map);
      const { id } = waiting(place);

      policy.decide(id, 'approve', PERSON);
      const gone = await witness.end(task);
      expect(gone).toMatchObject({ event: 'COMPLETED', evidence: { map_id: null } });
      expect((await contextOf(home)).map.available).toBe(false);
      expect(policy.approvals({})).toMatchObject([{ id, status: 'executed' }]);

      policy.decide(id, 'undo', PERSON);
      await home.until(() => policy.approvals({})[0]?.status === 'undone', 20_000, 'it is undone');
      const back = home.daemon.runtime.amr.state();
      expect(back).toMatchObject({ mapId: gone.evidence?.previous_map_id, localized: true });
      expect((await contextOf(home)).map).toEqual(before.map);
      const answer = await goTo(place, '거실');
      const arrived = await witness.end(answer.task_id ?? '');
      expect(arrived).toMatchObject({ event: 'COMPLETED', evidence: { area_id: '2' } });
      expect(arrived.truth.room).toBe('2');
    });
  });

  it('denied, leaves the map where it is', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await home.task('resetMap');
      home.daemon.runtime.policy.decide(waiting(place).id, 'deny', PERSON);
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'APPROVAL_DENIED' });
      expect((await contextOf(home)).map.available).toBe(true);
    });
  });

  it('is refused while the robot drives, and the map stays', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      const move = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => home.wheelsTurn, 20_000, 'the robot moves');
      expect(await reset(place)).toMatchObject({ event: 'FAILED', reason_code: 'STATE_CONDITION_FAILED' });
      expect(await witness.end(move)).toMatchObject({ event: 'COMPLETED' });
      expect((await contextOf(home)).map.available).toBe(true);
    });
  });

  it('is the old state or the new after a kill in any moment of it, and the robot says which', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      for (const ticks of [0, 1, 2, 3, 6]) {
        await home.task('resetMap');
        home.daemon.runtime.policy.decide(waiting(place).id, 'approve', PERSON);
        for (let i = 0; i < ticks; i++) await home.session.step();
        home.killDaemon();
        await home.startDaemon();
        await home.run(3_000);
        const { map } = await contextOf(home);
        const { mapId } = home.daemon.runtime.amr.state() ?? {};
        expect(map.available, `killed after ${ticks} ticks`).toBe(mapId !== null);
        if (!map.available) {
          expect(await bringBack(place)).toMatchObject({ event: 'COMPLETED', evidence: { localized: true } });
        }
      }
      const answer = await goTo(place, '안방');
      expect(await witness.end(answer.task_id ?? '')).toMatchObject({ event: 'COMPLETED' });
    });
  });

  it('away from the station: the place is taken up again by a robot that stood, and not believed of one that turned', async () => {
    await inHome({}, async (place) => {
      const { home, witness } = place;
      expect(await done(place, 'setMoveTo', { positionName: '거실' })).toMatchObject({ event: 'COMPLETED' });
      await reset(place);
      expect(await bringBack(place)).toMatchObject({ event: 'COMPLETED', evidence: { localized: true } });
      await reset(place);
      expect(await done(place, 'rotate', { angleDeg: 120 })).toMatchObject({ event: 'COMPLETED' });
      const back = await bringBack(place);
      expect(back).toMatchObject({ event: 'COMPLETED', evidence: { rooms: 5 } });
      if (back.evidence?.localized !== true) {
        expect(back.evidence).toMatchObject({ pose: null });
        await done(place, 'rotate', { angleDeg: 360 });
      }
      // Wherever it believes to be: it is there.
      const { location } = await contextOf(home);
      if (location.localized === true) {
        expect(
          Math.hypot((location.x ?? 0) - home.world.pose.x, (location.y ?? 0) - home.world.pose.y),
        ).toBeLessThan(0.3);
      }
      expect(witness.home).toBe(home);
    });
  });
});
