/** One Fastify instance per channel, with the same routes behind a guard of its own. */
import fastifyWebsocket from '@fastify/websocket';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Guard } from '../auth/guard.js';
import { sinceParam } from '../routes/events.js';
import { DAEMON_HEADER } from '../socket-path.js';
import type { DriveStream } from '../streams/drive-stream.js';
import type { EventStream } from '../streams/event-stream.js';
import type { RobotStream } from '../streams/robot-stream.js';
import { type ApiLog, BODY_LIMIT, type Scope } from '../types.js';
import { ApiError, asApiError, errorBody, refused } from './errors.js';
import { parseBody } from './json.js';
import {
  boolParam,
  type Route,
  type RouteReply,
  type RouteRequest,
  type RouteServices,
  validated,
} from './route.js';

export interface ServerParts {
  guard: Guard;
  routes: readonly Route[];
  services: RouteServices;
  events: EventStream;
  robot: RobotStream;
  drive: DriveStream;
  log: ApiLog;
}

const HEADERS: Readonly<Record<string, string>> = {
  [DAEMON_HEADER]: 'local-api',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Routes check what they take with zod and write their own JSON. Fastify's compilers for JSON Schema would be loaded
 * all the same, unless it is given others.
 */
const noSchema = () => () => {
  throw new Error('a route of the local API has a JSON Schema: allowed are zod schemas only');
};
const NO_SCHEMAS = { buildValidator: noSchema, buildSerializer: noSchema };

export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    requestTimeout: 30_000,
    connectionTimeout: 0,
    keepAliveTimeout: 10_000,
    http: { maxHeaderSize: 16 * 1024, headersTimeout: 10_000 },
    routerOptions: { maxParamLength: 200 },
    schemaController: { compilersFactory: NO_SCHEMAS },
    frameworkErrors: (error, _request, reply) => void sendError(parts, error, reply),
    clientErrorHandler: answerUnreadable,
  });
  app.server.maxConnections = 128;
  app.decorateRequest('caller', null);
  await app.register(fastifyWebsocket, {
    options: { maxPayload: 4096, perMessageDeflate: false },
    // Whatever goes wrong on an open socket ends that socket and nothing else.
    errorHandler: (_error, socket) => socket.terminate(),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => parseBody(body),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
  app.addHook('onRequest', parts.guard.check);
  app.setErrorHandler((error, _request, reply) => sendError(parts, error, reply));
  app.setNotFoundHandler((request, reply) => notFound(parts, request, reply));
  for (const route of parts.routes) addRoute(app, parts, route);
  addStreams(app, parts);
  return app;
}

function addRoute(app: FastifyInstance, parts: ServerParts, route: Route): void {
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    config: { scope: route.scope },
    handler: async (request, reply) => {
      if (route.early === undefined && !parts.services.runtime.ready()) throw starting();
      const answer = await route.handle({
        params: route.params === undefined ? undefined : validated(route.params, request.params, 'path'),
        query: validated(route.query, request.query, 'query'),
        body:
          route.method === 'POST' || route.method === 'PUT'
            ? validated(route.body, request.body, 'body')
            : undefined,
        caller: request.caller,
        services: parts.services,
        header: (name: string) => headerOf(request, name),
      } as RouteRequest<unknown, unknown, unknown>);
      return send(reply, answer);
    },
  });
}

function send(reply: FastifyReply, answer: RouteReply): FastifyReply {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.text !== undefined) return reply.type(answer.type ?? 'text/plain').send(answer.text);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body));
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const followQuery = z.strictObject({ since: sinceParam.optional(), domain: boolParam().optional() });

