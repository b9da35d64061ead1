/** Puts the TaskManager together: single tasks, workflows on top of them, and what a restart does. */
import { Refusal } from '../../config/contracts/errors.js';
import { methodsByName } from './admission.js';
import { Defects, tolerateStore } from './defects.js';
import { DEFAULT_TASK_MANAGER_LIMITS, type TaskManagerDeps, type TaskManagerHandle } from './deps.js';
import { OPEN_GATE } from './gate.js';
import { gatedTasks } from './gated.js';
import { leaseBoard } from './lease-board.js';
import { recover } from './recovery.js';
import { Schedules } from './schedule/schedules.js';
import { TaskCore } from './task-core.js';
import { TaskEvents } from './task-events.js';
import { WorkflowEngine } from './workflow/engine.js';
import { workflowRecord } from './workflow/records.js';

const DEFAULT_LIST = 100;

function prefixed(schedules: Schedules): Record<string, number> {
  return Object.fromEntries(Object.entries(schedules.counters()).map(([k, v]) => [`schedules_${k}`, v]));
}

/** Accepts nothing before `recover` was called, and nothing after `stop`. */
export function createTaskManager(deps: TaskManagerDeps): TaskManagerHandle {
  const limits = { ...DEFAULT_TASK_MANAGER_LIMITS, ...deps.limits };
  const methods = methodsByName(deps.methods);
  const events = new TaskEvents(deps.store, deps.outbox, deps.clock);
  const defects = new Defects(deps.ids, deps.log);
  const gate = deps.gate ?? OPEN_GATE;
  const core = new TaskCore({ ...deps, gate, methods, events, defects, limits });
  const compile = { methods, resolveCapability: deps.resolveCapability };
  const engine = new WorkflowEngine({ ...deps, core, events, defects, limits, compile });
  const schedules = new Schedules({
    ...deps,
    methods,
    compile,
    core,
    engine,
    events,
    defects,
    clockTrusted: deps.clockTrusted ?? (() => true),
  });
  deps.store.participate({ failed: () => core.pumpLater() });

  let accepting = false;
  const mustAccept = () => {
    if (!accepting)
      throw new Refusal('TASK_MANAGER_BUSY', 'the robot is starting or stopping: nothing is taken');
  };

  return {
    schedules,
    ...gatedTasks({ gate, methods, core, engine }),
    submit(request) {
      mustAccept();
      return core.submit(request);
    },
    submitWorkflow(document, options) {
      mustAccept();
      return workflowRecord(engine.submit(document, options));
    },
    cancelTask: (taskId, by) => core.cancel(taskId, by),
    pauseTask: (taskId) => core.pause(taskId),
    resumeTask: (taskId) => core.resume(taskId),
    cancelWorkflow: (workflowId, by) => engine.cancel(workflowId, by),
    pauseWorkflow: (workflowId) => engine.pause(workflowId),
    resumeWorkflow: (workflowId) => engine.resume(workflowId),
    amendWorkflow: (workflowId, amendment, source) =>
      workflowRecord(engine.amend(workflowId, amendment, source)),
    getTask(taskId) {
      const row = core.table.get(taskId);
      return row === null ? null : core.recordOf(row);
    },
    listTasks({ active = false, limit = DEFAULT_LIST } = {}) {
      const rows = active
        ? core.table
            .live()
            .sort((a, b) => b.n - a.n)
            .slice(0, limit)
        : core.table.newest(limit);
      return rows.map((row) => core.recordOf(row));
    },
    getWorkflow(workflowId) {
      const workflow = engine.table.get(workflowId);
      return workflow === null ? null : workflowRecord(workflow);
    },
    listWorkflows({ active = false, limit = DEFAULT_LIST } = {}) {
      const workflows = active ? engine.table.live().reverse().slice(0, limit) : engine.table.newest(limit);
      return workflows.map(workflowRecord);
    },
    onEvent: (listener) => events.onEvent(listener),
    leases: () => core.leases.list(),
    leaseBoard: () => leaseBoard(core),
    summary() {
      const running = core.table
        .live()
        .filter((row) => row.state === 'STARTED' || row.state === 'CANCELLING');
      return {
        busy: running.length > 0,
        running: running.map((row) => row.taskId),
        queued: core.scheduler.lines(),
      };
    },
    recover() {
      const report = recover({ ...deps, methods, core, engine, maxAttempts: limits.maxAttempts });
      accepting = true;
      schedules.start();
      return report;
    },
    emergencyStop: (message, observedAtMs) => core.emergencyStop(message, observedAtMs),
    clockTrustChanged: () => schedules.trustChanged(),
    contextChanged: () => tolerateStore(() => engine.look()),
    async stop() {
      accepting = false;
      schedules.stop();
      engine.stop();
      core.close();
      await core.executions.idle();
    },
    counters: () => ({ ...core.counters(), workflows: engine.table.live().length, ...prefixed(schedules) }),
  };
}
