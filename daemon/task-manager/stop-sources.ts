/** Who is behind a stop that came another way than through the task itself: by `stopMove`, for instance. */
import type { TaskReason } from '../../config/contracts/reason-codes.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { MethodSpec } from '../../executors/method.js';
import type { TaskRow } from './task.js';

/** The sources behind which a person at home stands. */
export const PEOPLE: ReadonlySet<Source> = new Set<Source>(['VOICE', 'APP', 'LOCAL']);

/** Stops whatever moves, whichever method stops it otherwise. */
const STOP_WHEELS = 'stopMove';

export class StopSources {
  readonly #lastStart = new Map<string, { source: Source; at: number }>();

  /** Any method may be the stopping one of another. */
  started(row: TaskRow): void {
    this.#lastStart.set(row.request.method, { source: row.request.source, at: row.startedAt ?? 0 });
  }

  /** The reason for a run that was stopped although its task was not asked to stop. */
  reasonFor(row: TaskRow, spec: Pick<MethodSpec, 'cancel' | 'resources'>): TaskReason {
    const stop = this.#lastStopOf(spec);
    // What stopped others while this one was paused has nothing to do with it.
    const since = Math.max(row.startedAt ?? 0, row.pause?.sinceMs ?? 0);
    if (stop === undefined || stop.at < since) return 'CANCELLED_BY_SYSTEM';
    return cancelledBy(stop.source);
  }

  /** The newest start of what stops it: its own stopping method, and `stopMove` for whatever drives. */
  #lastStopOf({ cancel, resources }: Pick<MethodSpec, 'cancel' | 'resources'>) {
    if (cancel === null) return undefined;
    const own = this.#lastStart.get(cancel.method);
    const drives = resources.some(({ resource }) => resource === 'motion');
    const wheels = drives ? this.#lastStart.get(STOP_WHEELS) : undefined;
    return (wheels?.at ?? -1) > (own?.at ?? -1) ? wheels : own;
  }
}

/** The reason of what somebody on this channel stopped. */
export function cancelledBy(
  source: Source,
): 'CANCELLED_BY_CLOUD' | 'CANCELLED_BY_USER' | 'CANCELLED_BY_SYSTEM' {
  if (source === 'CLOUD') return 'CANCELLED_BY_CLOUD';
  return PEOPLE.has(source) ? 'CANCELLED_BY_USER' : 'CANCELLED_BY_SYSTEM';
}
