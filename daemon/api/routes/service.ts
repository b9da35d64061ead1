/** For whoever runs the daemon: readiness, metrics, the console's address, the document of this API. */
import { z } from 'zod';
import { refused } from '../http/errors.js';
import { defineRoute, type Route } from '../http/route.js';

export const serviceRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/ready',
    tag: 'service',
    summary: '200 once commands are accepted, 503 before. Says nothing else, so it needs no authentication',
    scope: 'public',
    early: true,
    responses: { 200: { description: 'Ready', schema: z.strictObject({ ready: z.literal(true) }) } },
    handle: ({ services }) => {
      if (!services.runtime.ready()) throw refused('CAPABILITY_UNAVAILABLE', 'the daemon is starting');
      return { status: 200, body: { ready: true } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'service',
    summary: 'Counters and gauges in the Prometheus text format. What is unknown is absent, never 0',
    scope: 'read',
    early: true,
    responses: { 200: { description: 'Metrics', type: 'text/plain' } },
    handle: async ({ services: { runtime, counters } }) => {
      const { renderMetrics } = await import('../metrics.js');
      const { text, contentType } = await renderMetrics(runtime, counters);
      return { status: 200, text, type: contentType };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/console/address',
    tag: 'service',
    summary: "The console's address with a fresh one-time code",
    scope: 'person',
    early: true,
    responses: {
      200: {
        description: 'Open it in a browser; the code works once',
        schema: z.strictObject({ url: z.string(), expires_at_ms: z.number() }),
      },
    },
    handle: ({ services }) => {
      const address = services.consoleAddress();
      if (address === null) {
        throw refused('CAPABILITY_UNAVAILABLE', 'this daemon serves no console: no TCP port is configured');
      }
      return { status: 200, body: { url: address.url, expires_at_ms: address.expiresAtMs } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'service',
    summary: 'This API as an OpenAPI 3.1 document',
    scope: 'read',
    early: true,
    responses: {
      200: { description: 'The document', schema: z.record(z.string(), z.unknown()) },
    },
    handle: async ({ services }) => ({ status: 200, body: await services.document() }),
  }),
];
