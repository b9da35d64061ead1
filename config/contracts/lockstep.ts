/**
 * Lock-step simulation over processes. The simulator owns time: for each tick it writes the devices' bytes,
 * tells every participant to advance to the tick's time, and waits until all of them are idle and every byte
 * and message sent has been received. Messages are JSON lines on a Unix socket.
 */
import type { PortCounts } from './port.js';

/** Where a process finds the simulator's socket; absent on a real robot. */
export const LOCKSTEP_ENV = 'DEVICEAGENT_LOCKSTEP';

export type ParticipantName = 'rt' | 'daemon';

export type ToSimulator =
  | { t: 'hello'; name: ParticipantName; pid: number }
  /**
   * Nothing is left to do until the next advance, poll, byte or message. Counts are totals since start. `links`
   * counts messages per channel (`rt` between daemon and rt), so that one still in flight is noticed. `work`
   * increases with everything done, so that two equal answers mean that nothing happened in between.
   * `busy` counts jobs outside the event loop (worker threads, unacknowledged publishes).
   */
  | {
      t: 'idle';
      tick: number;
      work: number;
      busy: number;
      ports: Record<string, PortCounts>;
      links: Record<string, { sent: number; received: number }>;
      /** When this process's next timer is due, `mono` ms; null without timers. */
      nextDue: number | null;
    };

export type FromSimulator =
  /** First message: robot time is `now` at `mono`. */
  | { t: 'welcome'; now: number; mono: number }
  /**
   * Advance to `mono`, but first wait (bounded) until each port named in `rx` has received that many bytes, so
   * that the order of bytes and timers does not depend on the operating system.
   */
  | { t: 'advance'; tick: number; mono: number; rx: Record<string, number> }
  | { t: 'poll'; tick: number }
  | { t: 'jump'; deltaMs: number };
