/** Recent events of the ordered lane; following them is the WebSocket `/api/events/stream`. */
import { z } from 'zod';
import { defineRoute, intParam, type Route } from '../http/route.js';

export const storedEvent = z.strictObject({
  seq: z.int(),
  topic: z.string(),
  payload: z.record(z.string(), z.unknown()),
});

export const sinceParam = intParam(0, Number.MAX_SAFE_INTEGER);

export const eventRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/events',
    tag: 'events',
    summary: 'Events with `seq` after `since`, oldest first; without `since` the newest',
    scope: 'read',
    query: z.strictObject({ since: sinceParam.optional(), limit: intParam(1, 1000).optional() }),
    responses: {
      200: {
        description: 'Events; go on with `since=next_since`',
        schema: z.strictObject({ events: z.array(storedEvent), next_since: z.int() }),
      },
    },
    handle: async ({ query, services: { runtime } }) => {
      // Rows of a transaction that is still open are not yet true for anybody outside.
      await runtime.committed();
      const limit = query.limit ?? 100;
      const since = query.since ?? Math.max(0, runtime.outbox.stats().nextSeq - 1 - limit);
      const events = runtime.recentEvents(since, limit);
      return { status: 200, body: { events, next_since: events.at(-1)?.seq ?? since } };
    },
  }),
];
