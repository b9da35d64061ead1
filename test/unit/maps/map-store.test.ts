/** Whatever breaks off in whichever moment: the robot has the old map or the new one, and what was kept is whole. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { DISK, type MapFiles } from '../../../daemon/maps/map-files.js';
import { MAX_KEPT, MapStore } from '../../../daemon/maps/map-store.js';
import { loadMapBundle, mapBundle, saveMapBundle } from '../../../drivers/amr/map/bundle.js';
import type { MapBundle } from '../../../drivers/amr/types.js';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'da-maps-'));
  file = join(dir, 'robot', 'map.yaml');
  DISK.makeFolder(join(dir, 'robot'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Maps of one name have the same rooms; the grid differs as well, so that half a map is neither. */
function home(name: string): MapBundle {
  const cells = new Int8Array(20 * 20).fill(0);
  cells[name.codePointAt(0) ?? 0] = 100;
  const polygon = [
    { x: 0, y: 0 },
    { x: 2, y: 0 },
    { x: 2, y: 2 },
  ];
  return mapBundle(
    { width: 20, height: 20, resolution: 0.1, origin: { x: 0, y: 0, theta: 0 }, cells },
    {
      rooms: [{ id: '1', name, aliases: [], polygon, goal: { x: 1, y: 0.5, theta: 0 } }],
      station: null,
      keepout: [],
      speedAreas: [],
    },
  );
}

const A = home('A');
const B = home('B');

/** The process dies at step `at`: that step is done half, and nothing after it at all. */
class Dying implements MapFiles {
  steps = 0;
  constructor(readonly at: number) {}

  makeFolder(path: string): void {
    this.#step(() => DISK.makeFolder(path));
  }
  write(path: string, content: string | Uint8Array): void {
    this.#step(
      () => DISK.write(path, content),
      () => writeFileSync(path, content.slice(0, content.length / 2)),
    );
  }
  rename(from: string, to: string): void {
    this.#step(() => DISK.rename(from, to));
  }
  remove(path: string): void {
    this.#step(() => DISK.remove(path));
  }
  syncFolder(path: string): void {
    this.#step(() => DISK.syncFolder(path));
  }

  #step(whole: () => void, half: () => void = () => {}): void {
    this.steps += 1;
    if (this.steps < this.at) {
      whole();
      return;
    }
    if (this.steps === this.at) half();
    throw new Error('killed');
  }
}

const opened = (files?: MapFiles) =>
  new MapStore({ stateDir: dir, log: SILENT_LOG, ...(files === undefined ? {} : { files }) });

/** What a start finds: the id of the map in use, or null. */
function restarted(): { store: MapStore; id: string | null } {
  const store = opened();
  const { bundle, problem } = store.open(file);
  expect(problem).toBeNull();
  for (const { id } of store.record.kept) expect(store.load(id).id).toBe(id);
  const lying = existsSync(join(dir, 'maps', 'kept')) ? readdirSync(join(dir, 'maps', 'kept')) : [];
  expect(lying.sort()).toEqual(store.record.kept.map(({ id }) => id).sort());
  return { store, id: bundle?.id ?? null };
}

/** Lets `change` die at each of its steps in turn; `expected` are what a start may find afterwards, old before new. */
function dieEverywhere(
  prepare: () => void,
  change: (store: MapStore) => void,
  expected: [old: string | null, next: string | null],
): void {
  const seen: (string | null)[] = [];
  for (let at = 1; ; at++) {
    rmSync(dir, { recursive: true });
    DISK.makeFolder(join(dir, 'robot'));
    prepare();
    const files = new Dying(at);
    const store = opened(files);
    let died = false;
    try {
      change(store);
    } catch {
      died = true;
    }
    const { id } = restarted();
    expect(expected, `killed at step ${at}`).toContain(id);
    // A second start finds the same: nothing is half finished any more.
    expect(restarted().id).toBe(id);
    seen.push(id);
    if (!died && files.steps < at) break;
    expect(at).toBeLessThan(100);
  }
  // First the old state, from one moment on the new one, and never back.
  const turn = seen.indexOf(expected[1]);
  expect(turn).toBeGreaterThan(0);
  expect(seen.slice(0, turn).every((id) => id === expected[0])).toBe(true);
  expect(seen.slice(turn).every((id) => id === expected[1])).toBe(true);
}

