/** The worker thread's entry: plans what it is asked, in order, on the last map it was given. */
import { parentPort } from 'node:worker_threads';
import { PlanEngine } from './engine.js';
import { NO_MAP, toPlanResult } from './inline-planner.js';
import type { FromPlannerWorker, ToPlannerWorker } from './worker-protocol.js';

let engine: PlanEngine | null = null;

parentPort?.on('message', (message: ToPlannerWorker) => {
  if (message.t === 'map') {
    engine = new PlanEngine(message.map, message.params);
    return;
  }
  const result =
    engine === null
      ? NO_MAP
      : toPlanResult(engine.plan(message.from, message.goal, message.live, message.people));
  const answer: FromPlannerWorker = { t: 'planned', n: message.n, result };
  parentPort?.postMessage(answer);
});
