/** When something runs. Names are the wire's. */
import { z } from 'zod';

/** A day: whoever comes back later than that does not expect yesterday's chores. */
export const MAX_GRACE_MS = 24 * 3_600_000;

export const scheduleSchema = z
  .strictObject({
    schedule_id: z
      .string()
      .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'allowed: 1–128 letters, digits, ".", "_", ":" or "-"'),
    /** Once: ISO 8601 with seconds and an offset. */
    at: z.string().max(64).optional(),
    /** Five fields: minute, hour, day of the month, month, day of the week. */
    cron: z.string().max(256).optional(),
    /** RFC 5545; a DTSTART line may stand before the rule. */
    rrule: z.string().max(1024).optional(),
    /** IANA name, e.g. `Asia/Seoul`. */
    timezone: z.string().max(64),
    /** How late a run may begin, ms; default 10 minutes. */
    missed_run_grace_ms: z.int().min(0).max(MAX_GRACE_MS).optional(),
    title: z.string().max(200).optional(),
  })
  .refine((s) => [s.at, s.cron, s.rrule].filter((rule) => rule !== undefined).length === 1, {
    message: 'exactly one of at, cron and rrule is needed',
  });
export type ScheduleSpec = z.infer<typeof scheduleSchema>;
