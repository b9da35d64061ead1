/** Which rooms the household's schedules name, so that changing the map does not pull them from under a schedule. */

import type { RoomsInUse } from '../../drivers/amr/map/area-edits.js';
import { comparable } from '../../drivers/amr/map/rooms.js';
import type { ScheduleBook, ScheduleRecord } from '../task-manager/schedule/types.js';

const IDS = new Set(['positionId', 'positionIds', 'areaId', 'areaIds', 'completionAreaId']);
const NAMES = new Set(['positionName', 'targetRoom', 'roomName']);
const MAX_SCHEDULES = 1000;

/** Of schedules that have a run to come. */
export function roomsInUse(schedules: Pick<ScheduleBook, 'list'>): RoomsInUse {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  for (const record of schedules.list(MAX_SCHEDULES)) {
    if (record.state === 'ENDED') continue;
    const named = (key: string, text: string) => {
      if (IDS.has(key)) ids.set(text, record.scheduleId);
      if (NAMES.has(key)) names.set(comparable(text), record.scheduleId);
    };
    visit('', targetOf(record), named);
  }
  return { ids, names };
}

function targetOf({ request: { target } }: ScheduleRecord): unknown {
  return target.kind === 'task' ? [target.params, target.task] : target.document.steps;
}

function visit(key: string, value: unknown, named: (key: string, text: string) => void): void {
  if (typeof value === 'string') named(key, value);
  else if (Array.isArray(value)) for (const one of value) visit(key, one, named);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) visit(name, one, named);
  }
}
