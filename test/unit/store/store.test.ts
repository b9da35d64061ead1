import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Settings, Snapshots } from '../../../daemon/store/small-tables.js';
import type { StoreError } from '../../../daemon/store/store-error.js';
import {
  appendEvent,
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  temporaryDirectory,
} from './store-world.js';

afterEach(removeTemporaryDirectories);

function notes(world: ReturnType<typeof openStoreWorld>): string[] {
  return new Settings(world.store).get('notes', z.array(z.string()), []);
}

describe('a turn of the event loop is one transaction', () => {
  it('commits once for all writes of a turn, and then runs what waited for it', async () => {
    const phases: string[] = [];
    const world = openStoreWorld({ onCommit: (phase) => phases.push(phase) });
    const settings = new Settings(world.store);
    const seen: string[] = [];
    world.store.write(() => settings.set('a', 1));
    world.store.afterCommit(() => seen.push('told'));
    world.store.write(() => settings.set('b', 2));
    expect(world.store.pending).toBe(true);
    expect(seen).toEqual([]);
    await world.store.committed();
    expect(seen).toEqual(['told']);
    expect(world.store.pending).toBe(false);
    expect(phases).toEqual(['begin', 'end']);
    expect(world.store.counters().commits).toBe(1);
  });

  it('undoes only the call that threw, in the database and in memory', async () => {
    const world = openStoreWorld();
    const settings = new Settings(world.store);
    const memory: string[] = [];
    const add = (text: string) => {
      settings.set('notes', [...notes(world), text]);
      memory.push(text);
      world.store.onUndo(() => {
        memory.pop();
      });
    };
    world.store.write(() => add('kept'));
    const told: string[] = [];
    expect(() =>
      world.store.write(() => {
        add('lost');
        world.store.afterCommit(() => told.push('never'));
        throw new Error('no');
      }),
    ).toThrow('no');
    world.store.write(() => {
      add('outer');
      expect(() =>
        world.store.write(() => {
          add('inner');
          throw new Error('inner no');
        }),
      ).toThrow('inner no');
    });
    await world.store.committed();
    expect(notes(world)).toEqual(['kept', 'outer']);
    expect(memory).toEqual(['kept', 'outer']);
    expect(told).toEqual([]);
  });

  it('loses what a power cut catches before the commit, and nothing else', async () => {
    const world = openStoreWorld();
    world.store.write(() => new Settings(world.store).set('notes', ['durable']));
    await world.store.committed();
    world.store.write(() => new Settings(world.store).set('notes', ['durable', 'open']));
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file) });
    expect(notes(after)).toEqual(['durable']);
    expect(after.store.movedAside).toBeNull();
    expect(after.store.epoch).toBe(world.store.epoch);
  });

  it('undoes a whole turn when its commit fails, and tells those who wait', async () => {
    const world = openStoreWorld();
    const settings = new Settings(world.store);
    const memory: string[] = [];
    const told: string[] = [];
    world.store.faults.commitError = Object.assign(new Error('database or disk is full'), {
      code: 'SQLITE_FULL',
    });
    world.store.write(() => {
      settings.set('notes', ['gone']);
      memory.push('gone');
      world.store.onUndo(() => memory.pop());
    });
    world.store.afterCommit(() => told.push('never'));
    const error = await world.store.committed().then(
      () => null,
      (e: StoreError) => e,
    );
    expect(error?.code).toBe('FULL');
    expect(memory).toEqual([]);
    expect(told).toEqual([]);
    expect(world.store.counters().commit_failures).toBe(1);
    world.store.faults.commitError = null;
    world.store.write(() => settings.set('notes', ['works again']));
    await world.store.committed();
    expect(notes(world)).toEqual(['works again']);
  });

  it('keeps nothing of a turn in which the disk really filled up, whatever the code in it swallows', async () => {
    const world = openStoreWorld();
    const settings = new Settings(world.store);
    world.store.write(() => settings.set('notes', ['before']));
    await world.store.committed();
    const pages = Number(world.store.db.pragma('page_count', { simple: true }));
    world.store.db.pragma(`max_page_count = ${pages}`);
    world.store.write(() => settings.set('notes', ['same turn']));
    const failures: string[] = [];
    for (let i = 0; i < 3; i++) {
      try {
        world.store.write(() => settings.set(`big-${i}`, 'x'.repeat(5_000_000)));
      } catch (error) {
        failures.push((error as StoreError).code);
      }
    }
    expect(failures.length).toBeGreaterThan(0);
    expect(failures[0]).toBe('FULL');
    const outcome = await world.store.committed().then(
      () => 'kept',
      () => 'undone',
    );
    // Either SQLite gave up the statement alone, or the whole turn; never half of a call.
    expect(notes(world)).toEqual(outcome === 'kept' ? ['same turn'] : ['before']);
    world.store.db.pragma('max_page_count = 1000000');
    world.store.write(() => settings.set('notes', ['room again']));
    await world.store.committed();
    expect(notes(world)).toEqual(['room again']);
  });

  it('goes on with the others when something that waited for the commit throws', async () => {
    const world = openStoreWorld();
    const seen: number[] = [];
    world.store.afterCommit(() => {
      throw new Error('a defect');
    });
    world.store.afterCommit(() => seen.push(2));
    await world.store.committed();
    expect(seen).toEqual([2]);
    expect(world.store.counters().after_commit_defects).toBe(1);
  });

  it('can be made slow, as a worn SD card is', async () => {
    const world = openStoreWorld();
    world.store.faults.commitDelayMs = 30;
    const from = performance.now();
    world.store.write(() => new Settings(world.store).set('a', 1));
    await world.store.committed();
    expect(performance.now() - from).toBeGreaterThanOrEqual(29);
  });
});

