const RFC3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * RFC 3339 §5.6: date, time with seconds, and an offset; epoch ms. Null for anything else: no offset, a day that does
 * not exist, a leap second (no clock of ours can compare one).
 */
export function parseTimestamp(text: string): number | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  if ((hour ?? 24) > 23 || (minute ?? 60) > 59 || (second ?? 60) > 59) return null;
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const value = Date.parse(text.toUpperCase());
  return Number.isFinite(value) ? value : null;
}