describe('a crash in any moment', () => {
  it('of a reset leaves the map in use, or out of use and kept', () => {
    dieEverywhere(
      () => saveMapBundle(file, A),
      (store) => store.reset(A, 1),
      [A.id, null],
    );
    expect(opened().load(A.id).areas.rooms[0]?.name).toBe('A');
  });

  it('of bringing it back leaves it out of use, or in use', () => {
    dieEverywhere(
      () => {
        saveMapBundle(file, A);
        opened().reset(A, 1);
      },
      (store) => store.use(file, store.load(A.id), null, 2),
      [null, A.id],
    );
  });

  it('of bringing it back over files that are gone leaves it out of use, or in use', () => {
    dieEverywhere(
      () => {
        saveMapBundle(file, A);
        opened().reset(A, 1);
        rmSync(join(dir, 'robot'), { recursive: true });
      },
      (store) => store.use(file, store.load(A.id), null, 2),
      [null, A.id],
    );
  });

  it('of another map taking its place leaves the one or the other, whole', () => {
    dieEverywhere(
      () => saveMapBundle(file, A),
      (store) => store.use(file, B, A, 1),
      [A.id, B.id],
    );
    const { store } = restarted();
    expect(store.record.previous).toBe(A.id);
    expect(loadMapBundle(file).areas.rooms[0]?.name).toBe('B');
  });
});

describe('a reset', () => {
  it('is still true after any number of starts, and ends when the map is brought back', () => {
    saveMapBundle(file, A);
    opened().reset(A, 1);
    expect(restarted().id).toBeNull();
    const { store, id } = restarted();
    expect(id).toBeNull();
    store.use(file, store.load(store.record.previous ?? ''), null, 2);
    expect(restarted().id).toBe(A.id);
    expect(opened().record.reset).toBeNull();
  });

  it('ends when a person puts another map in the place of the old one', () => {
    saveMapBundle(file, A);
    opened().reset(A, 1);
    saveMapBundle(file, B);
    expect(restarted().id).toBe(B.id);
    saveMapBundle(file, A);
    expect(restarted().id).toBe(A.id);
  });

  it('changes nothing when there is no room for it', () => {
    saveMapBundle(file, A);
    const full: MapFiles = {
      ...DISK,
      write: () => {
        throw new Error('no space left on device');
      },
    };
    expect(() => opened(full).reset(A, 1)).toThrow('no space left');
    expect(() => opened(full).use(file, B, A, 1)).toThrow('no space left');
    expect(restarted().id).toBe(A.id);
    expect(readdirSync(join(dir, 'robot')).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});

describe('kept maps', () => {
  it('are few: the oldest goes first', () => {
    const store = opened();
    const maps = [...'ABCDEFGH'].map(home);
    for (const [at, map] of maps.entries()) {
      saveMapBundle(file, map);
      store.reset(map, at);
    }
    const kept = store.record.kept.map(({ id }) => id);
    expect(kept).toEqual(maps.slice(-MAX_KEPT).map(({ id }) => id));
    expect(readdirSync(join(dir, 'maps', 'kept')).sort()).toEqual([...kept].sort());
    expect(() => store.load(A.id)).toThrow(/kept map m-\w+ cannot be used/);
  });

  it('whose files were changed are refused, and written anew when the map is kept again', () => {
    const store = opened();
    saveMapBundle(file, A);
    store.reset(A, 1);
    writeFileSync(join(dir, 'maps', 'kept', A.id, 'areas.yaml'), 'version: 1\n');
    expect(() => store.load(A.id)).toThrow('its files were changed');
    store.reset(A, 2);
    expect(store.load(A.id).id).toBe(A.id);
  });

  it('stay where the record of them is damaged; the profile’s map is in use then', () => {
    saveMapBundle(file, A);
    opened().reset(A, 1);
    writeFileSync(join(dir, 'maps', 'record.json'), '{"version":1,');
    const store = opened();
    expect(store.open(file).bundle?.id).toBe(A.id);
    expect(store.load(A.id).id).toBe(A.id);
  });
});
