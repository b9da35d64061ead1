/** What can be looked at: identity, context, robot, map, capabilities, methods, doctor. */
import { z } from 'zod';
import type { MapView } from '../../runtime.js';
import { capabilityView, methodView, viewCapability, viewMethod } from '../../views.js';
import { refused } from '../http/errors.js';
import { defineRoute, intParam, type Route } from '../http/route.js';
import { robotView, viewRobot } from '../robot-view.js';

const statusView = z.strictObject({
  device_id: z.string(),
  boot_id: z.string(),
  version: z.string(),
  profile: z.string(),
  ready: z.boolean(),
  now_ms: z.number().describe("the robot's clock"),
  cloud: z.strictObject({
    transport_connected: z.boolean(),
    subscription_ready: z.boolean(),
    last_transition_at: z.number().nullable(),
    last_publish_ack_at: z.number().nullable(),
    last_publish_error: z.string().nullable(),
  }),
});

const polygon = z.array(z.tuple([z.number(), z.number()]));
const mapView = z.strictObject({
  id: z.string(),
  file: z.string().nullable().describe('its map.yaml on the robot'),
  resolution: z.number().describe('m per cell'),
  width: z.int(),
  height: z.int(),
  origin: z.strictObject({ x: z.number(), y: z.number(), theta: z.number() }),
  cells: z
    .string()
    .describe('base64 of signed bytes, row by row from the lower left: −1 unknown, 0 free … 100 occupied'),
  rooms: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      aliases: z.array(z.string()),
      polygon,
      goal: z.tuple([z.number(), z.number(), z.number()]),
    }),
  ),
  station: z.tuple([z.number(), z.number(), z.number()]).nullable(),
  keepout: z
    .array(z.strictObject({ id: z.string(), polygon }))
    .describe('no-go areas, and what the pieces of virtual walls cover'),
  walls: z.array(z.strictObject({ id: z.string(), line: polygon, width: z.number().describe('m') })),
  speed_areas: z.array(
    z.strictObject({ id: z.string(), polygon, max_speed: z.number().describe('m/s, at most') }),
  ),
});

function viewMap(map: MapView, file: string | null): z.infer<typeof mapView> {
  const { cells } = map;
  return {
    ...map,
    file,
    cells: Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength).toString('base64'),
  };
}

const doctorView = z.strictObject({
  healthy: z.boolean().describe('false when a part is faulty'),
  checks: z.array(
    z.strictObject({
      part: z.string(),
      state: z.enum(['ok', 'missing', 'faulty', 'off']),
      message: z.string(),
    }),
  ),
});

export const stateRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/status',
    tag: 'state',
    summary: 'Who this robot is, whether it accepts commands, and the facts about its connection',
    scope: 'read',
    early: true,
    responses: { 200: { description: 'Status', schema: statusView } },
    handle: ({ services: { runtime } }) => ({
      status: 200,
      body: {
        device_id: runtime.deviceId,
        boot_id: runtime.bootId,
        version: runtime.version,
        profile: runtime.profile,
        ready: runtime.ready(),
        now_ms: runtime.clock.now(),
        cloud: runtime.cloud(),
      },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/context',
    tag: 'state',
    summary: 'What a planner sees: device_context.v1, or v2; `max_bytes` trims it and says what was left out',
    scope: 'read',
    query: z.strictObject({
      version: z.enum(['1', '2'], 'allowed is 1 or 2').optional(),
      max_bytes: intParam(256, 1_048_576).optional(),
    }),
    responses: {
      200: { description: 'The context document', schema: z.record(z.string(), z.unknown()) },
    },
    handle: ({ query, services }) => ({
      status: 200,
      body: services.runtime.context({
        version: query.version === '2' ? 2 : 1,
        ...(query.max_bytes === undefined ? {} : { maxBytes: query.max_bytes }),
      }),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/robot',
    tag: 'state',
    summary: "The robot's body: pose, base, lidar, safety. What was never observed is null",
    scope: 'read',
    responses: {
      200: {
        description: 'The newest state; `state` is null before the motion process first reported',
        schema: z.strictObject({ now_ms: z.number(), state: robotView.nullable() }),
      },
    },
    handle: ({ services: { runtime } }) => {
      const state = runtime.amr.state();
      return {
        status: 200,
        body: { now_ms: runtime.clock.now(), state: state === null ? null : viewRobot(state) },
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/map',
    tag: 'state',
    summary: 'The map in use with its rooms, station and keep-out areas',
    scope: 'read',
    responses: { 200: { description: 'The map', schema: mapView } },
    handle: ({ services: { runtime } }) => {
      const map = runtime.map();
      if (map === null)
        throw refused('NOT_FOUND', 'no map is loaded; import one with "deviceagent map import"');
      return { status: 200, body: viewMap(map, runtime.mapFile()) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/capabilities',
    tag: 'state',
    summary: 'Capability cards, whether each is available now, and why not',
    scope: 'read',
    responses: {
      200: {
        description: 'Cards',
        schema: z.strictObject({ capabilities: z.array(capabilityView) }),
      },
    },
    handle: ({ services }) => ({
      status: 200,
      body: { capabilities: services.runtime.capabilities().map(viewCapability) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/methods',
    tag: 'state',
    summary: 'Registered task methods with schema, precondition, completion target, cancel, resources, risk',
    scope: 'read',
    responses: {
      200: { description: 'Methods', schema: z.strictObject({ methods: z.array(methodView) }) },
    },
    handle: ({ services }) => ({
      status: 200,
      body: { methods: services.runtime.methods.map(viewMethod) },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/doctor',
    tag: 'state',
    summary: 'Every part: what it is, or what to plug in or install',
    scope: 'read',
    early: true,
    query: z.strictObject({ language: z.enum(['ko', 'en']).default('en') }),
    responses: { 200: { description: 'Checks', schema: doctorView } },
    handle: ({ services, query }) => {
      const checks = services.runtime.doctor(query.language);
      return { status: 200, body: { healthy: checks.every((c) => c.state !== 'faulty'), checks } };
    },
  }),
];
