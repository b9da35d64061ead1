/** What becomes of tasks when a person decided on an approval, or changed a setting. */
import type { Methods } from './admission.js';
import type { TaskManagerHandle } from './deps.js';
import type { TaskGate } from './gate.js';
import { failure } from './lifecycle.js';
import type { TaskCore } from './task-core.js';
import type { WorkflowEngine } from './workflow/engine.js';

interface GatedDeps {
  gate: TaskGate;
  methods: Methods;
  core: TaskCore;
  engine: Pick<WorkflowEngine, 'holdsBack'>;
}

export function gatedTasks({
  gate,
  methods,
  core,
  engine,
}: GatedDeps): Pick<TaskManagerHandle, 'letGo' | 'turnAway' | 'policyChanged'> {
  const waiting = (taskId: string) => {
    const row = core.table.getLive(taskId);
    return row?.state === 'PENDING' ? row : null;
  };
  return {
    letGo(taskId) {
      const row = waiting(taskId);
      // A step of a paused workflow takes its place when the workflow goes on.
      if (row !== null && !engine.holdsBack(row)) core.takeUp(row);
    },
    turnAway(taskId, message) {
      const row = waiting(taskId);
      if (row !== null) core.end(row, failure('APPROVAL_DENIED', message));
    },
    policyChanged() {
      for (const row of core.table.live()) {
        const spec = methods.get(row.request.method);
        if (row.state !== 'STARTED' || spec === undefined) continue;
        const why = gate.stopsRunning(row, spec);
        if (why?.reason == null) continue;
        const message = why.message ?? why.reason;
        core.stopWhateverTheStore(row, { as: 'FAILED', reason: why.reason, message, observedAtMs: null });
      }
    },
  };
}
