/**
 * Trap 7 of the peers: spools that fall back to memory on a database error, delete the database on corruption, never
 * give disk back, or drop the message whose retries ran out.
 */
import fs from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import { OutboxPublisher } from '../../../daemon/cloud/publisher.js';
import { FakeLink } from '../../support/fake-link.js';
import {
  appendEvent,
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  type StoreWorld,
} from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

const keys = (world: StoreWorld) => world.outbox.peek(0, 1000).map((row) => row.idempotencyKey);

describe('trap 7: a spool that gives up what it was given', () => {
  it('on a database error nothing goes on in memory: whoever wrote is told, and only what is on disk is sent', async () => {
    const world = openStoreWorld();
    appendEvent(world, 'before');
    await world.store.committed();
    world.store.faults.commitError = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    appendEvent(world, 'refused');
    await expect(world.store.committed()).rejects.toMatchObject({ code: 'IO' });
    expect(keys(world)).toEqual(['before']);
    world.store.faults.commitError = null;
    appendEvent(world, 'after');
    await world.store.committed();
    expect(world.outbox.peek(0, 10).map((row) => [row.seq, row.idempotencyKey])).toEqual([
      [1, 'before'],
      [2, 'after'],
    ]);
    const restarted = openStoreWorld({ file: filesAfterPowerCut(world.file), seed: 2 });
    expect(keys(restarted)).toEqual(['before', 'after']);
  });

  it('on corruption every byte of the database is kept beside the new one', async () => {
    const world = openStoreWorld();
    for (let i = 0; i < 500; i++) appendEvent(world, `k${i}`, 400);
    await world.store.committed();
    world.store.db.pragma('wal_checkpoint(TRUNCATE)');
    const file = filesAfterPowerCut(world.file);
    const bytes = fs.readFileSync(file);
    bytes.fill(0, 8192, 8192 + 40_000);
    fs.writeFileSync(file, bytes);
    const after = openStoreWorld({ file, seed: 2 });
    expect(fs.readFileSync(after.store.movedAside?.path ?? '').equals(bytes)).toBe(true);
    expect(after.store.epoch).not.toBe(world.store.epoch);
  });

  it('gives disk back once the backlog has gone', async () => {
    const world = openStoreWorld({ limits: { historyRows: 100 } });
    for (let i = 0; i < 12_000; i++) appendEvent(world, `k${i}`, 1500);
    await world.store.committed();
    world.store.db.pragma('wal_checkpoint(TRUNCATE)');
    const full = fs.statSync(world.file).size;
    for (const row of world.outbox.peek(0, 12_000)) world.outbox.acknowledged(row.id);
    for (let minute = 0; minute < 12; minute++) {
      world.store.touch();
      await quiet(world.store);
      world.clock.advance(60_000);
    }
    expect(fs.statSync(world.file).size).toBeLessThan(full / 1.5);
  });

  it('a message whose tries ran out waits with its payload and its reason, and can be sent again', async () => {
    const world = openStoreWorld();
    const link = new FakeLink();
    const publisher = new OutboxPublisher({
      clock: world.clock,
      networkClock: world.clock,
      outbox: world.outbox,
      link,
      log: SILENT_LOG,
      options: {
        deviceId: 'da-test',
        window: 8,
        ackTimeoutMs: 15_000,
        maxPacketBytes: null,
        maxTries: 3,
        replay: { perS: null, burst: 10 },
      },
    });
    let refusing = true;
    link.onPublish = (sent) => {
      link.arrived.push(sent);
      const refused =
        refusing && JSON.parse(sent.payload).event !== 'DEAD_LETTERED' && sent.payload.includes('"poison"');
      queueMicrotask(() =>
        sent.answer(refused ? { kind: 'refused', code: 0x83, reason: 'no' } : { kind: 'acknowledged' }),
      );
    };
    const settled = async () => {
      for (let i = 0; i < 40; i++) {
        await quiet(world.store);
        world.clock.advance(1000);
      }
    };
    for (const key of ['a', 'poison', 'b']) appendEvent(world, key);
    link.connect();
    await settled();
    expect(world.outbox.stats()).toMatchObject({ depth: 0, deadLetters: 1 });
    const [letter] = world.outbox.deadLetters(10);
    expect(letter).toMatchObject({ seq: 2, attempts: 3, reason: expect.stringContaining('0x83') });
    expect(JSON.parse(letter?.payload ?? '{}')).toMatchObject({ idempotency_key: 'poison' });
    refusing = false;
    expect(world.outbox.requeue(letter?.id ?? 0)).toBe(true);
    await settled();
    expect(JSON.parse(link.arrived.at(-1)?.payload ?? '{}')).toMatchObject({
      idempotency_key: 'poison',
      seq: 4,
    });
    publisher.dispose();
  });
});
