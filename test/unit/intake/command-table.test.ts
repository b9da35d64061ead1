import { afterEach, describe, expect, it } from 'vitest';
import type { CommandResponse } from '../../../config/contracts/wire/command.js';
import { CommandTable } from '../../../daemon/intake/command-table.js';
import { filesAfterPowerCut, openStoreWorld, removeTemporaryDirectories } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

function answer(command_id: string): CommandResponse {
  return {
    command_id,
    correlation_id: null,
    status: 'accepted',
    task_id: 't-1',
    workflow_id: null,
    schedule_id: null,
    duplicate: false,
    legacy: false,
    reason_code: null,
    message: null,
    result: null,
    at: '2026-11-30T09:00:00.120+09:00',
  };
}

describe('the memory of answered commands', () => {
  it('gives the first answer again, also after a power cut', async () => {
    const world = openStoreWorld();
    const command = { commandId: 'c-1', digest: 'abc', response: answer('c-1'), keepUntil: 5_000 };
    new CommandTable(world.store).remember(command);
    await world.store.committed();
    const after = new CommandTable(openStoreWorld({ file: filesAfterPowerCut(world.file) }).store);
    expect(after.find('c-1')).toEqual(command);
    expect(after.find('c-2')).toBeNull();
  });

  it('forgets with the transaction that is undone', () => {
    const world = openStoreWorld();
    const table = new CommandTable(world.store);
    expect(() =>
      world.store.write(() => {
        table.remember({ commandId: 'c-1', digest: 'abc', response: answer('c-1'), keepUntil: 5_000 });
        throw new Error('refused after all');
      }),
    ).toThrow();
    expect(table.find('c-1')).toBeNull();
  });

  it('forgets what may be forgotten, in bounded pieces', () => {
    const world = openStoreWorld();
    const table = new CommandTable(world.store);
    world.store.write(() => {
      for (let i = 0; i < 150; i++) {
        const keepUntil = i < 120 ? 1_000 : 1_000_000;
        table.remember({ commandId: `c-${i}`, digest: 'd', response: answer(`c-${i}`), keepUntil });
      }
    });
    const count = () => Number(world.store.db.prepare('SELECT count(*) FROM commands').pluck().get());
    table.prune(2_000);
    expect(count()).toBe(50);
    table.prune(2_001);
    expect(count()).toBe(50);
    table.prune(20_000);
    expect(count()).toBe(30);
    expect(table.hasRoom()).toBe(true);
  });
});
