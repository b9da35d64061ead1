import type { Route } from '../http/route.js';
import { estopRoutes } from './estop.js';
import { eventRoutes } from './events.js';
import { mapRoutes } from './map.js';
import { outboxRoutes } from './outbox.js';
import { policyRoutes } from './policy.js';
import { scheduleRoutes } from './schedules.js';
import { serviceRoutes } from './service.js';
import { stateRoutes } from './state.js';
import { taskRoutes } from './tasks.js';
import { workflowRoutes } from './workflows.js';

/** Every route of the API except the WebSockets and the console's files. */
export const allRoutes: readonly Route[] = [
  ...taskRoutes,
  ...workflowRoutes,
  ...scheduleRoutes,
  ...eventRoutes,
  ...stateRoutes,
  ...mapRoutes,
  ...outboxRoutes,
  ...estopRoutes,
  ...policyRoutes,
  ...serviceRoutes,
];
