/**
 * Finds the local times of a recurrence rule by walking over its periods. Every walk is bounded by the horizon, so a
 * rule that nobody can meet costs milliseconds (see docs/decisions/recurrence-rules.md).
 */

import type { Recurrence } from './recurrence-parse.js';
import type { LocalRule } from './types.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4;
/** How far ahead an occurrence is looked for, days: the calendar repeats after 28 years; leap days within 8. */
const HORIZON_DAYS = 28 * 366;
const HORIZON_DAYS_SUB_DAILY = 9 * 366;

/** `anchor`: local time that stands for DTSTART where the rule has none. */
export function recurrenceRule(rule: Recurrence, anchor: number): LocalRule {
  const start = floorTo(rule.dtstart ?? anchor, SECOND);
  const walker = walkerOf(rule, start);
  return {
    next(fromLocal) {
      const from = Math.max(fromLocal, start);
      if (rule.count !== null) return nextCounted(rule.count, walker, start, from);
      for (const local of walker(from)) {
        if (rule.until !== null && local > rule.until) return null;
        if (local >= from) return local;
      }
      return null;
    },
  };
}

/** Counted from DTSTART on, whatever is asked for. */
function nextCounted(count: number, walker: Walker, start: number, from: number): number | null {
  let left = count;
  for (const local of walker(start)) {
    if (local < start) continue;
    if (local >= from) return local;
    if (--left === 0) return null;
  }
  return null;
}

/** Local times in order, from the period that `from` is in, until the horizon behind it. */
type Walker = (from: number) => Generator<number>;

function walkerOf(rule: Recurrence, start: number): Walker {
  switch (rule.freq) {
    case 'MINUTELY':
      return (from) => walkWithinDays(rule, start, from, MINUTE);
    case 'HOURLY':
      return (from) => walkWithinDays(rule, start, from, HOUR);
    default:
      return (from) => walkDays(rule, start, from);
  }
}

/** DAILY and longer: periods are runs of whole days. */
function* walkDays(rule: Recurrence, start: number, from: number): Generator<number> {
  const period = PERIODS[rule.freq === 'MINUTELY' || rule.freq === 'HOURLY' ? 'DAILY' : rule.freq];
  const matches = dayFilter(rule, start);
  const times = timesOf(rule, start);
  const first = period.index(dayOf(start), rule);
  const lastDay = dayOf(from) + HORIZON_DAYS;
  for (let index = aligned(first, period.index(dayOf(from), rule), rule.interval); ; index += rule.interval) {
    const { begin, end } = period.days(index, rule);
    if (begin > lastDay) return;
    if (rule.bySetPos.length > 0) {
      const days: number[] = [];
      for (let day = begin; day < end; day++) if (matches(day)) days.push(day);
      yield* positions(rule.bySetPos, days, times);
    } else {
      // Days before `from` are of no interest, and a year may have half a million times.
      for (let day = Math.max(begin, dayOf(from)); day < end; day++) {
        if (matches(day)) for (const time of times) yield day * DAY + time;
      }
    }
  }
}

/** Those of the times of one period that BYSETPOS chooses. */
function positions(bySetPos: readonly number[], days: readonly number[], times: readonly number[]): number[] {
  const at = (i: number) => (days[Math.floor(i / times.length)] ?? 0) * DAY + (times[i % times.length] ?? 0);
  return chosenOf(bySetPos, days.length * times.length).map(at);
}

function chosenOf(bySetPos: readonly number[], size: number): number[] {
  const indexes = bySetPos.map((pos) => (pos > 0 ? pos - 1 : size + pos));
  return [...new Set(indexes.filter((i) => i >= 0 && i < size))].sort((a, b) => a - b);
}

/** HOURLY and MINUTELY: days that match are looked into, hour by hour or minute by minute. */
function* walkWithinDays(rule: Recurrence, start: number, from: number, unit: number): Generator<number> {
  const matches = dayFilter(rule, start);
  const first = Math.floor(start / unit);
  const perDay = DAY / unit;
  const lastDay = dayOf(from) + HORIZON_DAYS_SUB_DAILY;
  const hours = new Set(rule.byHour);
  const minutes = new Set(unit === MINUTE ? rule.byMinute : []);
  for (let day = dayOf(from); day <= lastDay; day++) {
    if (!matches(day)) continue;
    const begin = Math.max(day * perDay, Math.floor(from / unit));
    for (let i = aligned(first, begin, rule.interval); i < (day + 1) * perDay; i += rule.interval) {
      // Asked first and without ado: of a rule that steps past its own hours there are millions.
      if (hours.size > 0 && !hours.has(Math.floor((i * unit) / HOUR) % 24)) continue;
      if (minutes.size > 0 && !minutes.has(i % 60)) continue;
      yield* within(rule, start, i * unit, unit);
    }
  }
}

/** The times of one hour or minute that the rule lets through. */
function within(rule: Recurrence, start: number, begin: number, unit: number): number[] {
  const second = (rule.bySecond ?? Math.floor(start / SECOND) % 60) * SECOND;
  const minutes = unit === HOUR ? orElse(rule.byMinute, Math.floor(start / MINUTE) % 60) : [0];
  const all = minutes.map((minute) => begin + minute * MINUTE + second);
  if (rule.bySetPos.length === 0) return all;
  return chosenOf(rule.bySetPos, all.length).map((i) => all[i] ?? begin);
}

/** Times of a day, ms from midnight, in order. */
function timesOf(rule: Recurrence, start: number): number[] {
  const hours = orElse(rule.byHour, Math.floor(start / HOUR) % 24);
  const minutes = orElse(rule.byMinute, Math.floor(start / MINUTE) % 60);
  const second = (rule.bySecond ?? Math.floor(start / SECOND) % 60) * SECOND;
  return hours.flatMap((hour) => minutes.map((minute) => hour * HOUR + minute * MINUTE + second));
}

