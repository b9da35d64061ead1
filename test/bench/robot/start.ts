/** How long a robot takes from the start of its process until it accepts commands. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../report.js';
import { Child } from '../support/children.js';
import { median, round, spread, wait } from '../support/stats.js';
import { backlogMade } from './messages.js';
import { type SimulatedHome, startHome, startRobot } from './robot.js';

const BACKLOG = 100_000;
const DATABASE = 'deviceagent.db';
/** Ports and locks of a robot that has just gone. */
const SETTLE_MS = 300;

export const startBench: Bench = {
  groups: ['start'],
  method:
    '`deviceagent run` with the sim profile against a simulated home on pseudo-terminals, the robot on its station: from ' +
    'starting the process to GET /ready = 200 over the Unix socket, asked every 4 ms. With the backlog: 100 000 unsent ' +
    'events in a database that was not closed (killed), so that it is checked as well, and the broker there.',
  async run({ quick, dir, progress }) {
    const stateDir = join(dir, 'robot');
    mkdirSync(stateDir, { mode: 0o700 });
    const home = await startHome(stateDir);
    try {
      const first = await startOnce(stateDir, home);
      const ready: number[] = [];
      for (let i = 0; i < (quick ? 3 : 7); i++) ready.push(await startOnce(stateDir, home));
      progress(`ready after ${ready.map(Math.round).join(', ')} ms`);
      const backlog = await makeBacklog(dir);
      const loaded: number[] = [];
      for (let i = 0; i < (quick ? 1 : 3); i++) {
        for (const suffix of ['', '-wal']) {
          cpSync(join(dir, DATABASE + suffix), join(stateDir, DATABASE + suffix), { force: true });
        }
        loaded.push(await startOnce(stateDir, home, 'SIGKILL'));
      }
      progress(`with ${backlog.rows} rows ${loaded.map(Math.round).join(', ')} ms`);
      return {
        figures: {
          start: { ready_ms: round(median(ready), 0), ready_100k_backlog_ms: round(median(loaded), 0) },
        },
        notes: [
          `first start with an empty state directory ${first.toFixed(0)} ms, later ones ${spread(ready)} ms; with ` +
            `${backlog.rows} rows (${(backlog.bytes / 1e6).toFixed(0)} MB) ${spread(loaded)} ms`,
        ],
      };
    } finally {
      await home.stop();
    }
  },
};

async function startOnce(
  stateDir: string,
  home: SimulatedHome,
  end: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
): Promise<number> {
  const robot = await startRobot(stateDir, home);
  await robot.stop(end);
  await wait(SETTLE_MS);
  return robot.readyMs;
}

async function makeBacklog(dir: string): Promise<{ rows: number; bytes: number }> {
  const options = { file: join(dir, DATABASE), rows: BACKLOG };
  const child = Child.start(import.meta.url, './backlog-process.js', { args: [JSON.stringify(options)] });
  const made = await child.next(backlogMade, 'its backlog', 60_000);
  await child.stop('SIGKILL');
  return made;
}
