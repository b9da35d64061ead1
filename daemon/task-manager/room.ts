/** Whether one more task can be taken. */
import { Refusal } from '../../config/contracts/errors.js';
import type { MethodSpec } from '../../executors/method.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import { contender } from './candidates.js';
import type { TaskManagerLimits } from './deps.js';
import type { Scheduler } from './scheduler.js';
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
  const { maxLive, maxQueued } = room.limits;
  if (!room.outbox.hasRoom()) throw busy('the outbox is full');
  if (room.table.liveCount() >= maxLive) throw busy(`${maxLive} tasks are waiting or running`);
  const { queueKey, executionMode } = request;
  if (executionMode === 'QUEUED' && room.scheduler.lineLength(queueKey) >= maxQueued) {
    throw busy(`${maxQueued} tasks are waiting in queue ${queueKey}`);
  }
  if (executionMode !== 'IMMEDIATE' || request.dryRun) return;
  const plan = room.scheduler.plan(contender('new', request, spec));
  if (plan.do === 'wait') {
    throw new Refusal('RESOURCE_BUSY', `${spec.name} cannot start now: ${plan.why}`, 'executionMode');
  }
}

function busy(what: string): Refusal {
  return new Refusal('TASK_MANAGER_BUSY', `no further task is taken now: ${what}`);
}
