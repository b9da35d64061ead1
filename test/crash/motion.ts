/**
 * How long a robot goes on moving after a process was killed, told by the bytes that its base received. Pure: the
 * record comes from the simulator (`drives` on its control socket), the kills from whoever killed.
 */
import type { DriveCommand } from '../../simulator/session/drive-record.js';

export type { DriveCommand };

export type Target = 'daemon' | 'rt' | 'both';

/** A kill, as far as the wheels are concerned. */
export interface KillMark {
  target: Target;
  /** Wall time just before the signal was sent, epoch ms. */
  at: number;
  /** Whether a motion process was alive to notice the death of the daemon. */
  rtAlive: boolean;
}

export interface Stop {
  /** From the kill until the base had been told to stand still; 0 where it stood; null: it never was. */
  ms: number | null;
  /** How much of `ms` may be the simulator's slowness in reading its line. */
  granularityMs: number;
  /** How late the machine let processes run meanwhile, ms; 0 where nobody looked. */
  lagMs: number;
  /** Whether the wheels were under way when the kill came, or were set in motion by what was still on its way. */
  wasMoving: boolean;
  /**
   * `guarded`: a living motion process has to stop the wheels. `residual`: there was none, and the next one stops
   * them with its first bytes (or the base by itself, if it has a watchdog).
   */
  hazard: 'guarded' | 'residual';
}

/** The motion process has to stop the wheels within this time of the daemon's death, ms. */
export const STOP_WITHIN_MS = 200;

/** Of each kill, in order: when the base stood still again. `record`: oldest first. */
export function stopsAfter(kills: readonly KillMark[], record: readonly DriveCommand[]): Stop[] {
  const stops: Stop[] = [];
  let stillMovingUntil = Number.NEGATIVE_INFINITY;
  kills.forEach((kill, i) => {
    const nextKill = kills[i + 1]?.at ?? Number.POSITIVE_INFINITY;
    const { stop, stoppedAt } = stopAfter(kill, nextKill, record);
    // A motion that an earlier kill left behind is not this kill's doing.
    const inherited = kill.at < stillMovingUntil;
    const guarded = kill.target === 'daemon' && kill.rtAlive && !inherited;
    stops.push({ ...stop, hazard: guarded ? 'guarded' : 'residual' });
    stillMovingUntil = Math.max(stillMovingUntil, stoppedAt);
  });
  return stops;
}

export function withinBound(stop: Stop): boolean {
  if (stop.hazard === 'residual') return stop.ms !== null;
  return stop.ms !== null && stop.ms - stop.granularityMs - stop.lagMs <= STOP_WITHIN_MS;
}

function stopAfter(
  { at }: KillMark,
  nextKill: number,
  record: readonly DriveCommand[],
): { stop: Omit<Stop, 'hazard'>; stoppedAt: number } {
  // The successor begins a conversation of its own; what it says later is not left over from the kill.
  const successor = record.find(({ wall, what }) => wall > at && what === 'start');
  const end = Math.min(successor?.wall ?? Number.POSITIVE_INFINITY, nextKill);
  const movingBefore = record.findLast(({ wall }) => wall <= at)?.moving ?? false;
  const lastMoving = record.findLastIndex(({ wall, moving }) => moving && wall > at && wall <= end);
  if (!movingBefore && lastMoving < 0) {
    return { stop: { ms: 0, granularityMs: 0, lagMs: 0, wasMoving: false }, stoppedAt: at };
  }
  const from = lastMoving < 0 ? record.findLastIndex(({ wall }) => wall <= at) : lastMoving;
  const halt = record.find(({ moving }, i) => i > from && !moving);
  if (halt === undefined) {
    return {
      stop: { ms: null, granularityMs: 0, lagMs: 0, wasMoving: true },
      stoppedAt: Number.POSITIVE_INFINITY,
    };
  }
  return {
    stop: {
      ms: halt.wall - at,
      granularityMs: halt.wall - Math.max(at, halt.earliest_wall),
      lagMs: 0,
      wasMoving: true,
    },
    stoppedAt: halt.wall,
  };
}
