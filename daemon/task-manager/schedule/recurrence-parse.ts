/** Reads a recurrence rule (RFC 5545, 3.3.10), with an optional DTSTART line before it. */
import { localOf } from './zone.js';

export const FREQUENCIES = ['MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
export type Frequency = (typeof FREQUENCIES)[number];

/** Sunday 0 … Saturday 6, as in `Date`. */
export type Weekday = number;

export interface Recurrence {
  freq: Frequency;
  interval: number;
  count: number | null;
  /** Local time, inclusive. */
  until: number | null;
  byMonth: readonly number[];
  byMonthDay: readonly number[];
  byYearDay: readonly number[];
  byWeekNo: readonly number[];
  /** `nth` 0: every one of the period. */
  byDay: readonly { weekday: Weekday; nth: number }[];
  byHour: readonly number[];
  byMinute: readonly number[];
  bySecond: number | null;
  bySetPos: readonly number[];
  weekStart: Weekday;
  /** Local time. */
  dtstart: number | null;
}

const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
export const MAX_COUNT = 1_000;
const MAX_INTERVAL = 1_000;
const MAX_LIST = 366;
const PARTS =
  'FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, BYMONTHDAY, BYYEARDAY, BYWEEKNO, BYDAY, BYHOUR, BYMINUTE, BYSECOND, BYSETPOS and WKST';

/** Throws `RangeError` that names the part, what was found and what is allowed. */
export function parseRecurrence(text: string, zone: string): Recurrence {
  const { dtstart, rule } = lines(text, zone);
  const parts = partsOf(rule);
  const recurrence = read(parts, zone, dtstart);
  for (const name of parts.keys()) throw new RangeError(`found ${name}; allowed are ${PARTS}`);
  judge(recurrence);
  return recurrence;
}

function lines(text: string, zone: string): { dtstart: number | null; rule: string } {
  const all = text.split(/\r?\n/).filter((line) => line !== '');
  const start = all[0]?.startsWith('DTSTART') === true ? all.shift() : undefined;
  const [rule, more] = all;
  if (rule === undefined) throw new RangeError('found no rule; an example is FREQ=DAILY;BYHOUR=8;BYMINUTE=0');
  if (more !== undefined) {
    throw new RangeError('found several lines; allowed is one rule, after a DTSTART line at most');
  }
  return { dtstart: start === undefined ? null : dtstartOf(start, zone), rule: rule.replace(/^RRULE:/, '') };
}

function dtstartOf(line: string, zone: string): number {
  const match = /^DTSTART(?:;TZID=([^:;]+))?:(\d{8}T\d{6})(Z?)$/.exec(line);
  const [, tzid, stamp, utc] = match ?? [];
  if (stamp === undefined) {
    throw new RangeError(
      `found ${line.slice(0, 40)}; allowed is DTSTART:20261201T080000, in the schedule's timezone`,
    );
  }
  if (tzid !== undefined && tzid !== zone) {
    throw new RangeError(
      `DTSTART: found TZID=${tzid.slice(0, 40)}; allowed is the schedule's timezone, ${zone}`,
    );
  }
  return moment('DTSTART', stamp, utc === 'Z', zone);
}

function partsOf(rule: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of rule.split(';')) {
    const [name = '', value] = part.split('=', 2);
    const key = name.toUpperCase();
    if (value === undefined || value === '' || !/^[A-Z]+$/.test(key)) {
      throw new RangeError(
        `found ${JSON.stringify(part.slice(0, 40))}; allowed are NAME=VALUE parts with ";" between`,
      );
    }
    if (parts.has(key)) throw new RangeError(`${key}: found twice`);
    parts.set(key, value.toUpperCase());
  }
  return parts;
}

function read(parts: Map<string, string>, zone: string, dtstart: number | null): Recurrence {
  const take = (name: string) => {
    const value = parts.get(name);
    parts.delete(name);
    return value;
  };
  const numbers = (name: string, low: number, high: number, signed = false) =>
    numbersOf(name, take(name), low, high, signed);
  const one = (name: string, low: number, high: number): number | null => {
    const [value, more] = numbers(name, low, high);
    if (more !== undefined) throw new RangeError(`${name}: allowed is one value`);
    return value ?? null;
  };
  return {
    freq: frequencyOf(take('FREQ')),
    interval: one('INTERVAL', 1, MAX_INTERVAL) ?? 1,
    count: one('COUNT', 1, MAX_COUNT),
    until: untilOf(take('UNTIL'), zone),
    byMonth: numbers('BYMONTH', 1, 12),
    byMonthDay: numbers('BYMONTHDAY', 1, 31, true),
    byYearDay: numbers('BYYEARDAY', 1, 366, true),
    byWeekNo: numbers('BYWEEKNO', 1, 53, true),
    byDay: daysOf(take('BYDAY')),
    byHour: numbers('BYHOUR', 0, 23),
    byMinute: numbers('BYMINUTE', 0, 59),
    bySecond: one('BYSECOND', 0, 59),
    bySetPos: numbers('BYSETPOS', 1, 366, true),
    weekStart: weekdayOf('WKST', take('WKST') ?? 'MO'),
    dtstart,
  };
}

