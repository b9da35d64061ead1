/** The OpenAPI 3.1 document, from the routes as data. Generated, never edited: `docs/openapi.yaml` is it. */
import { z } from 'zod';
import { commandResponseSchema, taskMetadataSchema } from '../../config/contracts/wire/command.js';
import { scheduleSchema } from '../../config/contracts/wire/schedule.js';
import { workflowSchema, workflowStepSchema } from '../../config/contracts/wire/workflow.js';
import { runView, scheduleDetailView, scheduleView } from '../schedule-view.js';
import {
  capabilityView,
  deadLetterView,
  methodView,
  outboxView,
  stepView,
  taskView,
  workflowView,
} from '../views.js';
import { errorBodySchema } from './http/errors.js';
import type { Route, RouteResponse } from './http/route.js';
import { robotView, scanView } from './robot-view.js';
import { storedEvent } from './routes/events.js';
import { driveAsk, driveMessage, eventMessage, robotMessage } from './streams/messages.js';

type Json = Record<string, unknown>;

/** Schemas that stand in more than one place, or are worth a name. */
const NAMED: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>([
  [errorBodySchema, 'Error'],
  [commandResponseSchema, 'CommandResponse'],
  [taskMetadataSchema, 'TaskMetadata'],
  [workflowSchema, 'WorkflowDocument'],
  [workflowStepSchema, 'WorkflowStep'],
  [taskView, 'Task'],
  [workflowView, 'Workflow'],
  [stepView, 'Step'],
  [scheduleSchema, 'ScheduleSpec'],
  [scheduleView, 'Schedule'],
  [scheduleDetailView, 'ScheduleDetail'],
  [runView, 'ScheduleRun'],
  [methodView, 'Method'],
  [capabilityView, 'Capability'],
  [outboxView, 'Outbox'],
  [deadLetterView, 'DeadLetter'],
  [robotView, 'Robot'],
  [scanView, 'Scan'],
  [storedEvent, 'StoredEvent'],
  [eventMessage, 'EventMessage'],
  [robotMessage, 'RobotMessage'],
]);

const names: ReadonlyMap<unknown, string> = NAMED;

const ERRORS: Readonly<Record<string, string>> = {
  400: 'Malformed or invalid; the field is named',
  401: 'No valid credential',
  403: 'Not allowed to this caller, or from this origin',
  404: 'No such thing',
  409: 'Not possible in the present state',
  413: 'Larger than 256 KiB',
  415: 'Not JSON',
  421: 'Addressed by a name that this robot does not have',
  422: 'A target that is unknown, ambiguous or out of reach',
  429: 'Too many failed attempts',
  500: 'A defect; the message carries an id that stands in the log',
  503: 'A part is missing, the daemon is starting, or its queue is full',
};

/** Statuses that an operation may answer with, besides its own. */
function errorStatuses(route: Route): string[] {
  const withBody = route.body === undefined ? [] : ['413', '415', '422'];
  const withId = route.params === undefined ? [] : ['404'];
  const changing = route.method === 'GET' ? [] : ['409'];
  const withCredential = route.scope === 'public' ? [] : ['401', '403', '429'];
  return ['400', ...withCredential, ...withId, ...changing, ...withBody, '421', '500', '503'];
}

/** `routes`: every plain route; the WebSockets are described here beside them. */
export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  paths['/api/events/stream'] = { get: eventStream() };
  paths['/api/robot/stream'] = { get: robotStream() };
  paths['/api/drive/stream'] = { get: driveStream() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'DeviceAgent local API',
      version: '1',
      description:
        'Served on the Unix socket `<state-dir>/api.sock` (the robot’s own user, no token) and on a loopback TCP port (bearer token, or a console session).',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(routes.map((r) => r.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The content of `<state-dir>/token`' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'deviceagent_session_8080',
          description: 'Given for the one-time code in the printed address; its name ends with the port',
        },
      },
      schemas: Object.fromEntries(
        [...NAMED].map(([schema, name]) => [name, schemaOf(schema, 'input', true)]),
      ),
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          `Error${status}`,
          {
            description,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
  };
}

function operation(route: Route): Json {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...(route.scope === 'control' && route.method === 'POST' ? [IDEMPOTENCY] : []),
  ];
  return {
    tags: [route.tag],
    operationId: operationId(route),
    summary: route.summary,
    'x-scope': route.scope,
    ...(route.scope === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body) } } },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(route.responses).map(([s, r]) => [s, response(r)])),
      ...errorResponses(errorStatuses(route)),
    },
  };
}

/** `POST /api/workflows/{id}/pause` → `postWorkflowsIdPause`. */
function operationId(route: Route): string {
  const words = route.path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '' && word !== 'api');
  return route.method.toLowerCase() + words.map((w) => w.charAt(0).toUpperCase() + w.slice(1)).join('');
}

function response({ description, schema, type = 'application/json' }: RouteResponse): Json {
  const content = schema === undefined ? { type: 'string' } : schemaOf(schema);
  return { description, content: { [type]: { schema: content } } };
}

function errorResponses(statuses: readonly string[]): Json {
  return Object.fromEntries(statuses.map((s) => [s, { $ref: `#/components/responses/Error${s}` }]));
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'output') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

const IDEMPOTENCY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request: asked again under the same key, it is answered as the first time and does nothing twice.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,100}$' },
};

function eventStream(): Json {
  return {
    tags: ['events'],
    operationId: 'followEvents',
    summary: 'WebSocket: events in the order of `seq`, and progress between them',
    description:
      'With `since`, what was missed comes first. A client that reads too slowly loses progress messages, which is counted in `dropped`, but no event. Events older than what the robot keeps are announced as a `gap`.',
    'x-scope': 'read',
    parameters: [
      { name: 'since', in: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
      { name: 'domain', in: 'query', required: false, schema: { type: 'boolean' } },
    ],
    responses: {
      101: { description: 'Each message is one JSON object' },
      ...errorResponses(['400', '401', '403', '421', '503']),
    },
    'x-message': schemaOf(eventMessage),
  };
}

function robotStream(): Json {
  return {
    tags: ['state'],
    operationId: 'followRobot',
    summary: 'WebSocket: state, scan and path for displays, up to five times a second',
    description:
      'A frame replaces the one before; a slow client gets fewer. `scan` and `path` stand only where they changed.',
    'x-scope': 'read',
    responses: {
      101: { description: 'Each message is one JSON object' },
      ...errorResponses(['400', '401', '403', '421', '503']),
    },
    'x-message': schemaOf(robotMessage),
  };
}

function driveStream(): Json {
  return {
    tags: ['tasks'],
    operationId: 'driveByHand',
    summary: 'WebSocket: driving by hand while somebody holds a button down',
    description:
      'Each `press` is a `manualMove` task of its own, refused where another motion runs. It drives while a `hold` comes at least every 300 ms, at most 2 s; `release`, silence and the end of the socket stop it. `x-accepts` is what the client sends.',
    'x-scope': 'control',
    responses: {
      101: { description: 'Each message is one JSON object' },
      ...errorResponses(['400', '401', '403', '421', '503']),
    },
    'x-accepts': schemaOf(driveAsk),
    'x-message': schemaOf(driveMessage),
  };
}

/** A named schema becomes a reference, wherever it stands; `whole` writes it out, for the components. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'input', whole = false): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = names.get(zodSchema);
      if (name === undefined || (whole && path.length === 0)) return;
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key];
      jsonSchema.$ref = `#/components/schemas/${name}`;
    },
  }) as Json;
  return rest;
}
