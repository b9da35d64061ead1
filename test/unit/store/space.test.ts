import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { entryPath } from '../../../config/contracts/entry.js';
import { MIGRATIONS } from '../../../daemon/store/schema.js';
import {
  appendEvent,
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  type StoreWorld,
} from './store-world.js';

afterEach(removeTemporaryDirectories);

const MIB = 1024 * 1024;
const sizeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

async function append(world: StoreWorld, count: number, bytes: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    appendEvent(world, `k${i}`, bytes);
    if (i % 500 === 499) await world.store.committed();
  }
  await world.store.committed();
}

async function acknowledgeAll(world: StoreWorld): Promise<void> {
  for (let rows = world.outbox.peek(0, 1000); rows.length > 0; rows = world.outbox.peek(0, 1000)) {
    for (const row of rows) world.outbox.acknowledged(row.id);
    await world.store.committed();
  }
}

describe('disk space', () => {
  it('is given back to the file system after a backlog has gone, also by a robot that then does nothing', async () => {
    const world = openStoreWorld({ limits: { historyRows: 100 } });
    await append(world, 20_000, 1500);
    const full = sizeOf(world.file) + sizeOf(`${world.file}-wal`);
    expect(full).toBeGreaterThan(28 * MIB);
    await acknowledgeAll(world);
    for (let minute = 0; minute < 15; minute++) {
      world.clock.advance(60_000);
      world.store.touch();
      await quiet(world.store);
    }
    expect(sizeOf(world.file)).toBeLessThan(12 * MIB);
    expect(sizeOf(`${world.file}-wal`)).toBeLessThan(MIB);
    expect(world.store.db.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(world.store.counters().maintenance_failures).toBe(0);
  });

  it('the log stays bounded however much is written, also while somebody reads for long', async () => {
    const world = openStoreWorld();
    await append(world, 2000, 500);
    // A reader that never ends holds its snapshot: SQLite could not fold in what came after it.
    const reader = world.store.db.prepare('SELECT seq FROM outbox_ordered ORDER BY seq');
    let most = 0;
    for (let round = 0; round < 40; round++) {
      for (const _row of reader.all()) break;
      await append(world, 1000, 2000);
      most = Math.max(most, sizeOf(`${world.file}-wal`));
    }
    expect(sizeOf(world.file)).toBeGreaterThan(80 * MIB);
    expect(most).toBeLessThan(24 * MIB);
  });

  it('a maintenance that fails is counted and brings nothing down', async () => {
    const world = openStoreWorld({ limits: { historyRows: 0 } });
    await append(world, 10_000, 1500);
    await acknowledgeAll(world);
    world.store.touch();
    await quiet(world.store);
    world.store.db.pragma('query_only = ON');
    world.clock.advance(60_000);
    expect(world.store.counters().maintenance_failures).toBe(1);
    world.store.db.pragma('query_only = OFF');
    world.clock.advance(60_000);
    expect(world.store.counters().maintenance_failures).toBe(1);
  });
});

describe('a migration', () => {
  it('that was killed half-way has not happened: the next start begins it again, and no row is touched', async () => {
    const world = openStoreWorld();
    await append(world, 200, 200);
    world.outbox.appendResponse('command/response', { command_id: 'c-1' });
    await world.store.committed();
    world.store.close();
    await killedWhileMigrating(world.file);
    expect(sizeOf(`${world.file}-wal`)).toBeGreaterThan(0);

    const after = openStoreWorld({ file: world.file, seed: 2 });
    expect(after.store.movedAside).toBeNull();
    expect(after.store.epoch).toBe(world.store.epoch);
    expect(after.store.db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
    expect(after.outbox.peek(0, 1000).map((row) => row.lane)).toEqual([
      ...Array(200).fill('ordered'),
      'response',
    ]);
    expect(after.outbox.peek(0, 1)[0]?.payload).not.toContain('half way');
    after.store.close();

    const step = 'CREATE TABLE later (x)';
    const migrated = openStoreWorld({ file: world.file, seed: 3, migrations: [...MIGRATIONS, step] });
    expect(migrated.store.db.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length + 1);
    expect(migrated.outbox.stats().depth).toBe(201);
  });

  it('that fails on a full disk fails the start, says so, and leaves the file as it was', async () => {
    const world = openStoreWorld();
    await append(world, 50, 200);
    const file = filesAfterPowerCut(world.file);
    const fill = `PRAGMA max_page_count = 1; CREATE TABLE filler (x); INSERT INTO filler
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT randomblob(2000) FROM n`;
    expect(() => openStoreWorld({ file, migrations: [...MIGRATIONS, fill] })).toThrow(/disk is full/);
    const after = openStoreWorld({ file, seed: 2 });
    expect(after.store.movedAside).toBeNull();
    expect(after.outbox.stats().depth).toBe(50);
  });
});

/** Kills the child with SIGKILL once the log shows that its migration writes. */
function killedWhileMigrating(file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entryPath(import.meta.url, './migration-child.js'), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const watch = setInterval(() => {
      if (sizeOf(`${file}-wal`) > 4 * MIB) child.kill('SIGKILL');
    }, 5);
    child.on('close', (code, signal) => {
      clearInterval(watch);
      if (signal === 'SIGKILL') resolve();
      else reject(new Error(`the migration ended by itself (${code})`));
    });
  });
}
