/**
 * A slow and simple calendar to compare with: it walks over every minute of real time and asks Intl what clocks show.
 */

const MINUTE = 60_000;

export interface LocalMinute {
  minute: number;
  hour: number;
  day: number;
  month: number;
  year: number;
  /** Sunday 0 */
  weekday: number;
}

/** What clocks of the zone show, by another Intl path than the product's. */
export function clockShows(zone: string, instant: number): LocalMinute {
  const text = formatOf(zone).format(instant);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return { year, month, day, hour, minute, weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay() };
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  formats.set(zone, format);
  return format;
}

export function localNumber({ year, month, day, hour, minute }: LocalMinute): number {
  return Date.UTC(year, month - 1, day, hour, minute) / MINUTE;
}

function fromNumber(n: number): LocalMinute {
  const date = new Date(n * MINUTE);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
}

/**
 * The instants in (`from`, `to`] at which something matching happens: a local minute that comes again does not
 * happen again; those that were skipped happen in the first minute after.
 */
export function happens(
  zone: string,
  from: number,
  to: number,
  matches: (local: LocalMinute) => boolean,
): number[] {
  const found: number[] = [];
  // A day and a half before, so that it knows what has been already.
  const begin = from - 36 * 60 * MINUTE;
  let shown = localNumber(clockShows(zone, begin));
  for (let instant = begin + MINUTE; instant <= to; instant += MINUTE) {
    const now = localNumber(clockShows(zone, instant));
    let happening = false;
    for (let local = shown + 1; local <= now; local++) happening ||= matches(fromNumber(local));
    shown = Math.max(shown, now);
    if (happening && instant > from) found.push(instant);
  }
  return found;
}
