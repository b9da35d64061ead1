/** What is done about a message the moment it arrives, before those that wait in front of it are judged. */
import type { MethodSpec } from '../../executors/method.js';
import type { TaskManager } from '../task-manager/types.js';
import { EMERGENCY_STOP, isStopMethod } from './exemptions.js';
import { scanPayload } from './scan.js';
import type { ArrivalMeta } from './types.js';

interface Deps {
  tasks: Pick<TaskManager, 'leases' | 'getTask' | 'cancelTask'>;
  methods: readonly MethodSpec[];
  /** The emergency stop itself; resolves once it is confirmed. */
  emergencyStop(): Promise<void>;
}

/**
 * An emergency stop is carried out here, once: its promise is returned. A stopping method (`stopMove`, …) with other
 * messages in front of it stops at once what runs now; in its turn it is judged, answered and carried out as any other,
 * so that what was sent before it does not run on after it.
 */
export function actAtArrival(payload: Uint8Array, meta: ArrivalMeta, deps: Deps): Promise<void> | null {
  const { kind, method } = scanPayload(payload);
  if (method === EMERGENCY_STOP) return deps.emergencyStop();
  if (method === null || (kind !== 'task' && kind !== 'legacy') || !isStopMethod(method)) return null;
  if (meta.others && meta.fresh) stopWhatRuns(method, deps);
  return null;
}

function stopWhatRuns(stop: string, { tasks, methods }: Deps): void {
  const owners = new Set(tasks.leases().flatMap(({ owner }) => owner ?? []));
  for (const id of owners) {
    const task = tasks.getTask(id);
    const spec = methods.find(({ name }) => name === task?.method);
    if (task?.state === 'STARTED' && spec?.cancel?.method === stop) tasks.cancelTask(id, 'CLOUD');
  }
}
