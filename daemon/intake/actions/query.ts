/** `kind: query`: answers come as `result` in the response. */
import { describeZodError, Refusal } from '../../../config/contracts/errors.js';
import type { Command } from '../../../config/contracts/wire/command.js';
import { QUERY_PARAMS, type QueryMethod } from '../../../config/contracts/wire/requests.js';
import { type ScheduleView, viewSchedule } from '../../schedule-view.js';
import { viewCapability, viewOutbox, viewTask, viewWorkflow } from '../../views.js';
import type { IntakeDeps, Principal } from '../types.js';
import { type Accepted, seesTexts } from './accepted.js';

type QueryCommand = Extract<Command, { kind: 'query' }>;
type Result = Record<string, unknown>;

const DEFAULT_LIMIT = 50;

/** Throws `Refusal`. */
export function query(command: QueryCommand, principal: Principal, deps: IntakeDeps): Accepted {
  const { method } = command;
  deps.policy.allowMethod(principal.source, method, 'method');
  if (!isQuery(method)) throw unknownMethod(method);
  return { result: answer(method, command.params ?? {}, principal, deps) };
}

function answer(method: QueryMethod, params: Result, principal: Principal, deps: IntakeDeps): Result {
  switch (method) {
    case 'getDevicePlanningContext': {
      const { version, max_bytes } = parse(method, params);
      const limit = max_bytes === undefined ? {} : { maxBytes: max_bytes };
      return {
        ...deps.context({ version: version === 2 || version === 'device_context.v2' ? 2 : 1, ...limit }),
      };
    }
    case 'listTasks': {
      const { active, limit = DEFAULT_LIMIT } = parse(method, params);
      const tasks = deps.tasks.listTasks(active === undefined ? { limit } : { active, limit });
      return { tasks: tasks.map((task) => taskAs(principal, viewTask(task))) };
    }
    case 'getTask': {
      const { task_id } = parse(method, params);
      const task = deps.tasks.getTask(task_id);
      if (task === null) throw notFound('task', task_id, 'params.task_id');
      return taskAs(principal, viewTask(task));
    }
    case 'getWorkflow': {
      const { workflow_id } = parse(method, params);
      const workflow = deps.tasks.getWorkflow(workflow_id);
      if (workflow === null) throw notFound('workflow', workflow_id, 'params.workflow_id');
      const { document, goal, ...view } = viewWorkflow(workflow);
      return seesTexts(principal) || workflow.source === 'CLOUD' ? { ...view, goal, document } : view;
    }
    case 'listSchedules': {
      const { limit = DEFAULT_LIMIT } = parse(method, params);
      const schedules = deps.tasks.schedules.list(limit).map(viewSchedule);
      return { schedules: schedules.map((view) => scheduleAs(principal, view)) };
    }
    case 'listCapabilities':
      parse(method, params);
      return { capabilities: deps.capabilities().map(viewCapability) };
    case 'outboxStatus':
      parse(method, params);
      return viewOutbox(deps.outboxStats());
  }
}

function parse<M extends QueryMethod>(method: M, params: Result) {
  const parsed = QUERY_PARAMS[method].safeParse(params);
  if (parsed.success) return parsed.data as (typeof QUERY_PARAMS)[M]['_output'];
  const { field, message } = describeZodError(parsed.error, params);
  throw new Refusal('INVALID_PARAMS', `params.${message}`, `params.${field}`);
}

/** What somebody in the home said or typed stands in params and outputs; the cloud sees its own only. */
function taskAs(principal: Principal, view: ReturnType<typeof viewTask>): Result {
  if (seesTexts(principal) || view.source === 'CLOUD') return view;
  const { params: _params, output: _output, ...rest } = view;
  return rest;
}

function scheduleAs(principal: Principal, view: ScheduleView): Result {
  if (seesTexts(principal) || view.source === 'CLOUD') return view;
  const { title: _title, params: _params, goal: _goal, ...rest } = view;
  return rest;
}

function isQuery(method: string): method is QueryMethod {
  return Object.hasOwn(QUERY_PARAMS, method);
}

function notFound(what: string, id: string, field: string): Refusal {
  return new Refusal('NOT_FOUND', `${field}: there is no ${what} ${JSON.stringify(id)}`, field);
}

function unknownMethod(method: string): Refusal {
  const known = Object.keys(QUERY_PARAMS).join(', ');
  return new Refusal(
    'UNKNOWN_METHOD',
    `method: ${JSON.stringify(method)} is no query; allowed are ${known}`,
    'method',
  );
}
