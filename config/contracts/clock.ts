/**
 * Time as everything in the robot sees it. Two clocks exist: the robot's clock (timers, schedules, freshness,
 * evidence), which a simulation may run faster than real time, and the wall clock, on which messages from
 * outside are judged.
 */

/** Cancels a timer; calling it again, or after the timer fired, does nothing. */
export type CancelTimer = () => void;

export interface Clock {
  /** Robot time, milliseconds since the Unix epoch. May jump when the host's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never jumps. Use it for durations and safety time-outs. */
  mono(): number;
  /** Wall-clock time, milliseconds since the Unix epoch, whatever the robot's clock does. */
  wall(): number;
  /** Runs `fn` once after `ms` milliseconds of robot time. */
  after(ms: number, fn: () => void): CancelTimer;
  /** Runs `fn` every `ms` milliseconds of robot time, first after `ms`. A slow `fn` does not pile up calls. */
  every(ms: number, fn: () => void): CancelTimer;
}

/** The clock of a real robot. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }
  mono(): number {
    return performance.now();
  }
  wall(): number {
    return Date.now();
  }
  after(ms: number, fn: () => void): CancelTimer {
    const timer = setTimeout(fn, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  }
  every(ms: number, fn: () => void): CancelTimer {
    const timer = setInterval(fn, ms);
    return () => clearInterval(timer);
  }
}

/** Node fires at once for longer delays; nobody here waits that long on one timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits on the given clock; the promise rejects with the signal's reason when it aborts first. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Formats epoch milliseconds as ISO 8601 with the given offset, e.g. `2026-11-30T09:00:41.001+09:00`. */
export function isoWithOffset(
  epochMs: number,
  offsetMinutes = -new Date(epochMs).getTimezoneOffset(),
): string {
  const local = new Date(epochMs + offsetMinutes * 60_000).toISOString().slice(0, -1);
  const sign = offsetMinutes < 0 ? '-' : '+';
  const abs = Math.abs(offsetMinutes);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${local}${sign}${two(Math.floor(abs / 60))}:${two(abs % 60)}`;
}
