/** Whether one more task can be taken. */

import type { Clock } from '../../config/contracts/clock.js';
import { isRefusal, Refusal } from '../../config/contracts/errors.js';
import type { Source } from '../../config/contracts/wire/events.js';
import type { OutboxWriter } from '../store/outbox-types.js';
import type { Admitted } from './admission.js';
import { contender } from './candidates.js';
import type { TaskManagerLimits } from './deps.js';
import type { Scheduler } from './scheduler.js';
import { PEOPLE } from './stop-sources.js';
import type { TaskRequest } from './task.js';
import { CURED_BY_A_STOP } from './task-starts.js';
import type { TaskTable } from './task-table.js';

interface Room {
  clock: Pick<Clock, 'now'>;
  outbox: Pick<OutboxWriter, 'hasRoom'>;
  limits: TaskManagerLimits;
  table: TaskTable;
  scheduler: Scheduler;
}

/**
 * Throws `Refusal`: TASK_MANAGER_BUSY when something is full. What is IMMEDIATE and cannot start now is refused too:
 * RESOURCE_BUSY, or for what its method's precondition says. While the e-stop is latched nothing waits for its release
 * either, or the robot would drive off the moment somebody releases it: EMERGENCY_STOP.
 */
export function checkRoom(request: TaskRequest, { spec, params }: Admitted, room: Room): void {
  const { executionMode, source } = request;
  if (!room.outbox.hasRoom()) throw busy('the outbox is full');
  checkOwnRoom(source, room);
  if (!PEOPLE.has(source)) checkSharedRoom(request, room);
  if (request.dryRun) return;
  const refused = refusal(spec, params, room.clock);
  if (executionMode === 'QUEUED' && request.role === null && refused?.reason === 'EMERGENCY_STOP')
    throw refused;
  if (executionMode !== 'IMMEDIATE') return;
  const plan = room.scheduler.plan(contender('new', request, spec));
  if (plan.do === 'wait') {
    throw new Refusal('RESOURCE_BUSY', `${spec.name} cannot start now: ${plan.why}`, 'executionMode');
  }
  // Those in its way stop first, and that may be what it takes.
  const cured = plan.do === 'preempt' && refused !== null && CURED_BY_A_STOP.includes(refused.reason);
  if (refused !== null && !cured) throw refused;
}

/** What its precondition says now; a defect is found and told when it starts. */
function refusal(
  { precondition }: Admitted['spec'],
  params: unknown,
  clock: Pick<Clock, 'now'>,
): Refusal | null {
  try {
    precondition?.({ params, nowMs: Math.round(clock.now()) });
    return null;
  } catch (error) {
    return isRefusal(error) ? error : null;
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
