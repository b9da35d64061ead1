/** Every benchmark, in the order in which they run. */
import { ld19Bench } from './compute/ld19.js';
import { localiseBench } from './compute/localise.js';
import { mapBench } from './compute/map.js';
import { planBench } from './compute/plan.js';
import { estopBench } from './estop/estop.js';
import { simBench } from './home/in-memory.js';
import { outboxBench } from './outbox/outbox.js';
import type { Bench } from './report.js';
import { idleBench } from './robot/idle.js';
import { startBench } from './robot/start.js';
import { tasksBench } from './tasks/tasks.js';
import { workflowBench } from './tasks/workflow.js';

export const BENCHES: readonly Bench[] = [
  outboxBench,
  tasksBench,
  workflowBench,
  startBench,
  estopBench,
  idleBench,
  ld19Bench,
  planBench,
  localiseBench,
  mapBench,
  simBench,
];
