import { describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../config/contracts/log.js';
import type { TaskEvent } from '../../../config/contracts/wire/events.js';
import { HomeKeeper } from '../../../daemon/context/home-keeper.js';
import type { PersistedSnapshot } from '../../../state-machines/types.js';
import { testContext } from '../../support/context.js';

const living = { x: 4.6, y: 3.4, theta: 0 };

function keeper(options: { kept?: Map<string, PersistedSnapshot>; refuses?: boolean } = {}) {
  const robot = testContext({ pose: living });
  const kept = options.kept ?? new Map<string, PersistedSnapshot>();
  const seen = { sent: 0, said: [] as string[], going: false, before: true, moving: false };
  let hear: (event: TaskEvent) => void = () => {};
  const make = () =>
    new HomeKeeper({
      clock: robot.clock,
      log: SILENT_LOG,
      state: robot.state,
      snapshots: {
        loadSnapshot: (key) => kept.get(key) ?? null,
        saveSnapshot: (key, snapshot) => void kept.set(key, snapshot),
      },
      onTaskEvent: (listener) => {
        hear = listener;
        return () => {};
      },
      goingHome: () => seen.going,
      beforeStation: () => seen.before,
      moving: () => seen.moving,
      goHome: () => {
        seen.sent++;
        if (options.refuses === true) throw new Error('the base does not report');
      },
      say: (what) => void seen.said.push(what),
    });
  const home = make();
  const tell = (event: string, method: string, reason: string | null = null) =>
    hear({ event, method, reason_code: reason } as TaskEvent);
  return { robot, kept, seen, home, tell, make };
}

const minutes = (n: number) => n * 60_000;

describe('the way home', () => {
  it('is taken once when the battery is low away from the station, and not again for half an hour', async () => {
    const { robot, seen, home } = keeper();
    await robot.clock.advanceAsync(10_000);
    expect(seen.sent).toBe(0);
    robot.amr.battery = 10;
    await robot.clock.advanceAsync(minutes(29));
    expect(seen.sent).toBe(1);
    await robot.clock.advanceAsync(minutes(2));
    expect(seen.sent).toBe(2);
    robot.amr.putOnStation(true);
    await robot.clock.advanceAsync(minutes(60));
    expect(seen.sent).toBe(2);
    home.close();
  });

  it('is tried again after it failed, each time later, five times; it says so once, and asks for help at the end', async () => {
    const { robot, seen, tell, home } = keeper();
    const at: number[] = [];
    tell('FAILED', 'returnToStation', 'HARDWARE_FAULT');
    for (let second = 0; second < 3600; second++) {
      const before = seen.sent;
      await robot.clock.advanceAsync(1000);
      if (seen.sent === before) continue;
      at.push(second);
      tell('FAILED', 'returnToStation', 'OBSTRUCTED');
    }
    expect(at.map((second, i) => Math.round((second - (at[i - 1] ?? 0)) / 60))).toEqual([1, 2, 5, 10, 20]);
    expect(seen.said).toEqual(['tries_again', 'needs_help']);
    expect(home.counters()).toEqual({ home_tries: 5, home_failures: 6, home_given_up: 1 });
    home.close();
  });

  it('is not tried again after somebody cancelled it, stopped the robot, or sent it elsewhere', async () => {
    for (const [event, method, reason] of [
      ['CANCELLED', 'returnToStation', 'CANCELLED'],
      ['FAILED', 'returnToStation', 'EMERGENCY_STOP'],
      ['STARTED', 'setMoveTo', null],
    ] as const) {
      const { robot, seen, tell, home } = keeper();
      if (method === 'setMoveTo') tell('FAILED', 'returnToStation', 'HARDWARE_FAULT');
      tell(event, method, reason);
      await robot.clock.advanceAsync(minutes(90));
      expect(seen.sent).toBe(0);
      home.close();
    }
  });

  it('is still wanted after a restart, at the same time', async () => {
    const first = keeper();
    first.tell('FAILED', 'returnToStation', 'HARDWARE_FAULT');
    await first.robot.clock.advanceAsync(30_000);
    first.home.close();
    const second = first.make();
    await first.robot.clock.advanceAsync(26_000);
    expect(first.seen.sent).toBe(0);
    await first.robot.clock.advanceAsync(8_000);
    expect(first.seen.sent).toBe(1);
    second.close();
  });

  it('is taken by a robot that was pushed off its contacts, not by one that drove off or was carried away', async () => {
    for (const [before, moving, sent] of [
      [true, false, 1],
      [true, true, 0],
      [false, false, 0],
    ] as const) {
      const { robot, seen, home } = keeper();
      robot.amr.putOnStation(true);
      await robot.clock.advanceAsync(10_000);
      Object.assign(seen, { before, moving });
      robot.amr.putOnStation(false);
      await robot.clock.advanceAsync(15_000);
      expect(seen.sent).toBe(0);
      await robot.clock.advanceAsync(15_000);
      expect(seen.sent).toBe(sent);
      home.close();
    }
  });

  it('that is refused counts as a failure: it is tried later, not every two seconds', async () => {
    const { robot, seen, home } = keeper({ refuses: true });
    robot.amr.battery = 10;
    await robot.clock.advanceAsync(minutes(10));
    expect(seen.sent).toBe(4);
    home.close();
  });
});
