import fc from 'fast-check';
import rrule from 'rrule';
import { describe, expect, it } from 'vitest';
import { nextOccurrence } from '../../../daemon/task-manager/schedule/occurrence.js';
import { parseRecurrence } from '../../../daemon/task-manager/schedule/recurrence-parse.js';
import type { Rule } from '../../../daemon/task-manager/schedule/types.js';
import { instantOf, isZone, localOf } from '../../../daemon/task-manager/schedule/zone.js';
import { happens, type LocalMinute } from '../../support/schedule/reference-calendar.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Each with an instant shortly before something odd happens to its clocks. */
const CHANGES: readonly (readonly [zone: string, near: string])[] = [
  ['Europe/Berlin', '2027-03-28T00:00:00Z'],
  ['Europe/Berlin', '2026-10-25T00:00:00Z'],
  ['America/New_York', '2027-03-14T06:00:00Z'],
  ['America/New_York', '2026-11-01T05:00:00Z'],
  // Half an hour, not a whole one.
  ['Australia/Lord_Howe', '2026-10-03T15:00:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T14:00:00Z'],
  // Clocks go back for Ramadan.
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T01:00:00Z'],
  ['Asia/Seoul', '2026-12-01T00:00:00Z'],
  ['Asia/Seoul', '1988-05-07T15:00:00Z'],
  // 30 December 2011 did not happen.
  ['Pacific/Apia', '2011-12-30T09:00:00Z'],
  // Clocks are put back before midnight, into the day that has just ended.
  ['America/Havana', '2026-11-01T04:00:00Z'],
  // The gap is at midnight.
  ['Africa/Cairo', '2027-04-29T21:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T02:00:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
];

const zonesAndTimes = fc
  .record({ change: fc.constantFrom(...CHANGES), hours: fc.integer({ min: -40, max: 10 }) })
  .map(({ change: [zone, near], hours }) => ({ zone, from: Date.parse(near) + hours * 3_600_000 }));

/** All occurrences in (from, to]. */
function occurrences(rule: Rule, zone: string, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = from; ; ) {
    const next = nextOccurrence(rule, zone, at);
    if (next === null || next > to) return found;
    found.push(next);
    at = next;
  }
}

interface Field {
  text: string;
  has(value: number): boolean;
}

function field(min: number, max: number): fc.Arbitrary<Field> {
  const value = fc.integer({ min, max });
  return fc.oneof(
    fc.constant({ text: '*', has: () => true }),
    value.map((v) => ({ text: `${v}`, has: (x: number) => x === v })),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((list) => ({
      text: list.join(','),
      has: (x: number) => list.includes(x),
    })),
    fc.tuple(value, value).map(([a, b]) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      return { text: `${low}-${high}`, has: (x: number) => x >= low && x <= high };
    }),
    fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((step) => ({
      text: `*/${step}`,
      has: (x: number) => (x - min) % step === 0,
    })),
  );
}

/** Day of the month and day of the week: when both are given, either is enough, as in every cron. */
const cronPatterns = fc
  .record({
    minute: field(0, 59),
    hour: field(0, 23),
    day: field(1, 31),
    month: field(1, 12),
    weekday: field(0, 6),
  })
  .filter(({ day, weekday }) => day.text === '*' || !day.text.startsWith('*') || weekday.text === '*')
  .filter(({ day, weekday }) => weekday.text === '*' || !weekday.text.startsWith('*') || day.text === '*')
  .map(({ minute, hour, day, month, weekday }) => ({
    pattern: [minute, hour, day, month, weekday].map((f) => f.text).join(' '),
    matches: (t: LocalMinute) => {
      const both = day.text !== '*' && weekday.text !== '*';
      const onDay = both
        ? day.has(t.day) || weekday.has(t.weekday)
        : day.has(t.day) && weekday.has(t.weekday);
      return minute.has(t.minute) && hour.has(t.hour) && month.has(t.month) && onDay;
    },
  }));

