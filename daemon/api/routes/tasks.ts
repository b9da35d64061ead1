/** Tasks: submit, list, show, pause, resume, cancel. */
import { z } from 'zod';
import { taskCommandSchema } from '../../../config/contracts/wire/command.js';
import { leaseView, taskView, viewLease, viewTask } from '../../views.js';
import { refused } from '../http/errors.js';
import { boolParam, defineRoute, idParams, intParam, type Route } from '../http/route.js';
import { ACCEPTED, command, control } from './command.js';

const submission = taskCommandSchema
  .pick({ method: true, capability: true, params: true, task: true })
  .refine((body) => (body.method === undefined) !== (body.capability === undefined), {
    message: 'exactly one of method and capability is needed',
    path: ['method'],
  });

export const listQuery = z.strictObject({
  active: boolParam().optional(),
  limit: intParam(1, 500).optional(),
});

/** Leaves out what was not asked for. */
export function listFilter(query: z.infer<typeof listQuery>, defaultLimit: number) {
  const { active, limit = defaultLimit } = query;
  return active === undefined ? { limit } : { active, limit };
}

const controls = [
  {
    verb: 'cancel',
    method: 'cancelTask',
    summary: 'Cancel a task; CANCELLED comes as an event, after the physical thing has stopped',
  },
  {
    verb: 'pause',
    method: 'pauseTask',
    summary: 'Pause a task: it stops, gives back what it holds, and waits to be resumed',
  },
  { verb: 'resume', method: 'resumeTask', summary: 'Resume a paused task: it goes on when its turn comes' },
] as const;

export const taskRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/tasks',
    tag: 'tasks',
    summary: 'Submit a task by method or by capability card',
    scope: 'control',
    body: submission,
    responses: { 202: ACCEPTED },
    handle: (request) => command(request, { kind: 'task', task: {}, ...request.body }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/tasks',
    tag: 'tasks',
    summary: 'Tasks, newest first; `active=true` leaves out the ended ones',
    scope: 'read',
    query: listQuery,
    responses: { 200: { description: 'Tasks', schema: z.strictObject({ tasks: z.array(taskView) }) } },
    handle: ({ query, services }) => ({
      status: 200,
      body: { tasks: services.runtime.tasks.listTasks(listFilter(query, 50)).map(viewTask) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/tasks/{id}',
    tag: 'tasks',
    summary: 'One task, with its evidence once it ended',
    scope: 'read',
    params: idParams,
    responses: { 200: { description: 'The task', schema: taskView } },
    handle: ({ params, services }) => {
      const task = services.runtime.tasks.getTask(params.id);
      if (task === null) throw refused('NOT_FOUND', `there is no task ${params.id}`, 'id');
      return { status: 200, body: viewTask(task) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/leases',
    tag: 'tasks',
    summary: 'Who holds each resource, under which fencing token, and who waits for it and why',
    scope: 'read',
    responses: { 200: { description: 'Leases', schema: z.strictObject({ leases: z.array(leaseView) }) } },
    handle: ({ services }) => ({
      status: 200,
      body: { leases: services.runtime.tasks.leaseBoard().map(viewLease) },
    }),
  }),
  ...controls.map(({ verb, method, summary }) =>
    defineRoute({
      method: 'POST',
      path: `/api/tasks/{id}/${verb}`,
      tag: 'tasks',
      summary,
      scope: 'control',
      params: idParams,
      responses: { 202: ACCEPTED },
      handle: (request) => control(request, method, { task_id: request.params.id }),
    }),
  ),
];
