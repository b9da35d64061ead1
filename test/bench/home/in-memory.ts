/** The simulated home in one process: how much faster than real time, and building the planning context in it. */
import { createDevices } from '../../../simulator/devices/index.js';
import { memoryPorts } from '../../../simulator/ports/memory.js';
import { TICK_MS } from '../../../simulator/session/pace.js';
import { createWorld } from '../../../simulator/world/index.js';
import type { Bench } from '../report.js';
import { Child } from '../support/children.js';
import { median, percentile, round, spread, timed } from '../support/stats.js';
import { mainJobMeasured } from './messages.js';

export const simBench: Bench = {
  groups: ['sim', 'context'],
  method:
    'The main job (undock, two rooms, purify, report, dock) in one process: world, byte-level devices, broker, cloud, ' +
    'daemon and motion process in lock-step, headless, from the goal to the end of the workflow; robot time over wall ' +
    'time, start-up not counted. The context is built in that home after the job, many times.',
  async run({ quick, progress }) {
    const runs = [];
    for (let i = 0; i < (quick ? 2 : 3); i++) {
      const run = await mainJob(i === 0 ? 2000 : 0);
      progress(
        `main job ${(run.robotMs / 1000).toFixed(0)} s of robot time in ${(run.wallMs / 1000).toFixed(2)} s`,
      );
      runs.push(run);
    }
    const rates = runs.map((run) => run.robotMs / run.wallMs);
    const context = runs[0]?.context;
    if (context == null) throw new Error('no context was built');
    const alone = await worldAlone(quick ? 60 : 300);
    return {
      figures: {
        sim: { x_realtime: round(median(rates), 0) },
        context: { build_ms: round(median(context.v1), 3) },
      },
      notes: [
        `runs ${spread(rates)} × real time; the world with its devices alone ${alone.toFixed(0)} × (nobody on its lines)`,
        `context v1: p99 ${percentile(context.v1, 0.99).toFixed(3)} ms, ${context.bytes} bytes; v2: median ${median(context.v2).toFixed(3)} ms`,
      ],
    };
  },
};

async function mainJob(contexts: number) {
  const child = Child.start(import.meta.url, './main-job.js', { args: [JSON.stringify({ contexts })] });
  try {
    return await child.next(mainJobMeasured, 'its figures', 180_000);
  } finally {
    await child.stop();
  }
}

/** The simulated world without a robot's software: seconds of world time in a second. */
async function worldAlone(seconds: number): Promise<number> {
  const world = createWorld(undefined, { seed: 1 });
  const devices = createDevices(world, { ports: memoryPorts().ends });
  const ms = await timed(() => {
    for (let t = 0; t < seconds * 1000; t += TICK_MS) world.step(TICK_MS);
  });
  devices.close();
  return seconds / (ms / 1000);
}
