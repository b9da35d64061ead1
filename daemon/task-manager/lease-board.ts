/** The leases as people look at them: who holds what, and who waits for it. */
import { RESOURCES } from '../../executors/method.js';
import type { Leases } from './leases.js';
import type { Scheduler } from './scheduler.js';
import type { TaskTable } from './task-table.js';
import type { LeaseEntry } from './types.js';

const SHOWN = 20;

interface BoardDeps {
  leases: Leases;
  scheduler: Scheduler;
  table: TaskTable;
}

/** Looks through everything that waits: for people, not for decisions. */
export function leaseBoard({ leases, scheduler, table }: BoardDeps): LeaseEntry[] {
  const fences = new Map(leases.list().map(({ resource, fence }) => [resource, fence]));
  return RESOURCES.map((resource) => {
    const holding = leases.holding(resource);
    const waiting = scheduler.waitingFor(resource);
    return {
      resource,
      owners: [...(holding?.owners ?? [])],
      mode: holding?.mode ?? null,
      fence: fences.get(resource) ?? 0,
      waiting: waiting.slice(0, SHOWN).map(({ item: { taskId, method }, why }) => {
        const priority = table.getLive(taskId)?.request.priority ?? 0;
        return { taskId, method, priority, why };
      }),
      waitingCount: waiting.length,
    };
  });
}
