/**
 * A whole simulated home in one process: the main job from the first command to the last event, as fast as it goes;
 * and how long the planning context takes to build. Prints its figures to whoever forked it.
 */
import { Home } from '../../support/home.js';
import { childOptions, endWithParent, tell } from '../support/children.js';
import { mainJobOptions } from './messages.js';

const GOAL = '거실로 갔다가 안방으로 이동해서 청정해줘';
const WARM_UP = 500;

endWithParent();
const { contexts } = childOptions(mainJobOptions);
const home = await Home.start({ seed: 1 });
const job = await runJob(home);
const context = contexts === 0 ? null : contextTimes(home, contexts);
await tell({ t: 'measured', ...job, context });
await home.stop();
process.exit(0);

async function runJob(home: Home): Promise<{ robotMs: number; wallMs: number }> {
  const began = { robot: home.session.clock.mono(), wall: performance.now() };
  const workflow = await home.goal(GOAL);
  const end = await home.end(workflow.document.workflow_id, 600_000);
  if (end.event !== 'COMPLETED') throw new Error(`the main job ended ${end.event} ${end.reasonCode ?? ''}`);
  return { robotMs: home.session.clock.mono() - began.robot, wallMs: performance.now() - began.wall };
}

function contextTimes(home: Home, times: number): { v1: number[]; v2: number[]; bytes: number } {
  const { runtime } = home.daemon;
  const once = (version: 1 | 2) => {
    const began = performance.now();
    runtime.context({ version });
    return performance.now() - began;
  };
  for (let i = 0; i < WARM_UP; i++) once(i % 2 === 0 ? 1 : 2);
  const many = (version: 1 | 2) => Array.from({ length: times }, () => once(version));
  return { v1: many(1), v2: many(2), bytes: JSON.stringify(runtime.context({ version: 1 })).length };
}
