/** A home that the robot maps by itself or is driven through, and then lives in: as the wheels and the world have it. */
import { describe, expect, it } from 'vitest';
import { contextOf, type InHome, inHome } from './support/in-home.js';
import { mapQuality } from './support/mapped-home.js';

async function done(place: InHome, method: string, params: Record<string, unknown> = {}, task = {}) {
  return place.witness.end(await place.home.task(method, params, task), 3_600_000);
}

const ask = ({ home }: InHome, method: string, params: Record<string, unknown>) =>
  home.command({ kind: 'task', method, params, task: {} });

const explore = (place: InHome) => place.home.task('startMapping', { mode: 'explore' });

const mapping = ({ home }: InHome) => home.daemon.runtime.amr.state()?.mapping ?? null;

async function underWay(place: InHome) {
  const { home } = place;
  const task = await explore(place);
  await home.until(() => (mapping(place)?.freeArea ?? 0) > 25 && home.wheelsTurn, 60_000, 'it explores');
  return task;
}

describe('exploring', () => {
  it('maps the whole home from the station and docks again; its rooms are driven to, also after a restart', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const docked = { ...home.world.pose };
      const before = await contextOf(home);
      const task = await explore(place);
      const end = await witness.end(task, 3_600_000);
      expect(end).toMatchObject({
        event: 'COMPLETED',
        evidence: {
          completion_target: 'map.mapping_started',
          mode: 'explore',
          complete: true,
          frontiers_left: 0,
          returned: 'station',
        },
      });
      expect(home.world.docked).toBe(true);

      const saved = await done(place, 'stopMapping', { save: true });
      expect(saved).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'map.mapping_stopped', saved: true, stopped: true },
      });
      const state = home.daemon.runtime.amr.state();
      expect(state).toMatchObject({ mapId: saved.evidence?.map_id, mapping: null, localized: true });

      const map = home.daemon.runtime.map();
      if (map === null || map.station === null) throw new Error('there is no map with a station');
      const [x, y, theta] = map.station;
      const quality = mapQuality(home, map, { x, y, theta }, docked);
      expect(quality.covered).toBeGreaterThan(0.95);
      expect(quality.nearSurface).toBeGreaterThan(0.95);

      await home.restartDaemon();
      const { map: shown } = await contextOf(home);
      expect(shown.rooms.length).toBeGreaterThanOrEqual(4);
      for (const room of ['주방', '안방']) {
        const id = before.map.rooms.find(({ name }) => name === room)?.id;
        const arrived = await done(place, 'setMoveTo', { positionName: room });
        expect(arrived).toMatchObject({ event: 'COMPLETED', evidence: { area_id: id }, truth: { room: id } });
      }
      expect(await done(place, 'returnToStation')).toMatchObject({ event: 'COMPLETED' });
      expect(home.world.docked).toBe(true);
    }));

  it('cancelled, the wheels are proven to stand and what is mapped is kept; given up, the robot is back on its old map', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const before = await contextOf(home);
      const task = await underWay(place);
      await home.command({ kind: 'control', method: 'cancelTask', params: { task_id: task } });
      const end = await witness.end(task);
      expect(end).toMatchObject({ event: 'CANCELLED', evidence: { stopped: true, mapping: 'kept' } });
      expect(end.truth.wheels).toEqual({ left: 0, right: 0 });
      expect(mapping(place)).toMatchObject({ phase: 'mapping' });

      expect((await contextOf(home)).map.editable).toBe(true);
      for (const [method, params] of [
        ['setMoveTo', { positionName: '거실' }],
        ['setAreas', { rename: { areaId: '1', name: '문간' } }],
        ['setKeepOut', { walls: [] }],
        ['startMapping', { mode: 'manual' }],
        ['copyMap', { from: 'previous' }],
      ] as const) {
        const answer = await ask(place, method, params);
        const reason =
          answer.status === 'rejected'
            ? answer.reason_code
            : (await witness.end(answer.task_id ?? '')).reason_code;
        expect(reason, method).toMatch(/STATE_CONDITION_FAILED|UNKNOWN_TARGET/);
      }

      expect(await done(place, 'stopMapping', { save: false })).toMatchObject({
        event: 'COMPLETED',
        evidence: { saved: false, already: false },
      });
      await home.run(500);
      expect((await contextOf(home)).map).toEqual(before.map);
      expect(home.daemon.runtime.amr.state()).toMatchObject({ localized: true, mapping: null });
      const arrived = await done(place, 'setMoveTo', { positionName: '안방' });
      expect(arrived).toMatchObject({ event: 'COMPLETED', truth: { room: '4' } });
    }));

  it('ended by stopMapping, is CANCELLED with proof, and the part that is known is in use', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await underWay(place);
      const saved = await done(place, 'stopMapping', { save: true });
      expect(saved).toMatchObject({ event: 'COMPLETED', evidence: { saved: true, stopped: true } });
      expect(await witness.end(task)).toMatchObject({ event: 'CANCELLED', evidence: { stopped: true } });
      expect(home.daemon.runtime.amr.state()).toMatchObject({
        mapId: saved.evidence?.map_id,
        localized: true,
      });
      // Taken back: the map that it replaced.
      expect(await done(place, 'copyMap', { from: saved.evidence?.previous_map_id })).toMatchObject({
        event: 'COMPLETED',
        evidence: { map_id: saved.evidence?.previous_map_id },
      });
    }));

  it('an emergency stop ends it, and the map goes on once a person has released it', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const task = await underWay(place);
      await home.command({ kind: 'control', method: 'emergencyStop', params: {} });
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'EMERGENCY_STOP' });
      await home.run(1000);
      expect(home.wheelsTurn).toBe(false);
      expect(mapping(place)).not.toBeNull();
      await home.settled(home.daemon.runtime.amr.releaseEstop('test'), 5_000, 'the e-stop is released');
      expect(await done(place, 'stopMapping', { save: false })).toMatchObject({ event: 'COMPLETED' });
    }));

  it('a restart takes the new map along: the task says so, and the old map is in use', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      const before = await contextOf(home);
      const task = await underWay(place);
      home.killDaemon();
      await home.startDaemon();
      expect(await witness.end(task)).toMatchObject({ event: 'FAILED', reason_code: 'RESTARTED' });
      await home.run(5_000);
      expect(mapping(place)).toBeNull();
      expect((await contextOf(home)).map).toEqual(before.map);
      expect(await done(place, 'stopMapping', { save: true })).toMatchObject({
        event: 'FAILED',
        reason_code: 'STATE_CONDITION_FAILED',
      });
    }));
});

