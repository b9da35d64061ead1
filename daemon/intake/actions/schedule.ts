/** `kind: schedule_task` and `kind: schedule_workflow`: what a run may do is judged now, for whoever asks for it. */
import type { Command } from '../../../config/contracts/wire/command.js';
import { viewSchedule } from '../../schedule-view.js';
import type { AddSchedule } from '../../task-manager/schedule/types.js';
import { invalid } from '../envelope.js';
import type { IntakeDeps, Principal } from '../types.js';
import { type Accepted, changes } from './accepted.js';
import { allowSteps } from './allow-steps.js';
import { requireMethod, resolveTarget } from './submit-task.js';

type ScheduleTask = Extract<Command, { kind: 'schedule_task' }>;
type ScheduleWorkflow = Extract<Command, { kind: 'schedule_workflow' }>;

/** In whose name runs are made: they may do no more than this either. */
const SCHEDULER: Principal = { source: 'SCHEDULE', name: 'schedule' };

/** Throws `Refusal`. */
export function scheduleTask(command: ScheduleTask, principal: Principal, deps: IntakeDeps): Accepted {
  const { method, params, field } = resolveTarget(command, deps);
  const { policy } = deps;
  policy.allowMethod(principal.source, method, field);
  policy.allowMethod(SCHEDULER.source, method, field);
  const spec = requireMethod(method, field, deps.methods);
  const asked = command.task ?? {};
  if (asked.managed === false) throw invalid('task.managed', false, 'a run of a schedule is always managed');
  const own = policy.applyToTask(principal.source, spec, asked, 'task');
  const { task, clamped } = policy.applyToTask(SCHEDULER.source, spec, own.task, 'task');
  const target = { kind: 'task', method, params, task: { ...task, managed: true } } as const;
  return added({ ...common(command, principal), target }, [...own.clamped, ...clamped], deps);
}

/** Throws `Refusal`. */
export function scheduleWorkflow(
  command: ScheduleWorkflow,
  principal: Principal,
  deps: IntakeDeps,
): Accepted {
  const { policy } = deps;
  const { steps } = command.workflow;
  for (const who of [principal, SCHEDULER]) allowSteps(steps, 'workflow.steps', who, deps);
  const own = policy.applyToWorkflow(principal.source, command.workflow);
  const { document, clamped } = policy.applyToWorkflow(SCHEDULER.source, own.document);
  const target = { kind: 'workflow', document, traceId: null } as const;
  return added({ ...common(command, principal), target }, [...own.clamped, ...clamped], deps);
}

function common(command: ScheduleTask | ScheduleWorkflow, principal: Principal) {
  const { schedule, correlation_id: correlationId = null } = command;
  return { schedule, createdBy: principal.source, correlationId };
}

function added(add: AddSchedule, clamped: Parameters<typeof changes>[0], deps: IntakeDeps): Accepted {
  const record = deps.tasks.schedules.add(add);
  const { next_run_at_ms, next_run_at } = viewSchedule(record);
  return { scheduleId: record.scheduleId, result: { next_run_at_ms, next_run_at, ...changes(clamped) } };
}
