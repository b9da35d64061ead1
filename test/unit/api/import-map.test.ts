import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../config/contracts/clock.js';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { importMap } from '../../../daemon/compose/import-map.js';
import type { MapInUse } from '../../../daemon/compose/map.js';
import { MapChanges } from '../../../daemon/compose/map-changes.js';
import { MapStore } from '../../../daemon/maps/map-store.js';
import { loadMapBundle, mapBundle, saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../../drivers/amr/types.js';
import { FakeRuntime } from '../../support/api/fake-runtime.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'da-import-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** 4 × 2 m of free floor with one room and a station at its right end. */
function room(name: string): MapBundle {
  const cells = new Int8Array(80 * 40);
  const polygon = [
    { x: 0, y: 0 },
    { x: 4, y: 0 },
    { x: 4, y: 2 },
    { x: 0, y: 2 },
  ];
  return mapBundle(
    { width: 80, height: 40, resolution: 0.05, origin: { x: 0, y: 0, theta: 0 }, cells },
    {
      rooms: [{ id: '1', name, aliases: [], polygon, goal: { x: 1, y: 1, theta: 0 } }],
      station: { room: '1', pose: { x: 3.5, y: 1, theta: 0 } },
      keepout: [],
      speedAreas: [],
    },
  );
}

interface Robot {
  map: MapInUse;
  store: MapStore;
  amr: FakeRuntime['amr'];
  body: FakeRuntime;
  calls: unknown[];
}

function robot(file: string | null, bundle: MapBundle | null): Robot {
  const body = new FakeRuntime(dir, new SystemClock());
  const { robot: state } = body;
  if (state !== null) state.stoppedSince = 1;
  const calls: unknown[] = [];
  const amr = {
    ...body.amr,
    loadMap: async (path: string) => {
      calls.push(['loadMap', path]);
      if (state !== null) Object.assign(state, { mapId: loadMapBundle(path).id, at: Date.now() + 60_000 });
    },
    relocalize: async (pose: object) => void calls.push(['relocalize', pose]),
  };
  const store = new MapStore({ stateDir: dir, log: SILENT_LOG });
  return { map: { file, bundle, rooms: null, problem: 'none yet' }, store, amr, body, calls };
}

const take = ({ map, store, amr }: Robot, path: string) => {
  const changes = new MapChanges({ map, store, amr, clock: new SystemClock(), radius: 0.17 });
  return importMap({ changes, amr, log: SILENT_LOG }, path);
};

describe('importing a map', () => {
  it('puts it where the profile looks for it, uses it at once, and keeps the one before', async () => {
    const incoming = join(dir, 'incoming.yaml');
    saveMapBundle(incoming, room('서재'));
    const file = join(dir, 'robot', 'map.yaml');
    const r = robot(file, room('거실'));
    if (r.body.robot !== null) r.body.robot.base.docked = true;
    await take(r, incoming);
    expect(loadMapBundle(file).areas.rooms[0]?.name).toBe('서재');
    const { previous } = r.store.record;
    expect(previous).toBe(room('거실').id);
    expect(r.store.load(previous ?? '').areas.rooms[0]?.name).toBe('거실');
    expect(r.map.rooms?.resolve('서재').id).toBe('1');
    expect(r.map.problem).toBeNull();
    expect(r.calls).toEqual([
      ['loadMap', file],
      ['relocalize', { x: 3.5, y: 1, theta: 0 }],
    ]);
  });

  it('changes nothing when there is no room to store it', async () => {
    const incoming = join(dir, 'incoming.yaml');
    saveMapBundle(incoming, room('서재'));
    const file = join(dir, 'robot', 'map.yaml');
    const r = robot(file, null);
    await take(r, incoming);
    const other = join(dir, 'other.yaml');
    saveMapBundle(other, room('거실'));
    // Its third file finds no place; the first two would have.
    mkdirSync(`${file}.new`);
    await expect(take(r, other)).rejects.toMatchObject({
      reason: 'CAPABILITY_UNAVAILABLE',
      message: expect.stringContaining('cannot be stored'),
    });
    rmSync(`${file}.new`, { recursive: true, force: true });
    expect(loadMapBundle(file).areas.rooms[0]?.name).toBe('서재');
    expect(r.map.bundle?.areas.rooms[0]?.name).toBe('서재');
    expect(readdirSync(join(dir, 'robot')).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('changes nothing while the robot moves, for a bad map, or without a place to keep it', async () => {
    const incoming = join(dir, 'incoming.yaml');
    saveMapBundle(incoming, room('서재'));
    const file = join(dir, 'robot', 'map.yaml');
    const moving = robot(file, null);
    if (moving.body.robot !== null) moving.body.robot.stoppedSince = null;
    await expect(take(moving, incoming)).rejects.toMatchObject({ reason: 'ILLEGAL_STATE' });
    await expect(take(robot(file, null), join(dir, 'none.yaml'))).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
    await expect(take(robot(null, null), incoming)).rejects.toMatchObject({
      reason: 'CAPABILITY_UNAVAILABLE',
    });
    expect(existsSync(file)).toBe(false);
  });
});
