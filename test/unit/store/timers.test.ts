import { afterEach, describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import type { TimerRow } from '../../../daemon/store/timers.js';
import {
  filesAfterPowerCut,
  openStoreWorld,
  quiet,
  removeTemporaryDirectories,
  START_MS,
  type StoreWorld,
} from './store-world.js';

afterEach(removeTemporaryDirectories);

function listening(world: StoreWorld): TimerRow[] {
  const fired: TimerRow[] = [];
  world.timers.on('machine', (row) => fired.push(row));
  world.timers.start();
  return fired;
}

describe('timers', () => {
  it('come back as events when they are due, in order, once', async () => {
    const world = openStoreWorld();
    const fired = listening(world);
    world.timers.set('machine', 'b', START_MS + 2_000, { type: 'TIMER', name: 'b' });
    world.timers.set('machine', 'a', START_MS + 1_000, { type: 'TIMER', name: 'a' });
    world.timers.set('machine', 'c', START_MS + 3_000, null);
    expect(world.timers.cancel('machine', 'c')).toBe(true);
    expect(world.timers.cancel('machine', 'c')).toBe(false);
    await world.clock.advanceAsync(999);
    expect(fired).toEqual([]);
    await world.clock.advanceAsync(60_000);
    expect(fired.map((row) => row.key)).toEqual(['a', 'b']);
    expect(fired[0]?.payload).toEqual({ type: 'TIMER', name: 'a' });
    await quiet(world.store);
    expect(openStoreWorld({ file: filesAfterPowerCut(world.file) }).timers.list('machine')).toEqual([]);
  });

  it('move when they are set again', async () => {
    const world = openStoreWorld();
    const fired = listening(world);
    world.timers.set('machine', 'a', START_MS + 1_000, 1);
    world.timers.set('machine', 'a', START_MS + 5_000, 2);
    await world.clock.advanceAsync(4_000);
    expect(fired).toEqual([]);
    await world.clock.advanceAsync(1_000);
    expect(fired.map((row) => row.payload)).toEqual([2]);
  });

  it('survive a power cut; what came due meanwhile fires at once, and waits for who wants it', async () => {
    const world = openStoreWorld();
    world.timers.set('machine', 'past', START_MS + 1_000, null);
    world.timers.set('machine', 'future', START_MS + 50_000, null);
    world.timers.set('workflow', 'nobody yet', START_MS + 1, null);
    await world.store.committed();
    const clock = new SimClock(START_MS + 10_000);
    const after = openStoreWorld({ file: filesAfterPowerCut(world.file), clock });
    const fired = listening(after);
    await clock.advanceAsync(0);
    expect(fired.map((row) => row.key)).toEqual(['past']);
    await clock.advanceAsync(40_000);
    expect(fired.map((row) => row.key)).toEqual(['past', 'future']);
    const late: string[] = [];
    after.timers.on('workflow', (row) => late.push(row.key));
    await clock.advanceAsync(0);
    expect(late).toEqual(['nobody yet']);
  });

  it('come again when their handler or their commit fails, and nothing of it remains', async () => {
    const world = openStoreWorld();
    const tries: number[] = [];
    world.timers.on('machine', () => {
      tries.push(world.clock.now() - START_MS);
      if (tries.length === 1) throw new Error('a defect');
    });
    world.timers.start();
    world.timers.set('machine', 'a', START_MS + 1_000, null);
    await world.clock.advanceAsync(1_500);
    world.store.faults.commitError = new Error('disk');
    await world.clock.advanceAsync(1_000);
    world.store.faults.commitError = null;
    await world.clock.advanceAsync(5_000);
    expect(tries).toEqual([1_000, 2_000, 3_000]);
    expect(world.timers.counters()).toMatchObject({ handler_failures: 1, set: 0 });
  });

  it('are given up, loudly, when their handler never works', async () => {
    const world = openStoreWorld();
    let tries = 0;
    world.timers.on('machine', () => {
      tries++;
      throw new Error('a defect');
    });
    world.timers.start();
    world.timers.set('machine', 'a', START_MS, null);
    await world.clock.advanceAsync(60_000);
    expect(tries).toBe(5);
    expect(world.timers.counters()).toMatchObject({ given_up: 1, set: 0 });
  });

  it('keep their duration when the clock is set, unless they stand for a time of day', async () => {
    const world = openStoreWorld();
    const fired: string[] = [];
    world.timers.on('machine', (row) => fired.push(`${row.key} ${world.clock.mono()}`));
    world.timers.start();
    world.timers.set('machine', 'in 60 s', START_MS + 60_000, null);
    world.timers.set('machine', 'at 01:00', START_MS + 3_600_000, null, 'calendar');
    world.clock.jump(3_590_000);
    await world.clock.advanceAsync(120_000);
    await quiet(world.store);
    expect(fired[0]).toMatch(/^at 01:00 (1|2|3)\d{4}$/);
    expect(fired[1]).toBe('in 60 s 60000');
    world.timers.set('machine', 'in 10 s', world.clock.now() + 10_000, null);
    world.clock.jump(-3_600_000);
    await world.clock.advanceAsync(9_999);
    expect(fired.length).toBe(2);
    await world.clock.advanceAsync(1);
    expect(fired[2]).toMatch(/^in 10 s/);
    expect(world.timers.counters().clock_jumps).toBe(2);
  });

  it('follow the transaction they are set in', async () => {
    const world = openStoreWorld();
    const fired = listening(world);
    expect(() =>
      world.store.write(() => {
        world.timers.set('machine', 'a', START_MS + 10, null);
        throw new Error('no');
      }),
    ).toThrow();
    await world.clock.advanceAsync(1_000);
    expect(fired).toEqual([]);
  });
});
