/**
 * The e-stop. It goes straight to the motion process, not through the intake: stopping may not wait for a
 * database, and nobody who got this far may be refused it.
 */
import { z } from 'zod';
import type { Runtime } from '../../runtime.js';
import { defineRoute, type Route } from '../http/route.js';

const estopView = z.strictObject({
  latched: z.boolean().nullable().describe('null: the motion process has not reported yet'),
  by: z.string().nullable(),
  at_ms: z.number().nullable(),
});

function viewEstop(runtime: Runtime): z.infer<typeof estopView> {
  const estop = runtime.amr.state()?.safety.estop;
  return { latched: estop?.latched ?? null, by: estop?.by ?? null, at_ms: estop?.at ?? null };
}

export const estopRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/estop',
    tag: 'safety',
    summary: 'Emergency stop: the drive is cut and stays off until a person releases it at the robot',
    scope: 'control',
    early: true,
    responses: { 200: { description: 'Stopped', schema: estopView } },
    handle: async ({ caller, services: { runtime } }) => {
      await runtime.estop(caller.principal.name);
      return { status: 200, body: viewEstop(runtime) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/estop/release',
    tag: 'safety',
    summary: 'Release the e-stop: only a person at the robot, and not while its cause is still there',
    scope: 'person',
    early: true,
    responses: { 200: { description: 'Released', schema: estopView } },
    handle: async ({ caller, services: { runtime } }) => {
      await runtime.releaseEstop(caller.principal.name);
      return { status: 200, body: viewEstop(runtime) };
    },
  }),
];
