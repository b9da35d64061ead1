/** `kind: control`: what changes the course of a task or a workflow that is there already. */
import { describeZodError, Refusal } from '../../../config/contracts/errors.js';
import type { Command } from '../../../config/contracts/wire/command.js';
import { CONTROL_PARAMS, type ControlMethod } from '../../../config/contracts/wire/requests.js';
import type { Canceller } from '../../task-manager/types.js';
import { EMERGENCY_STOP } from '../exemptions.js';
import type { IntakeDeps, Principal } from '../types.js';
import type { Accepted } from './accepted.js';
import { amendWorkflow } from './amend-workflow.js';

type ControlCommand = Extract<Command, { kind: 'control' }>;

/** Throws `Refusal`. The emergency stop has acted before this is called. */
export function control(command: ControlCommand, principal: Principal, deps: IntakeDeps): Accepted {
  const { method } = command;
  if (method === EMERGENCY_STOP) return {};
  deps.policy.allowMethod(principal.source, method, 'method');
  if (!isControl(method)) throw unknownMethod(method);
  const params = command.params ?? {};
  const parsed = CONTROL_PARAMS[method].safeParse(params);
  if (!parsed.success) {
    const { field, message } = describeZodError(parsed.error, params);
    throw new Refusal('INVALID_PARAMS', `params.${message}`, `params.${field}`);
  }
  if (method === 'amendWorkflow') return amendWorkflow(CONTROL_PARAMS[method].parse(params), principal, deps);
  const ids: { task_id?: string; workflow_id?: string; schedule_id?: string } = parsed.data;
  const { task_id: taskId = '', workflow_id: workflowId = '', schedule_id: scheduleId = '' } = ids;
  switch (method) {
    case 'cancelTask':
      deps.tasks.cancelTask(taskId, cancellerOf(principal));
      return { taskId };
    case 'pauseTask':
      deps.tasks.pauseTask(taskId);
      return { taskId };
    case 'resumeTask':
      deps.tasks.resumeTask(taskId);
      return { taskId };
    case 'cancelWorkflow':
      deps.tasks.cancelWorkflow(workflowId, cancellerOf(principal));
      return { workflowId };
    case 'pauseWorkflow':
      deps.tasks.pauseWorkflow(workflowId);
      return { workflowId };
    case 'resumeWorkflow':
      deps.tasks.resumeWorkflow(workflowId);
      return { workflowId };
    case 'pauseSchedule':
      deps.tasks.schedules.pause(scheduleId, cancellerOf(principal));
      return { scheduleId };
    case 'resumeSchedule':
      deps.tasks.schedules.resume(scheduleId);
      return { scheduleId };
    case 'removeSchedule':
      deps.tasks.schedules.remove(scheduleId, cancellerOf(principal));
      return { scheduleId };
  }
}

function isControl(method: string): method is ControlMethod {
  return Object.hasOwn(CONTROL_PARAMS, method);
}

function unknownMethod(method: string): Refusal {
  const known = [...Object.keys(CONTROL_PARAMS), EMERGENCY_STOP].join(', ');
  return new Refusal(
    'UNKNOWN_METHOD',
    `method: ${JSON.stringify(method)} is no control; allowed are ${known}`,
    'method',
  );
}

function cancellerOf(principal: Principal): Canceller {
  switch (principal.source) {
    case 'CLOUD':
      return 'CLOUD';
    case 'VOICE':
    case 'APP':
    case 'LOCAL':
      return 'USER';
    default:
      return 'SYSTEM';
  }
}