describe('opening', () => {
  it('keeps its epoch over restarts', async () => {
    const world = openStoreWorld();
    const { epoch } = world.store;
    world.store.close();
    expect(openStoreWorld({ file: world.file }).store.epoch).toBe(epoch);
  });

  it('is readable by its owner only', () => {
    const world = openStoreWorld();
    expect(fs.statSync(world.file).mode & 0o077).toBe(0);
  });

  it.each([
    [
      'text in place of a database',
      (file: string) => fs.writeFileSync(file, 'not a database at all\n'.repeat(100)),
    ],
    [
      'a database of another program',
      (file: string) => {
        const other = new Database(file);
        other.exec('CREATE TABLE t (a); PRAGMA application_id = 7;');
        other.close();
      },
    ],
    [
      'a database of a newer version',
      (file: string) => {
        const newer = new Database(file);
        newer.pragma('user_version = 9999');
        newer.close();
      },
    ],
    [
      'a database without its tables',
      (file: string) => {
        const bare = new Database(file);
        bare.pragma('user_version = 1');
        bare.close();
      },
    ],
    ['a directory', (file: string) => fs.mkdirSync(file)],
  ])('moves %s aside and begins a new epoch', (_what, make) => {
    const file = path.join(temporaryDirectory(), 'deviceagent.db');
    make(file);
    const messages: string[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (_f: object, m: string) => messages.push(m) };
    const world = openStoreWorld({ file, log });
    expect(world.store.movedAside?.reason).toBeTruthy();
    expect(fs.existsSync(world.store.movedAside?.path ?? '')).toBe(true);
    expect(messages.join()).toContain('moved aside and is kept');
    appendEvent(world, 'k1');
    expect(world.outbox.stats().nextSeq).toBe(2);
  });

  it('moves a database aside whose pages are damaged, together with its log, and loses nothing of it', async () => {
    const world = openStoreWorld();
    for (let i = 0; i < 500; i++) appendEvent(world, `k${i}`, 400);
    await world.store.committed();
    world.store.db.pragma('wal_checkpoint(TRUNCATE)');
    appendEvent(world, 'in the log');
    await world.store.committed();
    const file = filesAfterPowerCut(world.file);
    const bytes = fs.readFileSync(file);
    bytes.fill(0xa5, 8192, 8192 + 60_000);
    fs.writeFileSync(file, bytes);
    const after = openStoreWorld({ file, seed: 2 });
    const aside = after.store.movedAside;
    expect(aside?.reason).toMatch(/damaged|integrity/);
    expect(fs.statSync(aside?.path ?? '').size).toBe(bytes.length);
    expect(fs.existsSync(`${aside?.path}-wal`)).toBe(true);
    expect(after.store.epoch).not.toBe(world.store.epoch);
    expect(after.outbox.peek(0, 10)).toEqual([]);
  });

  it('moves an emptied file aside together with its log, which SQLite would delete', async () => {
    const world = openStoreWorld();
    for (let i = 0; i < 20; i++) appendEvent(world, `k${i}`, 400);
    await world.store.committed();
    const file = filesAfterPowerCut(world.file);
    const logBytes = fs.statSync(`${file}-wal`).size;
    fs.truncateSync(file);
    const after = openStoreWorld({ file, seed: 2 });
    expect(after.store.movedAside?.reason).toContain('empty');
    expect(fs.statSync(`${after.store.movedAside?.path}-wal`).size).toBe(logBytes);
    expect(after.store.epoch).not.toBe(world.store.epoch);
  });

  it('moves a database aside that has lost its log: what was told last is missing from it', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'k1');
    await world.store.committed();
    world.store.db.pragma('wal_checkpoint(TRUNCATE)');
    appendEvent(world, 'k2');
    await world.store.committed();
    const file = filesAfterPowerCut(world.file);
    fs.rmSync(`${file}-wal`);
    const after = openStoreWorld({ file, seed: 2 });
    expect(after.store.movedAside?.reason).toContain('its log is gone');
    expect(fs.existsSync(after.store.movedAside?.path ?? '')).toBe(true);
    expect(after.store.epoch).not.toBe(world.store.epoch);
    // The new one is not suspected in its turn.
    appendEvent(after, 'k1');
    after.store.close();
    expect(openStoreWorld({ file, seed: 3 }).store.movedAside).toBeNull();
  });

  it('moves a copy from earlier aside: it would give the same seq to something else', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'k1');
    world.store.close();
    const copy = fs.readFileSync(world.file);
    const later = openStoreWorld({ file: world.file, seed: 2 });
    appendEvent(later, 'k2');
    later.store.close();
    fs.writeFileSync(world.file, copy);
    const after = openStoreWorld({ file: world.file, seed: 3 });
    expect(after.store.movedAside?.reason).toContain('a copy from earlier');
    expect(after.store.epoch).not.toBe(world.store.epoch);
  });

  it('keeps a database whose log somebody folded into it, as every program of SQLite does that looks into it', async () => {
    const world = openStoreWorld();
    for (const key of ['k1', 'k2']) appendEvent(world, key);
    await world.store.committed();
    const file = filesAfterPowerCut(world.file);
    const other = new Database(file);
    other.pragma('user_version');
    other.close();
    expect(fs.existsSync(`${file}-wal`)).toBe(false);
    const after = openStoreWorld({ file, seed: 2 });
    expect(after.store.movedAside).toBeNull();
    expect(after.outbox.stats().depth).toBe(2);
  });

  it('keeps a database whose log is empty because all of it is in the file', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'k1');
    await world.store.committed();
    world.store.db.pragma('wal_checkpoint(TRUNCATE)');
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file), seed: 2 });
    expect(after.store.movedAside).toBeNull();
    expect(after.outbox.stats().depth).toBe(1);
  });

  it('keeps a database whose clean end could not be noted', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'k1');
    await world.store.committed();
    world.store.db.pragma('query_only = ON');
    world.store.close();
    const after = openStoreWorld({ file: world.file, seed: 2 });
    expect(after.store.movedAside).toBeNull();
    expect(after.outbox.stats().depth).toBe(1);
  });

  it('is read through at the next start when its user could not work with it, and else not', async () => {
    const world = openStoreWorld();
    for (let i = 0; i < 500; i++) appendEvent(world, `k${i}`, 400);
    world.store.close({ suspect: true });
    const damaged = (file: string) => {
      const bytes = fs.readFileSync(file);
      bytes.fill(0xa5, 30 * 4096, 31 * 4096);
      fs.writeFileSync(file, bytes);
    };
    damaged(world.file);
    expect(openStoreWorld({ file: world.file }).store.movedAside).not.toBeNull();
  });

  it('tells of a full disk once a minute, and that it has room again', async () => {
    const told: string[] = [];
    const log = {
      debug() {},
      warn() {},
      info: (_f: object, m: string) => told.push(m),
      error: (_f: object, m: string) => told.push(m),
    };
    const world = openStoreWorld({ log });
    const commit = () => {
      world.store.touch();
      return world.store.committed().catch(() => undefined);
    };
    world.store.faults.commitError = Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    for (let second = 0; second < 90; second++) {
      await commit();
      world.clock.advance(1000);
    }
    expect(told).toHaveLength(2);
    expect(world.store.failing?.code).toBe('FULL');
    world.store.faults.commitError = null;
    await commit();
    expect(told.at(-1)).toBe('commits succeed again');
    expect(world.store.failing).toBeNull();
  });

  it('does not let a second process in', () => {
    const world = openStoreWorld();
    world.store.write(() => new Settings(world.store).set('a', 1));
    expect(() => openStoreWorld({ file: world.file })).toThrow(/another process holds it/);
  });

  it('refuses writes after closing, and closing keeps what was written', () => {
    const world = openStoreWorld();
    world.store.write(() => new Settings(world.store).set('notes', ['last words']));
    world.store.close();
    expect(() => world.store.write(() => undefined)).toThrow('closed');
    expect(notes(openStoreWorld({ file: world.file }))).toEqual(['last words']);
  });
});

describe('snapshots', () => {
  it('come back after a restart, and one of another shape is ignored', async () => {
    const world = openStoreWorld();
    const snapshots = new Snapshots(world.store, world.log);
    const snapshot = { value: { driving: 'ahead' }, context: { goal: '2' }, savedAt: 5 };
    snapshots.saveSnapshot('navigation', snapshot);
    await quiet(world.store);
    world.store.write(() =>
      world.store.db.prepare('INSERT INTO snapshots VALUES (?, 0, ?)').run('docking', '{"old":1}'),
    );
    await world.store.committed();
    const again = new Snapshots(openStoreWorld({ file: filesAfterPowerCut(world.file) }).store, world.log);
    expect(again.loadSnapshot('navigation')).toEqual(snapshot);
    expect(again.loadSnapshot('docking')).toBeNull();
    expect(again.loadSnapshot('cleaning')).toBeNull();
  });
});
