/** Schedules: add, list, show, pause, resume, remove. */
import { z } from 'zod';
import {
  scheduleTaskCommandSchema,
  scheduleWorkflowCommandSchema,
} from '../../../config/contracts/wire/command.js';
import { scheduleDetailView, scheduleView, viewSchedule, viewScheduleInFull } from '../../schedule-view.js';
import { refused } from '../http/errors.js';
import { defineRoute, idParams, intParam, type Route } from '../http/route.js';
import { ACCEPTED, command, control } from './command.js';

const submission = z
  .strictObject({
    ...scheduleTaskCommandSchema.pick({
      schedule: true,
      method: true,
      capability: true,
      params: true,
      task: true,
    }).shape,
    workflow: scheduleWorkflowCommandSchema.shape.workflow.optional(),
  })
  .refine(
    ({ method, capability, workflow }) =>
      [method, capability, workflow].filter((what) => what !== undefined).length === 1,
    { message: 'exactly one of method, capability and workflow is needed', path: ['method'] },
  )
  .refine(
    ({ workflow, params, task }) => workflow === undefined || (params === undefined && task === undefined),
    { message: 'params and task do not go with a workflow: its steps have their own', path: ['workflow'] },
  );

const listQuery = z.strictObject({ limit: intParam(1, 500).optional() });

const controls = [
  {
    verb: 'pause',
    method: 'pauseSchedule',
    summary: 'Pause a schedule: what falls into that time is not run',
  },
  { verb: 'resume', method: 'resumeSchedule', summary: 'Resume a paused schedule with its next time' },
] as const;

export const scheduleRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/schedules',
    tag: 'schedules',
    summary: 'Add a schedule for a task or a workflow; all of it is validated before it is kept',
    scope: 'control',
    body: submission,
    responses: { 202: ACCEPTED },
    handle: (request) => {
      const kind = request.body.workflow === undefined ? 'schedule_task' : 'schedule_workflow';
      return command(request, { kind, ...request.body });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/schedules',
    tag: 'schedules',
    summary: 'Schedules with their next and last run, newest first',
    scope: 'read',
    query: listQuery,
    responses: {
      200: { description: 'Schedules', schema: z.strictObject({ schedules: z.array(scheduleView) }) },
    },
    handle: ({ query, services }) => ({
      status: 200,
      body: { schedules: services.runtime.tasks.schedules.list(query.limit ?? 50).map(viewSchedule) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/schedules/{id}',
    tag: 'schedules',
    summary: 'One schedule with what it runs',
    scope: 'read',
    params: idParams,
    responses: { 200: { description: 'The schedule', schema: scheduleDetailView } },
    handle: ({ params, services }) => {
      const schedule = services.runtime.tasks.schedules.get(params.id);
      if (schedule === null) throw refused('NOT_FOUND', `there is no schedule ${params.id}`, 'id');
      return { status: 200, body: viewScheduleInFull(schedule) };
    },
  }),
  ...controls.map(({ verb, method, summary }) =>
    defineRoute({
      method: 'POST',
      path: `/api/schedules/{id}/${verb}`,
      tag: 'schedules',
      summary,
      scope: 'control',
      params: idParams,
      responses: { 202: ACCEPTED },
      handle: (request) => control(request, method, { schedule_id: request.params.id }),
    }),
  ),
  defineRoute({
    method: 'DELETE',
    path: '/api/schedules/{id}',
    tag: 'schedules',
    summary: 'Remove a schedule; what it began goes on',
    scope: 'control',
    params: idParams,
    responses: { 202: ACCEPTED },
    handle: (request) => control(request, 'removeSchedule', { schedule_id: request.params.id }),
  }),
];
