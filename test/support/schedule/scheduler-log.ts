/** What the events say happened to each time of each schedule. */
import type { TaskEvent } from '../../../config/contracts/wire/events.js';

export interface Told {
  /** Ids of the tasks that were made for this time. */
  tasks: Set<string>;
  /** Reports that this time was missed, or withdrawn. */
  missed: number;
  withdrawn: number;
}

/** By `schedule_id`, then by time. `between`: the times of a schedule in a closed interval, for reports of many. */
export function toldOf(
  events: readonly TaskEvent[],
  between: (scheduleId: string, from: number, to: number) => number[],
): Map<string, Map<number, Told>> {
  const all = new Map<string, Map<number, Told>>();
  const at = (scheduleId: string, time: number): Told => {
    const times = all.get(scheduleId) ?? new Map<number, Told>();
    all.set(scheduleId, times);
    const told = times.get(time) ?? { tasks: new Set(), missed: 0, withdrawn: 0 };
    times.set(time, told);
    return told;
  };
  for (const event of events) {
    const { schedule_id: id, scheduled_for: time, task_id, reason_code } = event;
    if (id === undefined || time === undefined) continue;
    const told = at(id, Date.parse(time));
    if (task_id !== null) told.tasks.add(task_id);
    else if (event.event === 'CANCELLED') told.withdrawn++;
    else if (reason_code === 'MISSED_RUN_EXPIRED') {
      for (const missed of missedBy(event, (from, to) => between(id, from, to))) at(id, missed).missed++;
    }
  }
  return all;
}

export function missedBy(event: TaskEvent, between: (from: number, to: number) => number[]): number[] {
  const first = Date.parse(event.scheduled_for ?? '');
  const until = event.evidence?.missed_until;
  return typeof until === 'string' ? between(first, Date.parse(until)) : [first];
}
