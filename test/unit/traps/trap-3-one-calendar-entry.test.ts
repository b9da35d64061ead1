import { afterEach, describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { HOUR, MINUTE, openScheduleWorld, type ScheduleWorld } from '../schedule/schedule-world.js';
import { removeTemporaryDirectories, START_MS } from '../store/store-world.js';

afterEach(removeTemporaryDirectories);

const AT_8 = START_MS + 8 * HOUR;

/** Every task that was ever made by a schedule, by the time it was for; a restart may begin the same one again. */
function tasksByTime(world: ScheduleWorld): Record<string, number> {
  const made = new Map<string, Set<string>>();
  for (const { task_id, scheduled_for } of world.events()) {
    if (task_id === null || scheduled_for === undefined) continue;
    const ids = made.get(scheduled_for) ?? new Set();
    made.set(scheduled_for, ids.add(task_id));
  }
  return Object.fromEntries([...made].map(([time, ids]) => [time.slice(0, 16), ids.size]));
}

describe('trap 3: one calendar entry firing twice around a restart or a clock change', () => {
  it.each([
    ['a moment before its time', AT_8 - 1],
    ['in the turn in which it begins, before the commit', AT_8],
    ['a moment after', AT_8 + 1],
    ['five minutes after', AT_8 + 5 * MINUTE],
  ])('a power cut %s', async (_when, at) => {
    const before = openScheduleWorld();
    before.add();
    await before.quiet();
    // Nothing settles in between: what this turn did is committed or it is not.
    before.clock.advance(at - START_MS);
    let world = before.crash();
    for (let i = 0; i < 3; i++) {
      await world.pass(MINUTE);
      world = world.crash();
    }
    await world.pass(HOUR);
    expect(tasksByTime(world)).toEqual({ '2026-11-30T08:00': 1 });
    expect(world.reports()).toEqual([]);
  });

  it('a clock that is put back over its time, again and again, with restarts', async () => {
    let world = openScheduleWorld();
    world.add();
    for (let i = 0; i < 4; i++) {
      await world.setClock(AT_8 - MINUTE);
      await world.pass(2 * MINUTE);
      world = await world.restart();
    }
    await world.setClock(AT_8 + HOUR);
    expect(tasksByTime(world)).toEqual({ '2026-11-30T08:00': 1 });
    expect(world.reports()).toEqual([]);
  });

  it('a clock that is put forward over its time, and back', async () => {
    const world = openScheduleWorld();
    world.add();
    await world.setClock(AT_8 + MINUTE);
    await world.setClock(AT_8 - MINUTE);
    await world.pass(HOUR);
    expect(tasksByTime(world)).toEqual({ '2026-11-30T08:00': 1 });
  });

  it.each([
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '30 2 * * *', '2026-10-25T02:30'],
    ['America/New_York', '2026-11-01T04:00:00Z', '30 1 * * *', '2026-11-01T01:30'],
    ['Australia/Lord_Howe', '2027-04-03T13:00:00Z', '45 1 * * *', '2027-04-04T01:45'],
  ])('an hour that %s has twice', async (timezone, start, cron, time) => {
    let world = openScheduleWorld({ clock: new SimClock(Date.parse(start)) });
    world.add({ cron, timezone });
    for (let i = 0; i < 8; i++) {
      await world.pass(30 * MINUTE);
      world = await world.restart();
    }
    expect(tasksByTime(world)).toEqual({ [time]: 1 });
    expect(world.reports()).toEqual([]);
  });

  it.each([
    ['Europe/Berlin', '2027-03-28T00:00:00Z', '30 2 * * *', '2027-03-28T03:00'],
    ['America/New_York', '2027-03-14T06:00:00Z', '*/10 2 * * *', '2027-03-14T03:00'],
  ])('an hour that %s leaves out', async (timezone, start, cron, time) => {
    let world = openScheduleWorld({ clock: new SimClock(Date.parse(start)) });
    world.add({ cron, timezone });
    for (let i = 0; i < 4; i++) {
      await world.pass(30 * MINUTE);
      world = await world.restart();
    }
    expect(tasksByTime(world)).toEqual({ [time]: 1 });
  });

  it('a command that is sent twice, and a schedule that is paused and resumed at its time', async () => {
    const world = openScheduleWorld();
    world.add();
    expect(() => world.add()).toThrow('there is a schedule of this id');
    await world.pass(8 * HOUR);
    world.tasks.schedules.pause('s-1', 'USER');
    world.tasks.schedules.resume('s-1');
    await world.pass(HOUR);
    expect(tasksByTime(world)).toEqual({ '2026-11-30T08:00': 1 });
  });
});
