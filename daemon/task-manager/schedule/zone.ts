/**
 * Instants and local times of IANA zones, by the zone data of the runtime (ICU). A *local time* is written as the
 * epoch milliseconds at which UTC shows the same date and time, so that calendar arithmetic needs no zone.
 */

/** `UTC`, `EST5EDT`, `Asia/Seoul`, `America/Argentina/Buenos_Aires`; no bare offsets, which have no daylight saving. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;
/** There are about 600 zones; names differing in case only would otherwise grow this without end. */
const MAX_FORMATS = 1_000;

const formats = new Map<string, Intl.DateTimeFormat>();

export function isZone(name: string): boolean {
  if (!ZONE_NAME.test(name) || name.length > 64) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Local time minus UTC at this instant, ms. Throws `RangeError` for an unknown zone. */
export function offsetAt(zone: string, instantMs: number): number {
  const whole = Math.floor(instantMs / 1000) * 1000;
  const field: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(whole)) field[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field;
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
}

export function localOf(zone: string, instantMs: number): number {
  return instantMs + offsetAt(zone, instantMs);
}

/**
 * The instant at which clocks of the zone first show this local time. One that they never show (the clock was put
 * forward over it) stands for the first instant after the gap. Later local times never give earlier instants.
 */
export function instantOf(zone: string, localMs: number): number {
  // Offsets lie between −12 h and +14 h: the instant is inside this window, and so is a change that concerns it.
  const early = localMs - 15 * 3_600_000;
  const late = localMs + 13 * 3_600_000;
  const before = offsetAt(zone, early);
  const after = offsetAt(zone, late);
  const first = localMs - before;
  if (before === after || offsetAt(zone, first) === before) return first;
  const second = localMs - after;
  if (offsetAt(zone, second) === after) return second;
  return changeBetween(zone, early, late, before);
}

/** The first instant at which the offset is no longer `before`, to the second. */
function changeBetween(zone: string, early: number, late: number, before: number): number {
  let low = Math.floor(early / 1000);
  let high = Math.ceil(late / 1000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
}