describe('the next occurrence of a cron pattern', () => {
  it('is what a walk over every minute of real time finds, in zones whose clocks do odd things', () => {
    fc.assert(
      fc.property(zonesAndTimes, cronPatterns, ({ zone, from }, { pattern, matches }) => {
        const to = from + 2 * DAY;
        expect(occurrences({ kind: 'cron', pattern }, zone, from, to)).toEqual(
          happens(zone, from, to, matches),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('happens at the first minute after a gap, once', () => {
    const at = (pattern: string) =>
      occurrences(
        { kind: 'cron', pattern },
        'Europe/Berlin',
        Date.parse('2027-03-28T00:45:00Z'),
        Date.parse('2027-03-28T01:20:00Z'),
      );
    expect(at('30 2 * * *')).toEqual([Date.parse('2027-03-28T01:00:00Z')]);
    expect(at('*/10 2 * * *')).toEqual([Date.parse('2027-03-28T01:00:00Z')]);
    expect(at('0 2,3 * * *')).toEqual([Date.parse('2027-03-28T01:00:00Z')]);
  });

  it('happens the first time where a local time comes twice', () => {
    const found = occurrences(
      { kind: 'cron', pattern: '30 2 * * *' },
      'Europe/Berlin',
      Date.parse('2026-10-24T12:00:00Z'),
      Date.parse('2026-10-25T12:00:00Z'),
    );
    expect(found).toEqual([Date.parse('2026-10-25T00:30:00Z')]);
  });

  it('on a day that was left out happens as the next day begins', () => {
    const found = occurrences(
      { kind: 'cron', pattern: '0 8 * * *' },
      'Pacific/Apia',
      Date.parse('2011-12-29T00:00:00Z'),
      Date.parse('2012-01-01T00:00:00Z'),
    );
    expect(found.map((at) => new Date(at).toISOString())).toEqual([
      '2011-12-29T18:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T18:00:00.000Z',
      '2011-12-31T18:00:00.000Z',
    ]);
  });

  it('is null for a day that no year has', () => {
    expect(nextOccurrence({ kind: 'cron', pattern: '0 0 31 2 *' }, 'Asia/Seoul', Date.now())).toBeNull();
  });
});

const START = Date.UTC(2026, 10, 30, 8, 15, 0);
const upTo = (n: number) => [...Array(n).keys()].join(',');
/** In order: the reference gives the times of a day in the order in which they are written. */
const list = (min: number, max: number, most = 3) =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: most })
    .map((values) => values.sort((a, b) => a - b));
const opt = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const weekdays = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU');

const recurrences = fc
  .record({
    FREQ: fc.constantFrom('HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'),
    INTERVAL: fc.integer({ min: 1, max: 5 }),
    COUNT: opt(fc.integer({ min: 1, max: 20 })),
    BYMONTH: opt(list(1, 12)),
    BYMONTHDAY: opt(
      fc.uniqueArray(fc.constantFrom(1, 2, 15, 28, 30, 31, -1, -2, -15), { minLength: 1, maxLength: 3 }),
    ),
    BYYEARDAY: opt(fc.uniqueArray(fc.constantFrom(1, 60, 200, 366, -1, -60), { minLength: 1, maxLength: 3 })),
    BYDAY: opt(fc.uniqueArray(weekdays, { minLength: 1, maxLength: 3 })),
    nth: opt(fc.constantFrom(1, 2, 4, 5, -1, -2)),
    BYHOUR: opt(list(0, 23)),
    BYMINUTE: opt(list(0, 59)),
    // One at a time and not −2: the reference gives one time twice, and of a single one its last but one.
    BYSETPOS: opt(fc.constantFrom(1, 2, 3, -1)),
    WKST: opt(weekdays),
  })
  .map(({ nth, BYDAY, ...parts }) => ({
    ...parts,
    BYDAY: BYDAY?.map((day) => `${nth ?? ''}${day}`),
  }))
  .map((parts) =>
    Object.entries(parts)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(';'),
  )
  .filter((text) => {
    try {
      parseRecurrence(text, 'UTC');
      return true;
    } catch {
      return false;
    }
  });

/** Occurrences after which the reference gives up. */
const MOST = 4_000;

/** Of these the reference looks at every hour or day up to the year 9999 when it finds nothing. */
const SHORT = /FREQ=(HOURLY|DAILY|WEEKLY)/;

/** Hours that a step of this many never comes to keep the reference in an endless loop. */
function stepsPastHours(text: string): boolean {
  const interval = Number(/INTERVAL=(\d+)/.exec(text)?.[1] ?? 1);
  return text.includes('HOURLY') && text.includes('BYHOUR') && 24 % interval === 0 && interval > 1;
}

/** rrule.js on UTC, where it has no zone to get wrong; null where it would take too long to answer. */
function reference(text: string, anchorLocal: number, fromLocal: number, toLocal: number): number[] | null {
  if (stepsPastHours(text)) return null;
  const options = rrule.RRule.parseString(text);
  const rule = new rrule.RRule({
    ...options,
    bysecond: [0],
    dtstart: new Date(anchorLocal),
    until: new Date(toLocal),
  });
  const all = rule.all((_date, i) => i < MOST);
  return all.length >= MOST ? null : all.map((date) => date.getTime()).filter((at) => at >= fromLocal);
}

describe('the next occurrence of a recurrence rule', () => {
  it('is what rrule.js finds on a calendar without zones', () => {
    fc.assert(
      fc.property(recurrences, fc.integer({ min: 0, max: 700 }), (text, days) => {
        const from = START + days * DAY + 7 * 3_600_000;
        const to = from + (text.includes('HOURLY') ? 20 : 400) * DAY;
        const rule: Rule = { kind: 'rrule', text, anchorLocal: START };
        fc.pre(!SHORT.test(text) || nextOccurrence(rule, 'UTC', START - 1) !== null);
        const expected = reference(text, START, from + 1, to);
        fc.pre(expected !== null);
        expect(occurrences(rule, 'UTC', from, to).slice(0, 50), text).toEqual(expected?.slice(0, 50));
      }),
      { numRuns: 200 },
    );
  });

  it('keeps its local time of day over a change of the clocks', () => {
    const rule: Rule = { kind: 'rrule', text: 'FREQ=DAILY;BYHOUR=8;BYMINUTE=0', anchorLocal: START };
    const found = occurrences(
      rule,
      'Europe/Berlin',
      Date.parse('2027-03-27T00:00:00Z'),
      Date.parse('2027-03-29T12:00:00Z'),
    );
    expect(found.map((at) => new Date(at).toISOString())).toEqual([
      '2027-03-27T07:00:00.000Z',
      '2027-03-28T06:00:00.000Z',
      '2027-03-29T06:00:00.000Z',
    ]);
  });

  it('reads weeks of the year', () => {
    const rule: Rule = { kind: 'rrule', text: 'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO', anchorLocal: START };
    expect(occurrences(rule, 'UTC', START, START + 600 * DAY)).toEqual([
      Date.UTC(2027, 4, 17, 8, 15),
      Date.UTC(2028, 4, 15, 8, 15),
    ]);
  });

  it('ends after COUNT, and at UNTIL', () => {
    // The last moment of UNTIL is 8:59:59 in the morning of the third in Seoul.
    const counted: Rule = { kind: 'rrule', text: 'FREQ=DAILY;COUNT=3', anchorLocal: START };
    expect(occurrences(counted, 'UTC', START - 1, START + 100 * DAY)).toHaveLength(3);
    const until: Rule = { kind: 'rrule', text: 'FREQ=DAILY;UNTIL=20261202T235959Z', anchorLocal: START };
    expect(occurrences(until, 'Asia/Seoul', START - DAY, START + 100 * DAY)).toHaveLength(4);
  });

  it('answers within milliseconds, also for a rule that nobody can meet and for one that is ten years old', () => {
    const years = START - 3653 * DAY;
    const rules = [
      'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=MINUTELY',
      'FREQ=HOURLY;INTERVAL=2;BYHOUR=1',
      'FREQ=MINUTELY;INTERVAL=2;BYMINUTE=7',
      // Half a million times a year.
      `FREQ=YEARLY;BYDAY=MO,TU;BYHOUR=${upTo(24)};BYMINUTE=${upTo(60)}`,
    ];
    const answers = rules.map((text) =>
      nextOccurrence({ kind: 'rrule', text, anchorLocal: years + 45 * MINUTE }, 'UTC', START),
    );
    expect(answers[0]).toBeNull();
    expect(answers[1]).toBe(START + MINUTE);
    expect(answers[2]).not.toBeNull();
    expect(answers[4]).toBe(START + MINUTE);
    expect(answers[3]).toBeNull();
  });
});

describe('what cannot be read', () => {
  it.each([
    ['', 'no rule'],
    ['FREQ=SECONDLY', 'FREQ'],
    ['FREQ=DAILY;FREQ=DAILY', 'twice'],
    ['FREQ=DAILY;BYHOUR=24', 'BYHOUR: found 24; allowed are 0–23'],
    ['FREQ=DAILY;COUNT=5000', 'COUNT'],
    ['FREQ=DAILY;COUNT=1;UNTIL=20300101', 'not together with UNTIL'],
    ['FREQ=DAILY;BYEASTER=1', 'found BYEASTER'],
    ['FREQ=DAILY;BYDAY=1MO', 'only with FREQ=MONTHLY'],
    ['FREQ=DAILY;UNTIL=20300231', 'no such date'],
    ['DTSTART;TZID=Europe/Paris:20261201T080000\nFREQ=DAILY', 'TZID'],
    ['FREQ=DAILY\nEXDATE:20261201T080000', 'several lines'],
  ])('%j is refused with words about %j', (text, words) => {
    expect(() => parseRecurrence(text, 'Europe/Berlin')).toThrow(words);
  });

  it('never throws anything but a RangeError, and never takes long', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => {
        try {
          parseRecurrence(text, 'UTC');
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe('zones', () => {
  it('are IANA names', () => {
    expect(['Asia/Seoul', 'UTC', 'America/Argentina/Ushuaia', 'EST5EDT'].every(isZone)).toBe(true);
    expect(['+09:00', 'Mars/Olympus', '', 'Asia/Seoul ', '../etc/passwd'].some(isZone)).toBe(false);
  });

  it('turn an instant into a local time and back, the first of two', () => {
    fc.assert(
      fc.property(zonesAndTimes, fc.integer({ min: 0, max: 3 * 1440 }), ({ zone, from }, minutes) => {
        const at = from + minutes * MINUTE;
        const back = instantOf(zone, localOf(zone, at));
        expect(back).toBeLessThanOrEqual(at);
        expect(localOf(zone, back)).toBe(localOf(zone, at));
      }),
    );
  });
});