function orElse(list: readonly number[], otherwise: number): readonly number[] {
  return list.length > 0 ? list : [otherwise];
}

type DayFilter = (day: number) => boolean;

/** Whether a day can be one of the rule's; what the rule leaves open follows DTSTART (RFC 5545, 3.3.10). */
function dayFilter(rule: Recurrence, start: number): DayFilter {
  const { freq, byMonth, byMonthDay, byYearDay, byWeekNo, byDay } = rule;
  const begun = dateOf(dayOf(start));
  const open = byMonthDay.length + byYearDay.length + byWeekNo.length + byDay.length === 0;
  const months = open && freq === 'YEARLY' && byMonth.length === 0 ? [begun.month] : byMonth;
  const monthDays = open && (freq === 'YEARLY' || freq === 'MONTHLY') ? [begun.day] : byMonthDay;
  const days = open && freq === 'WEEKLY' ? [{ weekday: weekdayOf(dayOf(start)), nth: 0 }] : byDay;
  // A number before a weekday counts within the month, in a yearly rule without BYMONTH within the year.
  const withinMonth = freq === 'MONTHLY' || months.length > 0;
  return (day) => {
    const date = dateOf(day);
    if (months.length > 0 && !months.includes(date.month)) return false;
    if (monthDays.length > 0 && !hasFromEitherEnd(monthDays, date.day, daysInMonth(date))) return false;
    if (byYearDay.length > 0 && !hasFromEitherEnd(byYearDay, dayOfYear(day, date), daysInYear(date.year)))
      return false;
    if (byWeekNo.length > 0 && !inWeek(byWeekNo, day, rule.weekStart)) return false;
    if (days.length === 0) return true;
    const weekday = weekdayOf(day);
    return days.some((wanted) => wanted.weekday === weekday && isNth(wanted.nth, day, date, withinMonth));
  };
}

/** `−1` is the last of `size`. */
function hasFromEitherEnd(list: readonly number[], value: number, size: number): boolean {
  return list.includes(value) || list.includes(value - size - 1);
}

function isNth(nth: number, day: number, date: CalendarDate, withinMonth: boolean): boolean {
  if (nth === 0) return true;
  const place = withinMonth ? date.day : dayOfYear(day, date);
  const size = withinMonth ? daysInMonth(date) : daysInYear(date.year);
  return nth > 0 ? Math.ceil(place / 7) === nth : Math.ceil((size - place + 1) / 7) === -nth;
}

/** Weeks are numbered as in ISO 8601, from the one that holds four days of the year, with the week's start of the rule. */
function inWeek(byWeekNo: readonly number[], day: number, weekStart: number): boolean {
  const begin = weekBegin(day, weekStart);
  // The year that has most of the week's days.
  const { year } = dateOf(begin + 3);
  const first = firstWeek(year, weekStart);
  const weeks = (firstWeek(year + 1, weekStart) - first) / 7;
  return hasFromEitherEnd(byWeekNo, (begin - first) / 7 + 1, weeks);
}

/** The day on which the year's week 1 begins. */
function firstWeek(year: number, weekStart: number): number {
  return weekBegin(dayNumber(year, 1, 4), weekStart);
}

interface Period {
  /** Which period a day is in; numbered without gaps. */
  index(day: number, rule: Recurrence): number;
  /** Its days, `end` excluded. */
  days(index: number, rule: Recurrence): { begin: number; end: number };
}

const PERIODS: Record<'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY', Period> = {
  DAILY: { index: (day) => day, days: (index) => ({ begin: index, end: index + 1 }) },
  WEEKLY: {
    index: (day, rule) => Math.floor((day + EPOCH_WEEKDAY - rule.weekStart) / 7),
    days: (index, rule) => {
      const begin = index * 7 - EPOCH_WEEKDAY + rule.weekStart;
      return { begin, end: begin + 7 };
    },
  },
  MONTHLY: {
    index: (day) => {
      const { year, month } = dateOf(day);
      return year * 12 + month - 1;
    },
    days: (index) => ({ begin: monthBegin(index), end: monthBegin(index + 1) }),
  },
  YEARLY: {
    index: (day) => dateOf(day).year,
    days: (year) => ({ begin: dayNumber(year, 1, 1), end: dayNumber(year + 1, 1, 1) }),
  },
};

/** The first of `first`, `first + interval`, … that is not before `from`'s own period. */
function aligned(first: number, from: number, interval: number): number {
  return from <= first ? first : first + Math.ceil((from - first) / interval) * interval;
}

interface CalendarDate {
  year: number;
  /** 1–12 */
  month: number;
  day: number;
}

function dateOf(day: number): CalendarDate {
  const date = new Date(day * DAY);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function dayNumber(year: number, month: number, day: number): number {
  return Math.round(Date.UTC(year, month - 1, day) / DAY);
}

function monthBegin(index: number): number {
  return dayNumber(Math.floor(index / 12), (index % 12) + 1, 1);
}

function daysInMonth({ year, month }: CalendarDate): number {
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

function daysInYear(year: number): number {
  return dayNumber(year + 1, 1, 1) - dayNumber(year, 1, 1);
}

/** 1–366 */
function dayOfYear(day: number, { year }: CalendarDate): number {
  return day - dayNumber(year, 1, 1) + 1;
}

function weekdayOf(day: number): number {
  return (((day + EPOCH_WEEKDAY) % 7) + 7) % 7;
}

function weekBegin(day: number, weekStart: number): number {
  return day - ((weekdayOf(day) - weekStart + 7) % 7);
}

function dayOf(local: number): number {
  return Math.floor(local / DAY);
}

function floorTo(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}
