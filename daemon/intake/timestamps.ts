/** When a command was issued and how long it may be carried out, judged on the wall clock. */
import { isoWithOffset } from '../../config/contracts/clock.js';
import { Refusal, shown } from '../../config/contracts/errors.js';
import { parseTimestamp } from '../../config/contracts/wire/timestamp.js';

const DAY_MS = 24 * 3_600_000;
/** A command may be valid for no longer than this. */
const MAX_EXPIRY_MS = 7 * DAY_MS;
/** How long an answered `command_id` is remembered past the time at which it could still be accepted. */
const REMEMBER_MS = DAY_MS;

export interface TimeRules {
  /** Wall time, epoch ms. */
  now: number;
  windowMs: number;
  clockTrusted: boolean;
}

/** Throws `Refusal` TIMESTAMP_INVALID, STALE_COMMAND, EXPIRED or CLOCK_UNTRUSTED. */
export function judgeTimes(issuedAt: string, expiresAt: string | null, rules: TimeRules): void {
  const issued = requireTimestamp('issued_at', issuedAt);
  const expires = expiresAt === null ? null : requireTimestamp('expires_at', expiresAt);
  if (!rules.clockTrusted) {
    throw new Refusal(
      'CLOCK_UNTRUSTED',
      'the robot does not know the time yet (no RTC, not synchronised); only stops and cancellations are taken',
      'issued_at',
    );
  }
  if (expires !== null) judgeExpiry(expires, rules.now);
  const age = rules.now - issued;
  if (-age > rules.windowMs) {
    throw new Refusal(
      'TIMESTAMP_INVALID',
      `issued_at: found ${shown(issuedAt)}, ${seconds(-age)} in the future; allowed are ${seconds(rules.windowMs)}`,
      'issued_at',
    );
  }
  if (age > rules.windowMs && expires === null) {
    throw new Refusal(
      'STALE_COMMAND',
      `issued_at: found ${shown(issuedAt)}, ${seconds(age)} ago; allowed are ${seconds(rules.windowMs)}, or a future expires_at`,
      'issued_at',
    );
  }
}

/** Wall time until which a repetition of this command has to be recognised. */
export function keepUntil(issuedAt: unknown, expiresAt: unknown, now: number, windowMs: number): number {
  const issued = (typeof issuedAt === 'string' ? parseTimestamp(issuedAt) : null) ?? now;
  const expires = (typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : null) ?? 0;
  const last = Math.max(now, issued + windowMs, expires);
  // Times that were refused for lying too far ahead must not occupy the memory for ever.
  return Math.min(last, now + MAX_EXPIRY_MS + windowMs) + REMEMBER_MS;
}

function judgeExpiry(expires: number, now: number): void {
  if (expires <= now) {
    throw new Refusal(
      'EXPIRED',
      `expires_at: found ${isoWithOffset(expires)}, ${seconds(now - expires)} ago; allowed is a time ahead`,
      'expires_at',
    );
  }
  if (expires - now > MAX_EXPIRY_MS) {
    throw new Refusal(
      'TIMESTAMP_INVALID',
      `expires_at: found ${isoWithOffset(expires)}; allowed are at most 7 days ahead`,
      'expires_at',
    );
  }
}

function requireTimestamp(field: string, text: string): number {
  const value = parseTimestamp(text);
  if (value !== null) return value;
  throw new Refusal(
    'TIMESTAMP_INVALID',
    `${field}: found ${shown(text)}; allowed is ISO 8601 with seconds and an offset, e.g. 2026-11-30T09:00:00+09:00`,
    field,
  );
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