function frequencyOf(value: string | undefined): Frequency {
  const known = FREQUENCIES.find((freq) => freq === value);
  if (known !== undefined) return known;
  throw new RangeError(`FREQ: found ${value ?? 'nothing'}; allowed are ${FREQUENCIES.join(', ')}`);
}

function numbersOf(
  name: string,
  text: string | undefined,
  low: number,
  high: number,
  signed: boolean,
): number[] {
  if (text === undefined) return [];
  const words = text.split(',');
  const allowed = `allowed are ${low}–${high}${signed ? ` and −${high}–−${low}` : ''}`;
  if (words.length > MAX_LIST)
    throw new RangeError(`${name}: found ${words.length} values; allowed are ${MAX_LIST}`);
  const values = words.map((word) => {
    const value = /^[+-]?\d{1,4}$/.test(word) ? Number(word) : Number.NaN;
    const size = signed ? Math.abs(value) : value;
    if (size >= low && size <= high) return value;
    throw new RangeError(`${name}: found ${word.slice(0, 20) || 'nothing'}; ${allowed}`);
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

function daysOf(text: string | undefined): Recurrence['byDay'] {
  if (text === undefined) return [];
  return text.split(',', MAX_LIST).map((word) => {
    const match = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(word);
    const nth = Number(match?.[1] ?? 0);
    if (match === null || Math.abs(nth) > 53 || (match[1] !== undefined && nth === 0)) {
      throw new RangeError(`BYDAY: found ${word.slice(0, 20)}; allowed are MO, TU … and 1MO, -1FR …`);
    }
    return { weekday: weekdayOf('BYDAY', match[2] ?? ''), nth };
  });
}

function weekdayOf(name: string, word: string): Weekday {
  const weekday = WEEKDAYS.indexOf(word);
  if (weekday >= 0) return weekday;
  throw new RangeError(`${name}: found ${word.slice(0, 20)}; allowed are ${WEEKDAYS.join(', ')}`);
}

/** A date alone means its whole day. */
function untilOf(text: string | undefined, zone: string): number | null {
  if (text === undefined) return null;
  const match = /^(\d{8})(T\d{6})?(Z?)$/.exec(text);
  if (match === null) throw new RangeError(`UNTIL: found ${text.slice(0, 20)}; allowed is 20271231T235959Z`);
  return moment('UNTIL', `${match[1]}${match[2] ?? 'T235959'}`, match[3] === 'Z', zone);
}

/** Local time of `20261201T080000`; `utc`: it is UTC and is shown in the zone. */
function moment(name: string, stamp: string, utc: boolean, zone: string): number {
  const field = (from: number, to: number) => Number(stamp.slice(from, to));
  const [year, month, day] = [field(0, 4), field(4, 6), field(6, 8)];
  const [hour, minute, second] = [field(9, 11), field(11, 13), field(13, 15)];
  const value = Date.UTC(year, month - 1, day, hour, minute, second);
  const written = new Date(value).toISOString().replace(/[-:]/g, '').slice(0, 15);
  if (written !== stamp || year < 1970)
    throw new RangeError(`${name}: found ${stamp}; there is no such date and time`);
  return utc ? localOf(zone, value) : value;
}

/** Combinations that RFC 5545 excludes, or that nobody could mean. */
function judge(rule: Recurrence): void {
  const { freq, byDay, byMonthDay, byYearDay, byWeekNo, bySetPos } = rule;
  const given = (list: readonly unknown[]) => list.length > 0;
  const refuse = (part: string, why: string) => {
    throw new RangeError(`${part}: ${why}`);
  };
  if (rule.count !== null && rule.until !== null) refuse('COUNT', 'not together with UNTIL');
  if (given(byMonthDay) && freq === 'WEEKLY') refuse('BYMONTHDAY', 'not with FREQ=WEEKLY');
  if (given(byYearDay) && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(freq))
    refuse('BYYEARDAY', `not with FREQ=${freq}`);
  if (given(byWeekNo) && freq !== 'YEARLY') refuse('BYWEEKNO', 'only with FREQ=YEARLY');
  if (given(byWeekNo) && !given(byDay)) refuse('BYWEEKNO', 'needs BYDAY');
  const ordinals = byDay.some(({ nth }) => nth !== 0);
  if (ordinals && freq !== 'MONTHLY' && freq !== 'YEARLY') {
    refuse('BYDAY', 'a number before a weekday goes only with FREQ=MONTHLY and FREQ=YEARLY');
  }
  if (ordinals && given(byWeekNo)) refuse('BYDAY', 'no number before a weekday with BYWEEKNO');
  const others = [rule.byMonth, byMonthDay, byYearDay, byWeekNo, byDay, rule.byHour, rule.byMinute];
  if (given(bySetPos) && !others.some(given)) refuse('BYSETPOS', 'needs another BY… part to choose from');
}
