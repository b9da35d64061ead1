/** Workflows: submit, list, show, pause, resume, cancel, amend. */
import { z } from 'zod';
import { workflowCommandSchema } from '../../../config/contracts/wire/command.js';
import { amendmentSchema } from '../../../config/contracts/wire/requests.js';
import { viewWorkflow, workflowView } from '../../views.js';
import { refused } from '../http/errors.js';
import { defineRoute, idParams, type Route } from '../http/route.js';
import { ACCEPTED, command, control } from './command.js';
import { listFilter, listQuery } from './tasks.js';

const controls = [
  { verb: 'pause', method: 'pauseWorkflow', summary: 'Pause a workflow: nothing new starts' },
  { verb: 'resume', method: 'resumeWorkflow', summary: 'Resume a paused workflow' },
  { verb: 'cancel', method: 'cancelWorkflow', summary: 'Cancel a workflow and compensate what it did' },
] as const;

export const workflowRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/workflows',
    tag: 'workflows',
    summary: 'Submit a workflow document; it is validated whole before anything runs',
    scope: 'control',
    body: workflowCommandSchema.pick({ workflow: true, task: true }),
    responses: { 202: ACCEPTED },
    handle: (request) => command(request, { kind: 'workflow', ...request.body }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/workflows',
    tag: 'workflows',
    summary: 'Workflows with their steps, newest first',
    scope: 'read',
    query: listQuery,
    responses: {
      200: { description: 'Workflows', schema: z.strictObject({ workflows: z.array(workflowView) }) },
    },
    handle: ({ query, services }) => ({
      status: 200,
      body: { workflows: services.runtime.tasks.listWorkflows(listFilter(query, 20)).map(viewWorkflow) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/workflows/{id}',
    tag: 'workflows',
    summary: 'One workflow with the state and evidence of every step',
    scope: 'read',
    params: idParams,
    responses: { 200: { description: 'The workflow', schema: workflowView } },
    handle: ({ params, services }) => {
      const workflow = services.runtime.tasks.getWorkflow(params.id);
      if (workflow === null) throw refused('NOT_FOUND', `there is no workflow ${params.id}`, 'id');
      return { status: 200, body: viewWorkflow(workflow) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/workflows/{id}/amend',
    tag: 'workflows',
    summary:
      'Add, replace and remove steps that have not begun; refused when base_revision is not the present one',
    scope: 'control',
    params: idParams,
    body: amendmentSchema,
    responses: { 202: ACCEPTED },
    handle: (request) =>
      control(request, 'amendWorkflow', { workflow_id: request.params.id, ...request.body }),
  }),
  ...controls.map(({ verb, method, summary }) =>
    defineRoute({
      method: 'POST',
      path: `/api/workflows/{id}/${verb}`,
      tag: 'workflows',
      summary,
      scope: 'control',
      params: idParams,
      responses: { 202: ACCEPTED },
      handle: (request) => control(request, method, { workflow_id: request.params.id }),
    }),
  ),
];