describe('mapping by hand', () => {
  it('grows while the robot is driven, is saved under a name, ended, and found by it', () =>
    inHome({}, async (place) => {
      const { home } = place;
      const { amr } = home.daemon.runtime;
      expect(await done(place, 'undock')).toMatchObject({ event: 'COMPLETED' });
      const begun = await done(place, 'startMapping', { mode: 'manual' });
      expect(begun).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'map.mapping_started', mode: 'manual', docked_at_start: false },
      });
      const first = mapping(place)?.freeArea ?? 0;
      await done(place, 'rotate', { angleDeg: 180 });
      for (let n = 0; n < 20; n++) {
        const action = { kind: 'drive', twist: { v: 0.2, w: 0 }, ttlMs: 500 } as const;
        await home.settled(amr.start('hand', action, 1_000_000), 2_000, 'it drives');
        await home.run(200);
      }
      await home.run(1000);
      expect(home.wheelsTurn).toBe(false);
      expect(mapping(place)?.freeArea).toBeGreaterThan(first);
      const kept = await done(place, 'saveMap', { name: '새 집' });
      expect(kept).toMatchObject({
        event: 'COMPLETED',
        evidence: { completion_target: 'map.saved', growing: true, kept: true },
      });
      expect(mapping(place)).not.toBeNull();
      expect(await done(place, 'stopMapping', { save: false })).toMatchObject({ event: 'COMPLETED' });
      expect(await done(place, 'copyMap', { name: '새 집' })).toMatchObject({
        event: 'COMPLETED',
        evidence: { map_id: kept.evidence?.map_id },
      });
    }));

  it('is refused where it cannot begin or end, on every channel the same', () =>
    inHome({}, async (place) => {
      const { home, witness } = place;
      expect(await ask(place, 'startMapping', { mode: 'fly' })).toMatchObject({
        reason_code: 'INVALID_PARAMS',
      });
      expect(await ask(place, 'stopMapping', {})).toMatchObject({ reason_code: 'INVALID_PARAMS' });
      expect(await ask(place, 'saveMap', { name: ' ' })).toMatchObject({ reason_code: 'INVALID_PARAMS' });
      expect(await done(place, 'stopMapping', { save: true })).toMatchObject({
        event: 'FAILED',
        reason_code: 'STATE_CONDITION_FAILED',
      });
      expect(await done(place, 'stopMapping', { save: false })).toMatchObject({
        event: 'COMPLETED',
        evidence: { already: true },
      });
      const move = await home.task('setMoveTo', { positionName: '거실' });
      await home.until(() => home.wheelsTurn, 20_000, 'the robot moves');
      const busy = await home.command({
        kind: 'task',
        method: 'startMapping',
        params: { mode: 'manual' },
        task: { executionMode: 'IMMEDIATE' },
      });
      expect(busy).toMatchObject({ status: 'rejected' });
      expect(await witness.end(move)).toMatchObject({ event: 'COMPLETED' });
      await home.inject('battery', '10');
      await home.run(3000);
      const weak = await home.command({
        kind: 'task',
        method: 'startMapping',
        params: { mode: 'explore' },
        task: { executionMode: 'IMMEDIATE' },
      });
      expect(weak).toMatchObject({
        status: 'rejected',
        message: expect.stringMatching(/reserve|held by returnToStation/),
      });
    }));
});
