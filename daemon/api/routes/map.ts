/** Taking over another map. Showing the one in use is in `state.ts`. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { refused } from '../http/errors.js';
import { defineRoute, type Route } from '../http/route.js';

const body = z.strictObject({
  path: z.string().max(4096).refine(isAbsolute, 'allowed is an absolute path of a map.yaml on the robot'),
});

export const mapRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/api/map/import',
    tag: 'state',
    summary: 'Take over a ROS map and its areas.yaml from a file on the robot; only over the Unix socket',
    scope: 'person',
    body,
    responses: { 200: { description: 'In use', schema: z.strictObject({ map_id: z.string().nullable() }) } },
    handle: async ({ body: { path }, caller, services: { runtime } }) => {
      // A path names files of the robot's user: nobody else may have the daemon read them.
      if (caller.credential !== 'socket') {
        throw refused('POLICY_DENIED', 'maps are imported with "deviceagent map import" on the robot');
      }
      await runtime.importMap(path);
      return { status: 200, body: { map_id: runtime.map()?.id ?? null } };
    },
  }),
];
