import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { SimClock } from '../../../config/contracts/sim-clock.js';
import { happens, type LocalMinute } from '../../support/schedule/reference-calendar.js';
import { missedBy, toldOf } from '../../support/schedule/scheduler-log.js';
import { removeTemporaryDirectories } from '../store/store-world.js';
import { MINUTE, openScheduleWorld, type ScheduleWorld } from './schedule-world.js';

afterEach(removeTemporaryDirectories);

/** Some hours before clocks are put back in Berlin; three weeks after they were put forward on Lord Howe. */
const START = Date.parse('2026-10-24T22:00:00Z');
const ZONES = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe'];
const RULES: { cron: string; matches: (t: LocalMinute) => boolean }[] = [
  { cron: '*/5 * * * *', matches: (t) => t.minute % 5 === 0 },
  { cron: '30 * * * *', matches: (t) => t.minute === 30 },
  { cron: '*/20 1-3 * * *', matches: (t) => t.minute % 20 === 0 && t.hour >= 1 && t.hour <= 3 },
];

/** What a schedule should have done, by the simplest of models: a span of time, less its pauses. */
interface Expected {
  id: string;
  zone: string;
  rule: (typeof RULES)[number];
  graceMs: number;
  from: number;
  /** Everything up to here has come, at some time or other. */
  to: number;
  active: boolean;
  removed: boolean;
  /** Open intervals in which nothing has to happen. */
  pauses: { after: number; to: number }[];
}

type Step =
  | { do: 'add'; zone: number; rule: number; graceMin: number }
  | { do: 'pause' | 'resume' | 'remove'; which: number }
  | { do: 'pass'; minutes: number }
  | { do: 'jump'; minutes: number }
  | { do: 'occupy' }
  | { do: 'free' }
  | { do: 'restart' }
  | { do: 'crash'; minutes: number };

const which = fc.nat(5);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('add' as const),
        zone: fc.nat(ZONES.length - 1),
        rule: fc.nat(RULES.length - 1),
        graceMin: fc.constantFrom(0, 2, 10, 45),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'remove' as const), which }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('jump' as const),
        minutes: fc.integer({ min: -150, max: 200 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('occupy' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('free' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('crash' as const), minutes: fc.integer({ min: 0, max: 20 }) }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 25 },
);

class Play {
  world: ScheduleWorld = openScheduleWorld({ clock: new SimClock(START) });
  readonly expected: Expected[] = [];

  async take(step: Step): Promise<void> {
    const { world } = this;
    if (step.do === 'add') this.#add(step);
    else if (step.do === 'pass') await world.pass(step.minutes * MINUTE);
    else if (step.do === 'jump') world.clock.jump(step.minutes * MINUTE);
    else if (step.do === 'occupy') world.submit('move', { timeoutMs: 50 * MINUTE });
    else if (step.do === 'free') for (const run of world.runs) if (!run.over) run.complete();
    if (step.do === 'restart') this.world = await world.restart();
    // In the middle of a turn: what it did and did not commit is lost.
    if (step.do === 'crash') {
      world.clock.advance(step.minutes * MINUTE);
      this.world = world.crash();
    }
    if (step.do === 'pause' || step.do === 'resume' || step.do === 'remove') this.#control(step);
    // Long enough to notice a clock that was set.
    await this.world.pass(31_000);
    this.#timePassed();
  }

  #timePassed(): void {
    for (const one of this.expected) if (one.active) one.to = Math.max(one.to, this.world.clock.now());
  }

  /** Nothing is in the way any more, and every grace runs out. */
  async end(): Promise<void> {
    for (let i = 0; i < 1000; i++) {
      await this.take({ do: 'free' });
      const now = this.world.clock.now();
      const open = this.world.tasks.schedules.list(100);
      const settled = open.every(({ blocked, nextAt }) => blocked === null && (nextAt ?? now + 1) > now);
      const last = Math.max(0, ...this.expected.filter((one) => one.active).map((one) => one.to));
      if (settled && now >= last) break;
      // A clock that was put back: what had come and was not settled comes again.
      if (!settled) continue;
      await this.world.pass(last - now);
      this.#timePassed();
    }
    for (const { id, active } of this.expected) if (active) this.world.tasks.schedules.pause(id, 'SYSTEM');
    await this.world.quiet();
  }

  #add({ zone, rule, graceMin }: Extract<Step, { do: 'add' }>): void {
    const id = `s-${this.expected.length}`;
    const one: Expected = {
      id,
      zone: ZONES[zone] ?? 'UTC',
      rule: RULES[rule] ?? fail(),
      graceMs: graceMin * MINUTE,
      from: this.world.clock.now(),
      to: this.world.clock.now(),
      active: true,
      removed: false,
      pauses: [],
    };
    this.world.add({
      schedule_id: id,
      cron: one.rule.cron,
      timezone: one.zone,
      missed_run_grace_ms: one.graceMs,
    });
    this.expected.push(one);
  }

  #control({ do: what, which }: Extract<Step, { do: 'pause' | 'resume' | 'remove' }>): void {
    const one = this.expected[which % Math.max(1, this.expected.length)];
    if (one === undefined || one.removed) return;
    const { schedules } = this.world.tasks;
    const now = this.world.clock.now();
    if (what === 'resume') {
      if (one.active) return;
      schedules.resume(one.id);
      const pause = one.pauses.at(-1);
      if (pause !== undefined) pause.to = Math.max(one.to, now);
      one.active = true;
      return;
    }
    if (what === 'pause' && !one.active) return;
    if (one.active) {
      // A blocked run is withdrawn, and what has come after it is passed over.
      const { nextAt } = schedules.get(one.id) ?? { nextAt: null };
      one.pauses.push({ after: (nextAt ?? now) - 1, to: Number.POSITIVE_INFINITY });
    }
    if (what === 'pause') schedules.pause(one.id, 'USER');
    else schedules.remove(one.id, 'USER');
    one.active = false;
    one.removed = what === 'remove';
  }
}