function addStreams(app: FastifyInstance, parts: ServerParts): void {
  addStream(app, parts, {
    path: '/api/events/stream',
    full: () => parts.events.full,
    check: (request) => validated(followQuery, request.query, 'query'),
    open: (socket, request, query) => {
      if (request.caller === null) return socket.terminate();
      parts.events.follow(socket, request.caller, {
        since: query.since ?? null,
        domain: query.domain ?? false,
      });
    },
  });
  addStream(app, parts, {
    path: '/api/robot/stream',
    full: () => parts.robot.full,
    check: (request) => validated(undefined, request.query, 'query'),
    open: (socket, request) => {
      if (request.caller === null) return socket.terminate();
      parts.robot.follow(socket, request.caller);
    },
  });
  addStream(app, parts, {
    path: '/api/drive/stream',
    scope: 'control',
    full: () => parts.drive.full,
    check: (request) => validated(undefined, request.query, 'query'),
    open: (socket, request) => {
      if (request.caller === null) return socket.terminate();
      parts.drive.follow(socket, request.caller);
    },
  });
}

interface StreamRoute<Q> {
  path: string;
  /** Default `read`. */
  scope?: Scope;
  full(): boolean;
  check(request: FastifyRequest): Q;
  open(socket: WebSocket, request: FastifyRequest, query: Q): void;
}

/** Everything that can be refused is refused before the upgrade, in the same shape as elsewhere. */
function addStream<Q>(app: FastifyInstance, parts: ServerParts, stream: StreamRoute<Q>): void {
  app.route({
    method: 'GET',
    url: stream.path,
    config: { scope: stream.scope ?? 'read', stream: true },
    preHandler: async (request) => {
      if (!request.ws) {
        throw new ApiError(426, 'MALFORMED', 'this address is a WebSocket', 'Upgrade', {
          upgrade: 'websocket',
        });
      }
      if (!parts.services.runtime.ready()) throw starting();
      if (stream.full()) throw refused('TASK_MANAGER_BUSY', 'too many streams are open');
      stream.check(request);
    },
    handler: async () => undefined,
    wsHandler: (socket, request) => stream.open(socket, request, stream.check(request)),
  });
}

function starting(): ApiError {
  return new ApiError(503, 'CAPABILITY_UNAVAILABLE', 'the daemon is starting; try again', undefined, {
    'retry-after': '1',
  });
}

function sendError(parts: ServerParts, thrown: unknown, reply: FastifyReply): FastifyReply {
  const { counters } = parts.services;
  const known = asApiError(thrown);
  if (known !== null) counters.refusedRequests += 1;
  const error = known ?? defect(parts, thrown);
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error)));
}

function defect(parts: ServerParts, thrown: unknown): ApiError {
  parts.services.counters.internalErrors += 1;
  const errorId = `err-${parts.services.secret(9)}`;
  const err =
    thrown instanceof Error ? { name: thrown.name, message: thrown.message, stack: thrown.stack } : thrown;
  parts.log.error(
    { errorId, err },
    'a request to the local API hit a defect; it was answered INTERNAL_ERROR',
  );
  return refused('INTERNAL_ERROR', `a defect in the daemon; look for ${errorId} in its log`);
}

function notFound(parts: ServerParts, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const allowed = parts.routes.filter((route) => matches(route.path, path)).map((route) => route.method);
  const error =
    allowed.length === 0
      ? refused('NOT_FOUND', 'there is nothing at this address')
      : new ApiError(405, 'UNKNOWN_METHOD', `allowed here: ${allowed.join(', ')}`, undefined, {
          allow: allowed.join(', '),
        });
  return sendError(parts, error, reply);
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const found = path.split('/');
  return (
    wanted.length === found.length && wanted.every((part, i) => part.startsWith('{') || part === found[i])
  );
}

/** For requests that Node's HTTP parser gives up on: the same shape, by hand. */
function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: { writable: boolean; end(text: string): void; destroy(): void },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text, why] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'the headers are too large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout', 'the request did not arrive in time']
        : [400, 'Bad Request', 'the request cannot be read'];
  const body = JSON.stringify(errorBody(new ApiError(Number(status), 'MALFORMED', String(why))));
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
