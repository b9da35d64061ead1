/** Whether one more task can be taken. */
import { Refusal } from '../../config/contracts/errors.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { MethodSpec } from '../../executors/method.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import { contender } from './candidates.js';
import type { TaskManagerLimits } from './deps.js';
import type { Scheduler } from './scheduler.js';
import { PEOPLE } from './stop-sources.js';
import type { TaskRequest } from './task.js';
import type { TaskTable } from './task-table.js';

interface Room {
  outbox: Pick<OutboxWriter, 'hasRoom'>;
  limits: TaskManagerLimits;
  table: TaskTable;
  scheduler: Scheduler;
}

/** Throws `Refusal`: TASK_MANAGER_BUSY when something is full, RESOURCE_BUSY when IMMEDIATE cannot start now. */
export function checkRoom(request: TaskRequest, spec: MethodSpec, room: Room): void {
  const { executionMode, source } = request;
  if (!room.outbox.hasRoom()) throw busy('the outbox is full');
  checkOwnRoom(source, room);
  if (!PEOPLE.has(source)) checkSharedRoom(request, room);
  if (executionMode !== 'IMMEDIATE' || request.dryRun) return;
  const plan = room.scheduler.plan(contender('new', request, spec));
  if (plan.do === 'wait') {
    throw new Refusal('RESOURCE_BUSY', `${spec.name} cannot start now: ${plan.why}`, 'executionMode');
  }
}

/** What the source itself has taken already. */
function checkOwnRoom(source: Source, { limits, table }: Room): void {
  const { maxLive, maxQueued } = limits.perSource[source] ?? limits;
  const taken = table.countOf(source);
  if (taken.live >= maxLive)
    throw busy(`${maxLive} tasks of ${source} are waiting or running (max_live_tasks)`);
  if (limits.perSource[source] !== undefined && taken.queued >= maxQueued) {
    throw busy(`${maxQueued} tasks of ${source} are waiting (max_queued_tasks)`);
  }
}

/** Not asked of people: whatever machines have filled, a person still gets in. */
function checkSharedRoom({ queueKey, executionMode }: TaskRequest, { limits, table, scheduler }: Room): void {
  const { maxLive, maxQueued } = limits;
  if (table.liveCount() >= maxLive) throw busy(`${maxLive} tasks are waiting or running`);
  if (executionMode === 'QUEUED' && scheduler.lineLength(queueKey) >= maxQueued) {
    throw busy(`${maxQueued} tasks are waiting in queue ${queueKey}`);
  }
}

function busy(what: string): Refusal {
  return new Refusal('TASK_MANAGER_BUSY', `no further task is taken now: ${what}`);
}