/** The reference goes from minute to minute. */
function wholeMinute(ms: number): number {
  return Math.floor(ms / MINUTE) * MINUTE;
}

function fail(): never {
  throw new Error('there is no such rule');
}

function check({ world, expected }: Play): void {
  const times = new Map(
    expected.map(
      (one) => [one.id, happens(one.zone, wholeMinute(one.from), one.to, one.rule.matches)] as const,
    ),
  );
  const between = (id: string, from: number, to: number) =>
    (times.get(id) ?? []).filter((time) => time >= from && time <= to);
  const events = world.events();
  const told = toldOf(events, between);
  for (const one of expected) {
    const found = told.get(one.id) ?? new Map();
    for (const time of times.get(one.id) ?? []) {
      const it = found.get(time) ?? { tasks: new Set(), missed: 0, withdrawn: 0 };
      const count = it.tasks.size + it.missed + it.withdrawn;
      const paused = one.pauses.some(({ after, to }) => time > after && time <= to);
      const what = `${one.id} ${one.rule.cron} ${one.zone} at ${new Date(time).toISOString()}`;
      if (paused) expect(count, what).toBeLessThanOrEqual(1);
      else expect(count, what).toBe(1);
    }
    const known = new Set(times.get(one.id));
    for (const time of found.keys())
      expect(known.has(time), `${one.id}: ${time} is no time of it`).toBe(true);
  }
  for (const event of events) {
    const one = expected.find(({ id }) => id === event.schedule_id);
    if (one === undefined) continue;
    const late = Date.parse(event.occurred_at) - Date.parse(event.scheduled_for ?? '');
    if (event.event === 'STARTED' && event.attempt === 1) {
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(one.graceMs);
    }
    if (event.reason_code !== 'MISSED_RUN_EXPIRED') continue;
    const missed = missedBy(event, (from, to) => between(one.id, from, to));
    const last = missed.at(-1) ?? 0;
    expect(Date.parse(event.occurred_at) - last).toBeGreaterThan(one.graceMs);
    if (event.evidence?.missed !== undefined) expect(event.evidence.missed).toBe(missed.length);
  }
}

describe('the scheduler, against a simple model', () => {
  it('gives every time of every schedule exactly one run or one report, whatever happens meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const play = new Play();
        for (const step of taken) await play.take(step);
        await play.end();
        check(play);
        await play.world.close();
      }),
      { numRuns: 40, endOnFailure: false },
    );
  }, 110_000);

  it('keeps a turn short with ten thousand schedules, of which only the due ones are looked at', async () => {
    const world = openScheduleWorld();
    for (let i = 0; i < 10_000; i++) {
      const cron = i === 7 ? '1 0 * * *' : '0 9 * * *';
      world.add({ schedule_id: `s-${i}`, cron });
    }
    await world.quiet();
    await world.pass(1);
    const before = process.cpuUsage();
    await world.pass(MINUTE);
    expect(world.begun()).toEqual(['2026-11-30T00:01:00.000+00:00']);
    const { user, system } = process.cpuUsage(before);
    // Two looks of half a minute and one run; reading ten thousand rows in each would take many times as long.
    expect((user + system) / 1000).toBeLessThan(500);
    expect(() => world.add({ schedule_id: 's-more' })).toThrow('there are 10000');
  }, 60_000);
});
