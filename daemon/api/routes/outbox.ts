/** The outbox: how far behind, what the broker refused for good, and what to do with that. */
import { z } from 'zod';
import { deadLetterView, outboxView, viewDeadLetter, viewOutbox } from '../../views.js';
import { refused } from '../http/errors.js';
import { defineRoute, intParam, type Route, type RouteRequest } from '../http/route.js';

const letterParams = z.strictObject({ id: intParam(1, 999_999_999_999_999) });
const done = z.strictObject({ id: z.int() });

type LetterRequest = RouteRequest<{ id: number }, unknown, unknown>;

async function change(request: LetterRequest, act: 'requeue' | 'drop') {
  const { runtime } = request.services;
  const { id } = request.params;
  if (!runtime.outbox[act](id)) throw refused('NOT_FOUND', `there is no dead letter ${id}`, 'id');
  await runtime.committed();
  return { status: 200, body: { id } };
}

export const outboxRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/outbox',
    tag: 'outbox',
    summary: 'Backlog, oldest age, dead letters, and totals',
    scope: 'read',
    responses: { 200: { description: 'Figures', schema: outboxView } },
    handle: ({ services }) => ({ status: 200, body: viewOutbox(services.runtime.outbox.stats()) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/outbox/dead-letters',
    tag: 'outbox',
    summary: 'Rows that the broker refused for good',
    scope: 'read',
    query: z.strictObject({
      limit: intParam(1, 500).optional(),
      after: intParam(0, 999_999_999_999_999).optional(),
    }),
    responses: {
      200: {
        description: 'Dead letters',
        schema: z.strictObject({ dead_letters: z.array(deadLetterView) }),
      },
    },
    handle: ({ query, services }) => ({
      status: 200,
      body: {
        dead_letters: services.runtime.outbox
          .deadLetters(query.limit ?? 100, query.after)
          .map(viewDeadLetter),
      },
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/outbox/dead-letters/{id}/requeue',
    tag: 'outbox',
    summary: 'Send a dead letter again',
    scope: 'control',
    params: letterParams,
    responses: { 200: { description: 'Queued again', schema: done } },
    handle: (request) => change(request, 'requeue'),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/outbox/dead-letters/{id}',
    tag: 'outbox',
    summary: 'Forget a dead letter; the cloud has only seen its tombstone',
    scope: 'control',
    params: letterParams,
    responses: { 200: { description: 'Dropped', schema: done } },
    handle: (request) => change(request, 'drop'),
  }),
];
