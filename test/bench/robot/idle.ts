/** What a robot costs that stands on its dock with nothing to do. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../report.js';
import { cpuSeconds, memoryOf, nameOf, processTree } from '../support/proc.js';
import { median, round, spread, wait } from '../support/stats.js';
import { startHome, startRobot } from './robot.js';

export const idleBench: Bench = {
  groups: ['idle'],
  method:
    'The same robot in real time, docked, charging, connected to the broker, nobody asking: CPU time of the daemon, its ' +
    'motion process and their threads from /proc over consecutive windows of 10 s, 5 s in a quick run (median window), resident memory summed ' +
    'over the processes at the end. The simulated home is another process and not in it.',
  async run({ quick, dir, progress }) {
    const stateDir = join(dir, 'robot');
    mkdirSync(stateDir, { mode: 0o700 });
    const home = await startHome(stateDir);
    try {
      const robot = await startRobot(stateDir, home);
      // By then V8 has given back what loading left behind: work and memory that a robot at rest does not cost.
      await wait(quick ? 18_000 : 20_000);
      const pids = processTree(robot.pid);
      const windows: Record<number, number>[] = [];
      const window = quick ? 5_000 : 10_000;
      for (let i = 0; i < (quick ? 2 : 3); i++) windows.push(await cpuOver(pids, window));
      const sums = windows.map((one) => Object.values(one).reduce((a, b) => a + b, 0));
      const each = pids.map((pid) => ({
        name: nameOf(pid),
        cpu: median(windows.map((one) => one[pid] ?? 0)),
        ...memoryOf(pid),
      }));
      progress(
        each.map((one) => `${one.name} ${one.cpu.toFixed(1)} %, ${one.rssMb.toFixed(0)} MB`).join('; '),
      );
      await robot.stop();
      const total = (pick: (one: (typeof each)[number]) => number) =>
        each.reduce((sum, one) => sum + pick(one), 0);
      return {
        figures: {
          idle: {
            cpu_pct: round(median(sums), 2),
            rss_mb: round(
              total((one) => one.rssMb),
              0,
            ),
          },
        },
        notes: [
          each.map((one) => `${one.name} ${one.cpu.toFixed(2)} % and ${one.rssMb.toFixed(0)} MB`).join('; '),
          `windows of ${window / 1000} s ${spread(sums, 2)} %; what the processes share counted once (PSS): ${total((one) => one.pssMb).toFixed(0)} MB`,
        ],
      };
    } finally {
      await home.stop();
    }
  },
};

/** Percent of a core that each process used. */
async function cpuOver(pids: readonly number[], ms: number): Promise<Record<number, number>> {
  const before = pids.map(cpuSeconds);
  const began = performance.now();
  await wait(ms);
  const seconds = (performance.now() - began) / 1000;
  return Object.fromEntries(
    pids.map((pid, i) => [pid, (100 * (cpuSeconds(pid) - (before[i] ?? 0))) / seconds]),
  );
}
